#include "session/host_function.h"

#include "base/child_process.h"
#include "eval/verify/inputs.h"
#include "eval/verify/parameters.h"
#include "eval/verify/poison.h"
#include "session/host_harness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace regraph {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHostProgram = "function";
constexpr double kCompileSeconds = 120.0;
constexpr double kRunSeconds = 60.0;
constexpr std::uint64_t kSpareMemory = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostBufferBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kOpenFiles = 16;

fs::path find_compiler(bool is_c) {
  std::error_code ignored;
  const std::vector<const char*> names = is_c ? std::vector<const char*>{"gcc", "cc", "clang"}
                                              : std::vector<const char*>{"g++", "c++", "clang++"};
  for (const char* folder : {"/usr/bin", "/usr/local/bin"}) {
    for (const char* name : names) {
      fs::path path = fs::path(folder) / name;
      if (fs::exists(path, ignored)) return path;
    }
  }
  return {};
}

template <typename T>
void append_bytes(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

Result<HostFunction> HostFunction::build(const SequentialSource& source, const Problem& problem,
                                         const std::vector<std::string>& options,
                                         const Cancellation& cancellation) {
  const bool is_c = source.file.ends_with(".c");
  const fs::path compiler = find_compiler(is_c);
  if (compiler.empty()) {
    return fail(
        ErrorCode::not_found,
        "there is no C++ compiler (g++, c++ or clang++ in /usr/bin) to compile the function "
        "for this processor with; install one");
  }
  auto folder = TemporaryDirectory::create("regraph-function-");
  if (!folder) return folder.error();
  HostFunction result(source, problem, std::move(*folder));
  std::error_code failed;
  const fs::path file = fs::absolute(source.file, failed);
  const fs::path harness = result.folder_.path() / (is_c ? "harness.c" : "harness.cpp");
  if (Status written = write_file(harness, host_harness(source, file.string())); !written)
    return written.error();
  ChildRequest request;
  request.program = compiler;
  request.arguments = options;
  request.arguments.insert(request.arguments.end(), {"-w", is_c ? "-std=gnu17" : "-std=gnu++20",
                                                     "-I", file.parent_path().string()});
  for (const std::string& include : source.include_directories)
    request.arguments.insert(request.arguments.end(), {"-I", include});
  for (const auto& [name, value] : source.defines)
    request.arguments.push_back(fmt::format("-D{}={}", name, value));
  request.arguments.insert(
      request.arguments.end(),
      {"-o", (result.folder_.path() / kHostProgram).string(), harness.string(), "-lm"});
  request.environment = {"PATH=/usr/bin:/bin", "TMPDIR=" + result.folder_.path().string()};
  request.working_directory = result.folder_.path();
  request.wall_seconds = kCompileSeconds;
  auto outcome = run_child(request, cancellation);
  if (!outcome) return outcome.error();
  if (outcome->end == ChildEnd::cancelled) return fail(ErrorCode::cancelled, "cancelled");
  result.compiler_ = fmt::format("{} {}", compiler.filename().string(), fmt::join(options, " "));
  if (!outcome->succeeded()) {
    return fail(ErrorCode::compile, fmt::format("{} does not compile with {}:\n{}", source.file,
                                                result.compiler_, outcome->error));
  }
  return result;
}

std::size_t HostFunction::argument_of(const std::string& parameter) const {
  const auto found = std::ranges::find(problem_->arguments, parameter, &Argument::name);
  return static_cast<std::size_t>(found - problem_->arguments.begin());
}

Result<std::string> HostFunction::parameters_of(const Symbols& symbols,
                                                const verify::Buffers& contents) const {
  std::string out;
  for (const SequentialParameter& parameter : source_->parameters) {
    const std::size_t at = argument_of(parameter.name);
    if (at == problem_->arguments.size()) {
      // No kernel takes it.
      if (parameter.is_pointer) {
        append_bytes(out, std::uint64_t{0});
        append_bytes(out, std::uint64_t{0});
        continue;
      }
      const auto size = symbols.find(parameter.name);
      append_bytes(out, size == symbols.end() ? std::int64_t{0} : size->second);
      continue;
    }
    const Argument& argument = problem_->arguments[at];
    if (!argument.is_pointer) {
      std::array<std::byte, 8> value{};
      if (Status status = verify::put_scalar(argument, symbols, value.data()); !status)
        return status.error();
      out.append(reinterpret_cast<const char*>(value.data()), value.size());
      continue;
    }
    append_bytes(out, std::uint64_t{contents[at].size()});
    append_bytes(out, std::uint64_t{argument.is_output() ? 1U : 0U});
    out.append(reinterpret_cast<const char*>(contents[at].data()), contents[at].size());
  }
  return out;
}

Result<verify::KernelRun> HostFunction::run(const Symbols& symbols, const verify::Buffers& inputs,
                                            const verify::RunSettings& settings,
                                            const Cancellation& cancellation) const {
  verify::KernelRun run;
  const std::size_t count = problem_->arguments.size();
  run.before.resize(count);
  run.after.resize(count);
  run.scratch.resize(count);
  verify::Buffers contents(count);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Argument& argument = problem_->arguments[i];
    if (!argument.has_memory() || argument.is_scratch) continue;
    const auto elements = argument.element_count(symbols);
    if (!elements) return elements.error();
    contents[i].resize(static_cast<std::size_t>(*elements) * size_in_bytes(argument.type));
    bytes += contents[i].size();
    if (argument.is_input()) {
      std::ranges::copy(inputs[i], contents[i].begin());
    } else {
      verify::fill_with_poison(contents[i], settings.poison_seed, i, settings.invert_poison);
    }
    if (argument.is_output()) run.before[i] = contents[i];
  }
  auto input = parameters_of(symbols, contents);
  if (!input) return input.error();
  ChildRequest request;
  request.program = folder_.path() / kHostProgram;
  request.working_directory = folder_.path();
  request.input = *input;
  request.wall_seconds = kRunSeconds;
  request.output_limit_bytes = static_cast<std::size_t>(bytes) + 1;
  request.limits = {kSpareMemory + 4 * bytes, static_cast<std::uint64_t>(kRunSeconds), 1,
                    kOpenFiles};
  auto outcome = run_child(request, cancellation);
  if (!outcome) return outcome.error();
  if (outcome->end == ChildEnd::cancelled) return fail(ErrorCode::cancelled, "cancelled");
  if (!outcome->succeeded()) {
    const bool is_access = outcome->signal == SIGSEGV || outcome->signal == SIGBUS ||
                           (outcome->end == ChildEnd::exited && outcome->exit_code == kDamaged);
    run.fault.kind = outcome->end == ChildEnd::timed_out ? ptx::FaultKind::instruction_budget
                     : is_access                         ? ptx::FaultKind::out_of_bounds
                                                         : ptx::FaultKind::trap;
    run.fault.message =
        outcome->end == ChildEnd::timed_out
            ? fmt::format("on this processor the function does not end within {:g} s", kRunSeconds)
        : is_access
            ? std::string(
                  "on this processor the function accesses memory beyond its "
                  "buffers, or writes one that is an input")
            : fmt::format("on this processor the function ends with signal {}, exit code {}",
                          outcome->signal, outcome->exit_code);
    return run;
  }
  const char* cursor = outcome->output.data();
  std::size_t left = outcome->output.size();
  for (const SequentialParameter& parameter : source_->parameters) {
    const std::size_t at = argument_of(parameter.name);
    if (at == count || !problem_->arguments[at].is_output()) continue;
    const std::size_t size = contents[at].size();
    if (left < size) return fail(ErrorCode::io, "the function's process left too little behind");
    run.after[at].resize(size);
    std::memcpy(run.after[at].data(), cursor, size);
    cursor += size;
    left -= size;
  }
  return run;
}

Result<double> HostFunction::time(const Symbols& symbols, double most_seconds,
                                  const Cancellation& cancellation) const {
  verify::Buffers contents(problem_->arguments.size());
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const Argument& argument = problem_->arguments[i];
    if (!argument.has_memory() || argument.is_scratch) continue;
    const auto elements = argument.element_count(symbols);
    if (!elements) return elements.error();
    bytes += static_cast<std::uint64_t>(*elements) * size_in_bytes(argument.type);
    if (bytes > kMostBufferBytes)
      return fail(ErrorCode::resource, "its buffers are larger than 1 GiB");
    contents[i].resize(static_cast<std::size_t>(*elements) * size_in_bytes(argument.type));
    if (argument.is_input())
      verify::fill_input(*problem_, argument, symbols, verify::Distribution::manifest, 1, i,
                         contents[i]);
  }
  auto input = parameters_of(symbols, contents);
  if (!input) return input.error();
  contents.clear();
  ChildRequest request;
  request.program = folder_.path() / kHostProgram;
  request.arguments = {"time"};
  request.working_directory = folder_.path();
  request.input = *input;
  request.wall_seconds = most_seconds;
  request.limits = {kSpareMemory + 4 * bytes, 0, 1, kOpenFiles};
  const auto outcome = run_child(request, cancellation);
  if (!outcome) return outcome.error();
  if (outcome->end == ChildEnd::timed_out)
    return fail(ErrorCode::resource, fmt::format("it takes longer than {:g} s", most_seconds));
  double seconds = 0.0;
  if (!outcome->succeeded() || outcome->output.size() != sizeof seconds)
    return fail(ErrorCode::unsupported, "the function fails on this processor");
  std::memcpy(&seconds, outcome->output.data(), sizeof seconds);
  return seconds;
}

}  // namespace regraph
