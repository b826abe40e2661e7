#include "cli/search_setup.h"

#include "base/deadline.h"
#include "base/files.h"
#include "cli/exit_codes.h"
#include "eval/compile/same_code.h"
#include "kernel/manifest.h"
#include "regraph/regraph_yaml.h"
#include "source/analysis.h"
#include "source/clang_frontend.h"
#include "source/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

namespace regraph::cli {
namespace {

constexpr std::size_t kSourceLimitBytes = 256 << 10;

SetupFailure failure(int exit_code, std::string message) {
  return {exit_code, std::move(message)};
}

// ~/.cache/regraph, or where REGRAPH_CACHE_DIR and XDG_CACHE_HOME say; empty when nothing is known.
std::filesystem::path cache_directory() {
  if (const char* own = std::getenv("REGRAPH_CACHE_DIR")) return own;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != '\0') {
    return std::filesystem::path(xdg) / "regraph";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::filesystem::path(home) / ".cache" / "regraph";
  }
  return {};
}

std::filesystem::path shipped_graph(const std::filesystem::path& program_directory) {
  std::error_code ignored;
  const auto installed = program_directory.parent_path() / "share" / "regraph" / "cuda.yaml";
  if (std::filesystem::exists(installed, ignored)) return installed;
  return std::filesystem::path(REGRAPH_SOURCE_DIRECTORY) / "graphs" / "cuda.yaml";
}

// Verification keeps several copies of all buffers, and interprets every access.
constexpr double kMostTestBytes = double{1 << 30};

// Why a test size is too large for the interpreter; nothing when all are fine.
std::optional<std::string> oversized_test(const Problem& problem) {
  for (const Symbols& symbols : problem.tests) {
    double bytes = 0.0;
    for (const Argument& argument : problem.arguments) {
      const auto count = argument.element_count(symbols);
      if (!count || !argument.is_pointer) continue;  // the verifier explains what has no length
      bytes += static_cast<double>(*count) * static_cast<double>(size_in_bytes(argument.type));
    }
    if (bytes <= kMostTestBytes) continue;
    std::string sizes;
    for (const auto& [name, value] : symbols) {
      sizes += fmt::format("{}{}: {}", sizes.empty() ? "" : ", ", name, value);
    }
    return fmt::format(
        "the test size {{{}}} needs {:.3g} GiB of buffers, more than the {:g} GiB that can be "
        "verified; give smaller 'tests' in the manifest ('bench' may be as large as it is)",
        sizes, bytes / (1 << 30), kMostTestBytes / (1 << 30));
  }
  return std::nullopt;
}

// kernel.cu -> kernel.regraph.yaml
std::filesystem::path sidecar_of(const std::string& kernel_file) {
  std::filesystem::path sidecar(kernel_file);
  sidecar.replace_extension(".regraph.yaml");
  return sidecar;
}

Result<Manifest> manifest_for(const SearchOptions& options) {
  if (!options.manifest.empty()) return read_manifest(options.manifest);
  const std::filesystem::path sidecar = sidecar_of(options.kernel_file);
  std::error_code ignored;
  if (std::filesystem::exists(sidecar, ignored)) return read_manifest(sidecar.string());
  return Manifest{};
}

Status apply_size(const std::string& text, Manifest& manifest) {
  const std::size_t equals = text.find('=');
  std::int64_t value = 0;
  const char* first = text.data() + equals + 1;
  const char* last = text.data() + text.size();
  const bool has_name = equals != std::string::npos && equals > 0;
  if (!has_name || std::from_chars(first, last, value).ptr != last || first == last || value < 1) {
    return fail(ErrorCode::invalid_argument,
                "--size " + text + ": write NAME=NUMBER, e.g. --size N=4096");
  }
  const std::string name = text.substr(0, equals);
  if (!manifest.sizes.contains(name)) {
    bool known = false;
    for (const Symbols& bench : manifest.bench)
      known = known || bench.contains(name);
    if (!manifest.sizes.empty() && !known) {
      return fail(ErrorCode::invalid_argument,
                  "--size " + text + ": the manifest has no size '" + name + "'");
    }
  }
  manifest.sizes[name] = value;
  for (Symbols& bench : manifest.bench)
    bench[name] = value;
  return {};
}

Status apply_block(const std::string& text, Manifest& manifest) {
  Dim3 block;
  const char* cursor = text.data();
  const char* last = text.data() + text.size();
  std::uint32_t* const axes[] = {&block.x, &block.y, &block.z};
  for (std::uint32_t* axis : axes) {
    const auto [next, error] = std::from_chars(cursor, last, *axis);
    if (error != std::errc() || *axis == 0) break;
    cursor = next;
    if (cursor == last) {
      if (!manifest.launch) {
        return fail(ErrorCode::invalid_argument,
                    "--block " + text + ": the manifest gives no launch to change");
      }
      manifest.launch->block = block;
      return {};
    }
    if (*cursor != 'x') break;
    ++cursor;
  }
  return fail(ErrorCode::invalid_argument, "--block " + text + ": write e.g. 256 or 32x8");
}

// The original kernel, compiled, with its text parsed into IR when the rewriter can be trusted with
// it.
class Builder {
 public:
  Builder(const SearchOptions& options, const std::string& program,
          const Cancellation& cancellation)
      : options_(options), program_(program), cancellation_(cancellation) {}

  std::variant<std::unique_ptr<SearchSetup>, SetupFailure> run() {
    setup_ = std::make_unique<SearchSetup>();
    for (auto step : {&Builder::read_inputs, &Builder::find_tools, &Builder::parse,
                      &Builder::compile, &Builder::check}) {
      if (auto problem = (this->*step)()) return *std::move(problem);
    }
    return std::move(setup_);
  }

 private:
  std::optional<SetupFailure> read_inputs() {
    if (options_.device.empty()) {
      std::string names;
      for (const DeviceSpec& device : known_devices()) {
        names += (names.empty() ? "" : ", ") + std::string(device.name);
      }
      return failure(kNoDevice,
                     "no GPU is used by this version; name the device to predict for with "
                     "--device (" +
                         names + ")");
    }
    auto device = find_device(options_.device);
    if (!device) return failure(kUsage, "--device: " + device.error().message);
    setup_->device = *device;
    auto source = read_file(options_.kernel_file, kSourceLimitBytes);
    if (!source) return failure(kUsage, source.error().message);
    source_ = std::move(*source);
    auto manifest = manifest_for(options_);
    if (!manifest) return failure(kUsage, manifest.error().message);
    manifest_ = std::move(*manifest);
    for (const std::string& size : options_.sizes) {
      if (Status status = apply_size(size, manifest_); !status)
        return failure(kUsage, status.error().message);
    }
    if (!options_.block.empty()) {
      if (Status status = apply_block(options_.block, manifest_); !status) {
        return failure(kUsage, status.error().message);
      }
    }
    const std::filesystem::path directory = std::filesystem::path(program_).parent_path();
    auto graph = load_regraph(options_.graph.empty() ? shipped_graph(directory)
                                                     : std::filesystem::path(options_.graph));
    if (!graph) return failure(kUsage, graph.error().message);
    setup_->graph = std::move(*graph);
    return std::nullopt;
  }

  std::optional<SetupFailure> find_tools() {
    auto toolkit = find_cuda_toolkit();
    if (!toolkit) return failure(kNoDevice, toolkit.error().message);
    auto front_end = source::default_front_end(toolkit->root);
    if (!front_end) return failure(kNoDevice, front_end.error().message);
    front_end_ = std::move(*front_end);
    CompilerConfiguration configuration;
    configuration.toolkit = *toolkit;
    configuration.worker = std::filesystem::path(program_).parent_path() / "regraph-compile-worker";
    configuration.cache_directory = cache_directory();
    setup_->compiler = std::make_unique<Compiler>(std::move(configuration));
    return std::nullopt;
  }

  // NVRTC in its sandbox must accept the file before Clang reads it in this process.
  std::optional<SetupFailure> parse() {
    CompileRequest request;
    request.source = source_;
    request.architecture = std::string(setup_->device.architecture);
    request.want_cubin = false;
    if (auto accepted = setup_->compiler->compile(request, cancellation_); !accepted) {
      return compile_failure(accepted.error());
    }
    const std::string name = std::filesystem::path(options_.kernel_file).filename().string();
    auto parsed = source::parse_kernel(source_, name, manifest_.kernel.value_or(""), front_end_);
    if (!parsed) return failure(kUnusableKernel, parsed.error().message);
    auto problem = make_problem(manifest_, parsed->signature, options_.kernel_file, source_);
    if (!problem) {
      const std::string hint = manifest_.path.empty()
                                   ? " (" + options_.kernel_file + " has no manifest: write " +
                                         sidecar_of(options_.kernel_file).string() + ")"
                                   : "";
      return failure(kUsage, problem.error().message + hint);
    }
    if (const auto oversized = oversized_test(*problem)) {
      return failure(kUsage, options_.kernel_file + ": " + *oversized);
    }
    setup_->problem = std::move(*problem);
    setup_->opaque_reason = std::move(parsed->opaque_reason);
    unit_ = std::move(parsed->unit);
    return std::nullopt;
  }

  SetupFailure compile_failure(const Error& error) const {
    if (error.code == ErrorCode::cancelled) return failure(kInterrupted, "interrupted");
    // The machinery failed, not the kernel.
    if (error.code == ErrorCode::io || error.code == ErrorCode::not_found) {
      return failure(kInternalError, error.message);
    }
    // The compiler sees the file under a fixed name.
    const std::string file = std::filesystem::path(options_.kernel_file).filename().string();
    std::string message = error.message;
    constexpr std::string_view kCompilersName = "kernel.cu";
    for (std::size_t at = 0; (at = message.find(kCompilersName, at)) != std::string::npos;) {
      message.replace(at, kCompilersName.size(), file);
      at += file.size();
    }
    return failure(kUnusableKernel, options_.kernel_file + " does not compile for " +
                                        std::string(setup_->device.architecture) + ":\n" + message);
  }

  Result<CompiledKernel> compile_source(const std::string& source) {
    CompileRequest request;
    request.source = source;
    request.kernel = setup_->problem.signature.name;
    request.architecture = std::string(setup_->device.architecture);
    return setup_->compiler->compile(request, cancellation_);
  }

  std::optional<SetupFailure> compile() {
    auto original = compile_source(source_);
    if (!original) return compile_failure(original.error());
    compiled_ = std::move(*original);
    Candidate& candidate = setup_->original;
    candidate.source = source_;
    candidate.plan = setup_->problem.launch;
    candidate.identity = candidate_identity(source_, candidate.plan);
    if (!unit_) return std::nullopt;
    // The gate: what the printer makes of the IR must be the same program.
    auto printed = compile_source(source::print(*unit_));
    if (!printed) {
      setup_->opaque_reason =
          "printed back from the rewriter's form it does not compile: " + printed.error().message;
    } else if (!same_code(compiled_.ptx, printed->ptx)) {
      setup_->opaque_reason = "printed back from the rewriter's form it compiles to different PTX";
    } else {
      candidate = source::make_candidate(*unit_, setup_->problem.launch);
      setup_->rewritable = true;
      setup_->opaque_reason.clear();
      note_opaque_code();
    }
    return std::nullopt;
  }

  void note_opaque_code() {
    auto opaque = source::Analysis(unit_->kernel).opaque();
    if (!opaque) return;
    // Several lines of source would tear the note apart.
    std::replace(opaque->begin(), opaque->end(), '\n', ' ');
    setup_->problem.notes.push_back(options_.kernel_file + ", " + *opaque +
                                    ": the rewriter has no form for this code, so steps that would "
                                    "have to look into it do not apply");
  }

  std::optional<SetupFailure> check() {
    setup_->verifier = std::make_unique<Verifier>(setup_->problem, std::move(compiled_));
    // An endless loop would otherwise run into the interpreter's own limit only, minutes later.
    const Deadline deadline(options_.evaluation_seconds, cancellation_);
    auto warnings = setup_->verifier->check_original(options_.seed, deadline.cancellation());
    if (!warnings) {
      if (deadline.expired()) {
        return failure(
            kUnusableKernel,
            fmt::format("{}: the original kernel does not end within {:g} seconds on the "
                        "test sizes; is there an endless loop? Else give smaller 'tests' "
                        "in the manifest, or more time with --evaluation-time",
                        options_.kernel_file, options_.evaluation_seconds));
      }
      if (warnings.error().code == ErrorCode::cancelled)
        return failure(kInterrupted, "interrupted");
      return failure(kUnusableKernel, options_.kernel_file +
                                          ": the original kernel cannot be used as a "
                                          "reference: " +
                                          warnings.error().message);
    }
    setup_->warnings = std::move(*warnings);
    setup_->evaluator =
        std::make_unique<ModelEvaluator>(*setup_->compiler, *setup_->verifier, setup_->device);
    return std::nullopt;
  }

  const SearchOptions& options_;
  const std::string& program_;
  const Cancellation& cancellation_;
  std::unique_ptr<SearchSetup> setup_;
  std::string source_;
  Manifest manifest_;
  source::FrontEndConfiguration front_end_;
  std::optional<source::Unit> unit_;
  CompiledKernel compiled_;
};

}  // namespace

std::variant<std::unique_ptr<SearchSetup>, SetupFailure> set_up_search(
    const SearchOptions& options, const std::string& program, const Cancellation& cancellation) {
  return Builder(options, program, cancellation).run();
}

}  // namespace regraph::cli
