#include "session/kept_program.h"

#include "base/child_process.h"
#include "base/files.h"
#include "base/hash.h"
#include "capture/kernel_image.h"
#include "capture/problem/kernel_source.h"
#include "capture/program_kernels.h"
#include "eval/compile/compiler.h"
#include "session/captured_device.h"
#include "session/compile_commands.h"
#include "session/injected_run.h"
#include "session/recorded_build.h"
#include "source/local_includes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

extern char** environ;

namespace regraph {
namespace {

namespace fs = std::filesystem;

constexpr double kBuildSeconds = 600.0;
constexpr std::size_t kSourceBytes = std::size_t{1} << 20;
constexpr std::size_t kOutputBytes = std::size_t{64} << 20;

constexpr const char* kProgram = "program";  // that was built here

fs::path output_file(const KeepRequest& request, std::size_t run) {
  return request.keep.folder / fmt::format("output-{}.txt", run);
}

// Whether the file was linked to a libcudart that another may stand in for.
bool asks_for_shared_runtime(const fs::path& program) {
  const auto kernels = capture::read_program_kernels(program);
  return kernels && kernels->shared_runtime;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry)
    all.emplace_back(*entry);
  return all;
}

SessionError internal(std::string message) {
  return {FailureCause::internal, std::move(message)};
}

Result<void, SessionError> run_builder(ChildRequest request, const std::string& what,
                                       const Cancellation& cancellation) {
  request.wall_seconds = kBuildSeconds;
  const auto done = run_child(request, cancellation);
  if (!done) return session_error(done.error());
  if (cancellation.requested()) return SessionError{FailureCause::interrupted, "interrupted"};
  if (done->succeeded()) return {};
  return usage(
      fmt::format("{} failed:\n{}", what, done->error.empty() ? done->output : done->error));
}

class ProgramKeeper {
 public:
  ProgramKeeper(const KeepRequest& request, const Installation& installation,
                const Cancellation& cancellation)
      : request_(request), installation_(installation), cancellation_(cancellation) {}

  Result<KeptProgram, SessionError> run() {
    const auto device = find_device(request_.device);
    if (!device) return usage("--device: " + device.error().message);
    if (!fs::is_directory(installation_.capture_runtime())) {
      return internal(
          fmt::format("'{}', where our CUDA runtime should be, is not there; is the "
                      "installation complete?",
                      installation_.capture_runtime().string()));
    }
    std::error_code failed;
    fs::create_directories(request_.keep.folder, failed);
    if (failed)
      return usage(fmt::format("{}: {}", request_.keep.folder.string(), failed.message()));
    fs::permissions(request_.keep.folder, fs::perms::owner_all, failed);
    if (auto built = build(); !built) return std::move(built).error();
    const auto keeper_of_kind = capture::make_problem_keeper(request_.keep);
    capture::ProblemKeeper& keeper = *keeper_of_kind;
    for (std::size_t i = 0; i < request_.commands.size(); ++i) {
      if (i > 0) keeper.begin_run();
      if (auto done = run_once(request_.commands[i], i, facts_of(*device), keeper); !done) {
        for (const auto& unfinished : keeper.take())
          fs::remove_all(unfinished.path, failed);
        return std::move(done).error();
      }
    }
    kept_.folders = keeper.take();
    if (const std::string trouble = keeper.trouble(); !trouble.empty()) {
      if (kept_.folders.empty()) return SessionError{FailureCause::unusable_kernel, trouble};
      kept_.notes.push_back(trouble);
    }
    if (auto done = finish_folders(); !done) return std::move(done).error();
    return std::move(kept_);
  }

 private:
  Result<void, SessionError> build() {
    if (!request_.make.empty()) {
      auto commands = run_recorded_build(request_.make, request_.place, cancellation_);
      if (!commands) return std::move(commands).error();
      compile_commands_ = std::move(*commands);
      return {};
    }
    if (request_.build.empty()) return {};
    program_ = fs::absolute(request_.keep.folder / kProgram);
    return build_program(request_.build, program_, request_.place, cancellation_);
  }

  Result<void, SessionError> run_once(std::vector<std::string> command, std::size_t run,
                                      const capture::DeviceFacts& facts,
                                      capture::ProblemKeeper& keeper) {
    if (!program_.empty()) command.insert(command.begin(), program_.string());
    if (command.empty()) return usage("no program was named: write it after --");
    if (on_gpu()) return run_on_gpu(command, run, keeper);
    capture::CaptureDeviceConfig config;
    config.facts = facts;
    config.launch_seconds = request_.launch_seconds;
    config.goes_on = request_.goes_on;
    config.observer = &keeper;
    capture::CaptureDevice device(config);
    const fs::path output = output_file(request_, run);
    const auto end = capture::capture_program(
        {command, installation_.capture_runtime(), request_.wall_seconds, output}, device,
        cancellation_);
    if (!end) {
      const bool absent = end.error().code == ErrorCode::not_found;
      return SessionError{absent ? FailureCause::usage : FailureCause::internal,
                          end.error().message};
    }
    if (cancellation_.requested()) return SessionError{FailureCause::interrupted, "interrupted"};
    kept_.ends.push_back(*end);
    if (run == 0) {
      kept_.output = output;
      command_ = command;
    }
    note(device);
    if (run == 0) note_libraries(command.front());
    if (run == 0) {
      for (const capture::LaunchedKernel* kernel : device.launched())
        launches_[kernel->symbol] += kernel->launches;
    }
    if (!device.launched().empty()) return {};
    return SessionError{
        FailureCause::unusable_kernel,
        end->asked || asks_for_shared_runtime(command.front())
            ? fmt::format("'{}' launched no kernel; {}", fmt::join(command, " "),
                          how_it_ended(*end)) +
                  first_notes()
            : fmt::format("'{}' did not ask for the CUDA runtime that stands in for "
                          "libcudart; build it with 'nvcc -cudart shared' (as in "
                          "NVCC_APPEND_FLAGS='-cudart shared' make), and without an RPATH "
                          "to another one",
                          command.front())};
  }

  Result<void, SessionError> run_on_gpu(const std::vector<std::string>& command, std::size_t run,
                                        capture::ProblemKeeper& keeper) {
    const fs::path output = output_file(request_, run);
    auto done =
        run_injected(command, output, request_.wall_seconds, installation_, keeper, cancellation_);
    if (!done) return std::move(done).error();
    kept_.ends.push_back(done->end);
    kept_.notes.insert(kept_.notes.end(), done->notes.begin(), done->notes.end());
    if (run == 0) {
      kept_.output = output;
      command_ = command;
      launches_ = done->launches;
    }
    if (!done->launches.empty()) return {};
    std::string message = fmt::format("'{}' launched no kernel on the GPU; {}",
                                      fmt::join(command, " "), how_it_ended(done->end));
    for (const std::string& note : done->notes)
      message += "; " + note;
    if (!done->end.asked && !done->end.timed_out)
      message += "; the driver did not load the library that looks on";
    return SessionError{FailureCause::unusable_kernel, std::move(message)};
  }

  [[nodiscard]] std::string how_it_ended(const capture::ProgramEnd& end) const {
    if (end.timed_out) {
      return fmt::format(
          "it was ended after {:g} s: give it smaller arguments, or more time with "
          "--seconds",
          request_.wall_seconds);
    }
    if (end.signal != 0) return fmt::format("it ended with signal {}", end.signal);
    return fmt::format("it ended with exit code {}", end.exit_code);
  }

  // What is behind it, perhaps.
  [[nodiscard]] std::string first_notes() const {
    constexpr std::size_t kMost = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(kept_.notes.size(), kMost); ++i)
      text += "; " + kept_.notes[i];
    return text;
  }

  [[nodiscard]] bool on_gpu() const { return request_.place == CapturePlace::gpu; }

  // What they should have computed is missing in all that follows.
  void note_libraries(const fs::path& program) {
    const auto kernels = capture::read_program_kernels(program);
    if (!kernels || kernels->gpu_libraries.empty()) return;
    missing_libraries_ = fmt::format(
        "the program uses {}, which computes nothing without a GPU: contents that go back to it "
        "are "
        "not what the program computes on one (capture it there)",
        fmt::join(kernels->gpu_libraries, ", "));
    kept_.notes.push_back(missing_libraries_);
  }

  void note(const capture::CaptureDevice& device) {
    for (const auto& [function, calls] : device.not_there())
      kept_.notes.push_back(
          fmt::format("called {} times, and not there without a GPU: {}", calls, function));
    for (const std::string& text : device.notes())
      kept_.notes.push_back(text);
    for (const capture::LaunchedKernel* kernel : device.launched()) {
      if (kernel->fault.empty()) continue;
      kept_.notes.push_back(
          fmt::format("{}: {}", capture::readable_name(kernel->symbol), kernel->fault));
    }
  }

  Result<void, SessionError> finish_folders() {
    const auto text = read_file(kept_.output, kOutputBytes);
    for (auto& [path, kernel] : kept_.folders) {
      kernel.command = command_;
      if (!missing_libraries_.empty()) kernel.left_out.push_back(missing_libraries_);
      if (kernel.stages.empty())
        kernel.launches = launches_[kernel.symbol];  // those that were skipped, too
      std::error_code ignored;
      kernel.directory = fs::current_path(ignored).string();
      kernel.device = request_.device;
      kernel.exit_code = kept_.ends.front().exit_code;
      if (text) kernel.output_hash = hash_text(*text).hex();
      if (auto put = put_source(path, kernel); !put) return put;
      if (Status status = capture::write_captured_kernel(path, kernel); !status)
        return session_error(status.error());
    }
    note_sources();
    std::ranges::stable_sort(kept_.folders, [](const auto& a, const auto& b) {
      if (a.kernel.seconds != b.kernel.seconds) return a.kernel.seconds > b.kernel.seconds;
      return a.kernel.thread_instructions > b.kernel.thread_instructions;
    });
    return {};
  }

  // Kernels of libraries have names as long as pages, and there may be many.
  void note_sources() {
    constexpr std::size_t kMostNamed = 3;
    constexpr std::size_t kMostOfName = 60;
    if (without_source_.empty()) return;
    std::string names;
    for (std::size_t i = 0; i < std::min(without_source_.size(), kMostNamed); ++i) {
      const std::string& name = without_source_[i];
      names += fmt::format("{}'{}{}'", i == 0 ? "" : ", ", name.substr(0, kMostOfName),
                           name.size() > kMostOfName ? "..." : "");
    }
    if (without_source_.size() > kMostNamed)
      names += fmt::format(" and {} more", without_source_.size() - kMostNamed);
    kept_.notes.push_back(fmt::format(
        "no file of this folder defines {}; name it with --source, or {} cannot be searched", names,
        without_source_.size() == 1 ? "it" : "they"));
  }

  // Those of this run's build, else what an earlier one left in this folder or in build/.
  const std::vector<CompileCommand>& compile_commands() {
    if (!compile_commands_) {
      compile_commands_.emplace();
      for (const char* folder : {"", "build"}) {
        const fs::path file = fs::path(folder) / kCompileCommandsFile;
        std::error_code absent;
        if (!fs::exists(file, absent)) continue;
        auto commands = read_compile_commands(file);
        if (!commands) {
          kept_.notes.push_back(commands.error().message);
          continue;
        }
        compile_commands_ = std::move(*commands);
        break;
      }
    }
    return *compile_commands_;
  }

  bool is_compiled(const fs::path& file) {
    return std::ranges::any_of(compile_commands(), [&](const CompileCommand& command) {
      std::error_code ignored;
      return fs::equivalent(command.file, file, ignored);
    });
  }

  Result<void, SessionError> put_source(const fs::path& folder, capture::CapturedKernel& kernel) {
    fs::path file = request_.source.empty() ? fs::path(request_.build) : request_.source;
    const std::string name = capture::kernel_name_of(kernel.symbol);
    if (file.empty()) {
      auto found = capture::find_kernel_source(fs::current_path(), kernel.symbol);
      if (found.empty()) {
        without_source_.push_back(name);
        return {};
      }
      // Those that the build compiled, else those that are whole.
      const auto count_first = [&found](const auto& is_likely) {
        const auto others = std::stable_partition(found.begin(), found.end(), is_likely);
        return static_cast<std::size_t>(others - found.begin());
      };
      std::size_t likely = count_first([](const auto& one) { return !one.is_part; });
      if (const auto built = count_first([&](const auto& one) { return is_compiled(one.path); }))
        likely = built;
      file = found.front().path;
      if (likely > 1) {
        kept_.notes.push_back(
            fmt::format("'{}' is defined in {} files, {} was taken; choose "
                        "another with --source",
                        name, likely, file.string()));
      }
    }
    const auto text = read_file(file, kSourceBytes);
    if (!text) return usage(text.error().message);
    const CompileFlags flags = flags_for(compile_commands(), file);
    std::vector<fs::path> named = request_.include_directories;
    named.insert(named.end(), flags.include_directories.begin(), flags.include_directories.end());
    auto whole = source::inline_local_includes(*text, file, header_folders(file, named), named);
    // A large library's headers are for nvcc, not for a reader.
    if (!whole && whole.error().code == ErrorCode::resource)
      whole = source::inline_local_includes(*text, file, header_folders(file, named));
    if (!whole) {
      kept_.notes.push_back("without a source '" + name +
                            "' cannot be searched: " + whole.error().message);
      return {};
    }
    kernel.source = fs::absolute(file).string();
    std::string complete = defines_text(flags);
    if (!complete.empty()) complete += fmt::format("#line 1 \"{}\"\n", file.filename().string());
    complete += *whole;
    if (Status status = write_file(folder / capture::kCapturedSource, complete); !status)
      return session_error(status.error());
    return {};
  }

  // Programs of a suite share headers beside their folders.
  static std::vector<fs::path> header_folders(const fs::path& file, std::vector<fs::path> folders) {
    constexpr int kLevels = 3;
    constexpr std::ptrdiff_t kFewestNames = 3;  // "/home/user": not all that is below there
    fs::path folder = fs::absolute(file).lexically_normal().parent_path();
    for (int level = 0; level < kLevels; ++level) {
      folder = folder.parent_path();
      if (std::distance(folder.begin(), folder.end()) <= kFewestNames) break;
      folders.push_back(folder);
    }
    return folders;
  }

  const KeepRequest& request_;
  const Installation& installation_;
  const Cancellation& cancellation_;
  fs::path program_;                  // that was built here
  std::vector<std::string> command_;  // of the first run
  std::string missing_libraries_;     // a sentence; empty: none
  std::vector<std::string> without_source_;
  std::map<std::string, std::uint64_t> launches_;
  std::optional<std::vector<CompileCommand>> compile_commands_;
  KeptProgram kept_;
};

}  // namespace

Result<void, SessionError> build_program(const fs::path& file, const fs::path& program,
                                         CapturePlace place, const Cancellation& cancellation) {
  std::error_code failed;
  if (!fs::exists(file, failed))
    return usage(fmt::format("cannot open '{}': there is no such file", file.string()));
  const auto toolkit = find_cuda_toolkit();
  if (!toolkit) return SessionError{FailureCause::no_device, toolkit.error().message};
  ChildRequest nvcc;
  nvcc.program = toolkit->root / "bin" / "nvcc";
  if (!fs::exists(nvcc.program, failed)) {
    return SessionError{FailureCause::no_device,
                        fmt::format("{} is not there: programs are built with nvcc, of a CUDA "
                                    "toolkit",
                                    nvcc.program.string())};
  }
  nvcc.arguments = {"-cudart",     place == CapturePlace::gpu ? "static" : "shared",
                    "-O2",         "-std=c++17",
                    "-arch=sm_90", file.string(),
                    "-o",          program.string()};
  nvcc.environment = own_environment();
  return run_builder(std::move(nvcc), "nvcc " + file.string(), cancellation);
}

Result<KeptProgram, SessionError> keep_program(const KeepRequest& request,
                                               const Installation& installation,
                                               const Cancellation& cancellation) {
  std::error_code ignored;
  const bool is_new = !fs::exists(request.keep.folder, ignored);
  auto kept = ProgramKeeper(request, installation, cancellation).run();
  if (kept || !is_new) return kept;
  // Nothing half-done is left: what the program wrote, and what was built.
  for (std::size_t run = 0; run < request.commands.size(); ++run)
    fs::remove(output_file(request, run), ignored);
  fs::remove(request.keep.folder / kProgram, ignored);
  fs::remove(request.keep.folder, ignored);  // where it is empty
  return kept;
}

}  // namespace regraph
