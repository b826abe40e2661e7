#include "cli/search_setup.h"

#include "base/deadline.h"
#include "cli/cache_directory.h"
#include "cli/choose_device.h"
#include "cli/exit_codes.h"
#include "cli/infer_problem.h"
#include "cli/kernel_input.h"
#include "cli/load_graph.h"
#include "eval/compile/compiled_plan.h"
#include "eval/compile/same_code.h"
#include "eval/gpu/counters/cupti_library.h"
#include "eval/gpu/driver/harness_kernels.h"
#include "eval/model/model_evaluator.h"
#include "eval/verify/conditioning.h"
#include "source/analysis.h"
#include "source/clang_frontend.h"
#include "source/extract.h"
#include "source/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

namespace regraph::cli {
namespace {

SetupFailure failure(int exit_code, std::string message) {
  return {exit_code, std::move(message)};
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
      // To be completed first: it could not run.
      if (!setup_->to_fill_in.empty()) break;
    }
    return std::move(setup_);
  }

 private:
  std::optional<SetupFailure> read_inputs() {
    if (auto problem = choose()) return problem;
    bool unusable = false;
    auto input = read_kernel_input(options_, unusable);
    if (!input) return failure(unusable ? kUnusableKernel : kUsage, input.error().message);
    input_ = std::move(*input);
    options_.kernel_file = input_.kernel_file;
    auto graph = load_graph(options_.graph, program_);
    if (!graph) return failure(kUsage, graph.error().message);
    setup_->graph = std::move(*graph);
    return std::nullopt;
  }

  std::optional<SetupFailure> choose() {
    if (options_.init && options_.device.empty()) {
      // A manifest does not depend on the device.
      setup_->device = *find_device("h200");
      return std::nullopt;
    }
    auto chosen =
        choose_device(options_.device, options_.evaluator, beside("regraph-eval"), cancellation_);
    if (const auto* none = std::get_if<NoDevice>(&chosen)) {
      return failure(none->exit_code, none->message);
    }
    auto& device = std::get<ChosenDevice>(chosen);
    setup_->device = std::move(device.device);
    setup_->device_table = std::move(device.table);
    setup_->gpu = std::move(device.gpu);
    setup_->evaluator_name = !setup_->gpu                       ? "model"
                             : options_.evaluator == "gpu-only" ? "gpu-only"
                                                                : "gpu";
    device_note_ = std::move(device.note);
    return std::nullopt;
  }

  // Programs of this project lie together.
  [[nodiscard]] std::string beside(const char* name) const {
    return (std::filesystem::path(program_).parent_path() / name).string();
  }

  std::optional<SetupFailure> find_tools() {
    auto toolkit = find_cuda_toolkit();
    if (!toolkit) return failure(kNoDevice, toolkit.error().message);
    auto front_end = source::default_front_end(toolkit->root);
    if (!front_end) return failure(kNoDevice, front_end.error().message);
    front_end_ = std::move(*front_end);
    CompilerConfiguration configuration;
    configuration.toolkit = *toolkit;
    configuration.worker = beside("regraph-compile-worker");
    configuration.cache_directory = cache_directory();
    setup_->compiler = std::make_unique<Compiler>(std::move(configuration));
    return std::nullopt;
  }

  // NVRTC in its sandbox must accept the file before Clang reads it in this process.
  std::optional<SetupFailure> parse() {
    CompileRequest request;
    request.source = input_.source;
    request.architecture = std::string(setup_->device.architecture);
    request.want_cubin = false;
    if (auto accepted = setup_->compiler->compile(request, cancellation_); !accepted) {
      return compile_failure(accepted.error());
    }
    const std::string name = std::filesystem::path(options_.kernel_file).filename().string();
    auto parsed = source::parse_kernel(input_.source, name, input_.kernel, front_end_);
    if (!parsed) return failure(kUnusableKernel, parsed.error().message);
    if (parsed->unit) {
      parsed->unit->before = source::without_line_directives(parsed->unit->before);
      parsed->unit->after = source::without_line_directives(parsed->unit->after);
    }
    std::vector<source::ParsedKernel> kernels;
    for (const std::string& other : input_.others) {
      auto one = source::parse_kernel(input_.source, name, other, front_end_);
      if (!one) return failure(kUnusableKernel, one.error().message);
      kernels.push_back(std::move(*one));
    }
    kernels.insert(kernels.begin(), *parsed);
    auto inferred = infer_problem(input_, options_, kernels);
    if (!inferred) return failure(kUsage, inferred.error().message);
    setup_->problem = std::move(inferred->problem);
    setup_->to_fill_in = std::move(inferred->to_fill_in);
    inferred_lengths_ = inferred->lengths_inferred;
    auto& notes = setup_->problem.notes;
    if (!device_note_.empty()) notes.insert(notes.begin(), device_note_);
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
    return failure(kUnusableKernel, options_.kernel_file + " does not compile for " +
                                        std::string(setup_->device.architecture) + ":\n" +
                                        with_own_name(error.message));
  }

  // The compiler sees the file under a fixed name.
  [[nodiscard]] std::string with_own_name(std::string message) const {
    const std::string file = std::filesystem::path(options_.kernel_file).filename().string();
    constexpr std::string_view kCompilersName = "kernel.cu";
    for (std::size_t at = 0; (at = message.find(kCompilersName, at)) != std::string::npos;) {
      message.replace(at, kCompilersName.size(), file);
      at += file.size();
    }
    return message;
  }

  Result<CompiledKernel> compile_source(const std::string& source) {
    CompileRequest request;
    request.source = source;
    request.kernel = setup_->problem.signature.name;
    request.architecture = std::string(setup_->device.architecture);
    return setup_->compiler->compile(request, cancellation_);
  }

  std::optional<SetupFailure> compile() {
    const LaunchPlan& plan = setup_->problem.launch;
    auto original = compile_plan(*setup_->compiler, input_.source, plan,
                                 std::string(setup_->device.architecture), cancellation_);
    if (!original) return compile_failure(original.error());
    compiled_ = std::move(*original);
    std::size_t optimised = 0;
    while (plan.launches[optimised].kernel != setup_->problem.signature.name)
      ++optimised;
    Candidate& candidate = setup_->original;
    candidate.source = setup_->problem.source;
    candidate.plan = setup_->problem.launch;
    candidate.identity = candidate_identity(candidate.source, candidate.plan);
    if (!unit_) return std::nullopt;
    const auto times = std::count_if(
        plan.launches.begin(), plan.launches.end(),
        [&](const Launch& launch) { return launch.kernel == setup_->problem.signature.name; });
    if (times > 1) {
      setup_->opaque_reason = fmt::format("'{}' is launched {} times, and steps change one launch",
                                          setup_->problem.signature.name, times);
      return std::nullopt;
    }
    // The gate: what the printer makes of the IR must be the same program.
    auto printed = compile_source(source::print(*unit_));
    if (!printed) {
      setup_->opaque_reason =
          "printed back from the rewriter's form it does not compile: " + printed.error().message;
    } else if (!same_code(compiled_.launches[optimised]->ptx, printed->ptx)) {
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
    VerifierConfiguration configuration;
    // Outlives the verifier.
    configuration.make_double_shadow = [setup = setup_.get()](const Cancellation& cancellation) {
      return verify::make_double_shadow(*setup->compiler, setup->problem, setup->problem.source,
                                        std::string(setup->device.architecture), cancellation);
    };
    configuration.make_uncontracted = [setup = setup_.get()](const Cancellation& cancellation) {
      return verify::make_uncontracted(*setup->compiler, setup->problem, setup->problem.source,
                                       std::string(setup->device.architecture), cancellation);
    };
    setup_->verifier =
        std::make_unique<Verifier>(setup_->problem, compiled_, std::move(configuration));
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
      if (options_.init) {
        // The manifest may be what is wrong: it is printed for correction.
        setup_->to_fill_in.push_back(warnings.error().message);
        return std::nullopt;
      }
      return failure(kUnusableKernel, options_.kernel_file +
                                          ": the original kernel cannot be used as a "
                                          "reference: " +
                                          with_own_name(warnings.error().message) +
                                          (inferred_lengths_ ? inferred_hint() : ""));
    }
    setup_->warnings = std::move(*warnings);
    return make_evaluator();
  }

  std::optional<SetupFailure> make_evaluator() {
    if (!setup_->gpu) {
      setup_->evaluator =
          std::make_unique<ModelEvaluator>(*setup_->compiler, *setup_->verifier, setup_->device);
      return std::nullopt;
    }
    gpu::GpuEvaluatorConfig config;
    config.worker.program = beside("regraph-eval");
    config.model = setup_->device;
    config.model_first = setup_->evaluator_name != "gpu-only";
    config.seed = options_.seed;
    config.devices = equal_gpus(config.worker.program.string());
    auto harness =
        gpu::compile_harness(*setup_->compiler, setup_->gpu->architecture, cancellation_);
    if (!harness) return failure(kInternalError, harness.error().message);
    config.worker.harness = std::move(*harness);
    setup_->cuda_root = front_end_.cuda_root;
    for (const std::filesystem::path& file : gpu::cupti_candidates(front_end_.cuda_root))
      config.cupti.push_back(file.string());
    auto evaluator = std::make_unique<gpu::GpuEvaluator>(
        *setup_->compiler, *setup_->verifier, setup_->problem, compiled_, std::move(config));
    setup_->gpu_evaluator = evaluator.get();
    setup_->evaluator = std::move(evaluator);
    return std::nullopt;
  }

  // The GPUs that CUDA shows which are like the first one.
  [[nodiscard]] std::vector<int> equal_gpus(const std::string& worker) {
    std::vector<int> devices = {0};
    setup_->gpu_bus_ids = {setup_->gpu->bus_id};
    for (int device = 1; device < setup_->gpu->device_count; ++device) {
      const auto other = gpu::probe_gpu(worker, device, cancellation_);
      const bool equal = other.ok() && other->name == setup_->gpu->name &&
                         other->architecture == setup_->gpu->architecture;
      if (!equal) continue;
      devices.push_back(device);
      setup_->gpu_bus_ids.push_back(other->bus_id);
    }
    return devices;
  }

  [[nodiscard]] std::string inferred_hint() const {
    return fmt::format(
        " (lengths and launch that were inferred may be wrong: 'regraph-search {} "
        "--init' prints them)",
        options_.kernel_file);
  }

  SearchOptions options_;  // with the kernel's file, should a T1 file have named it
  const std::string& program_;
  const Cancellation& cancellation_;
  std::unique_ptr<SearchSetup> setup_;
  KernelInput input_;
  bool inferred_lengths_ = false;
  std::string device_note_;
  source::FrontEndConfiguration front_end_;
  std::optional<source::Unit> unit_;
  CompiledPlan compiled_;
};

}  // namespace

std::variant<std::unique_ptr<SearchSetup>, SetupFailure> set_up_search(
    const SearchOptions& options, const std::string& program, const Cancellation& cancellation) {
  return Builder(options, program, cancellation).run();
}

}  // namespace regraph::cli
