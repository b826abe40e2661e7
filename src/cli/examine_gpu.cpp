#include "cli/examine_gpu.h"

#include "eval/compile/compiler.h"
#include "eval/gpu/answer_sanitizer.h"
#include "eval/gpu/counters/counter_plan.h"
#include "eval/gpu/counters/cupti_library.h"
#include "eval/gpu/driver/gpu_disturbances.h"
#include "eval/gpu/driver/harness_kernels.h"
#include "eval/gpu/gpu_evaluator.h"
#include "eval/gpu/protocol/gpu_device.h"
#include "eval/gpu/protocol/gpu_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

namespace regraph::cli {
namespace {

using Level = Finding::Level;

constexpr std::size_t kProbeSamples = 20;

class GpuExamination {
 public:
  GpuExamination(const Installation& installation, const Cancellation& cancellation)
      : installation_(installation), cancellation_(cancellation) {
    if (auto toolkit = find_cuda_toolkit(); toolkit.ok()) toolkit_ = std::move(*toolkit);
  }

  std::vector<Finding> run() {
    examine_device();
    examine_sanitizer();
    return std::move(findings_);
  }

 private:
  void add(Level level, std::string subject, std::string text) {
    findings_.push_back({level, std::move(subject), std::move(text)});
  }

  void examine_device() {
    const auto device = gpu::probe_gpu(installation_.gpu_worker(), 0, cancellation_);
    if (!device.ok()) {
      const bool none = device.error().code == ErrorCode::not_found;
      add(Level::note, "GPU",
          (none ? "none: times are predicted, and results verified on the PTX interpreter ("
                : "cannot be used, times are predicted (") +
              device.error().message + ")");
      return;
    }
    add(Level::fine, "GPU",
        fmt::format("{} ({}), {} SMs, {:.0f} GiB, driver for CUDA {}.{}{}", device->name,
                    device->architecture, device->sm_count,
                    static_cast<double>(device->total_bytes) / kGibibyte,
                    device->driver_version / 1000, device->driver_version % 1000 / 10,
                    device->device_count > 1
                        ? fmt::format("; the first of {} is used", device->device_count)
                        : ""));
    examine_gpu_state(device->bus_id);
    const DeviceSpec model = gpu::model_of(*device);
    if (model.name == "gpu") {
      add(Level::note, "model", "this GPU is not in its tables: predictions are rough");
    }
    if (device->device_reads_host_memory) {
      add(Level::note, "memory access",
          "kernels can read the memory of the process that runs them (HMM); candidates run in "
          "processes of their own, which hold no results to copy");
    }
    if (toolkit_) try_kernels(device->architecture);
  }

  void examine_gpu_state(const std::string& bus_id) {
    const std::vector<std::string> candidates = gpu::nvml_candidates();
    const auto state = gpu::read_gpu_state(bus_id, candidates);
    if (!state.ok()) {
      add(Level::note, "GPU state",
          "unknown, so nothing is said of clocks and other users: " + state.error().message);
      return;
    }
    add(Level::fine, "GPU state", gpu::state_text(*state));
    for (const std::string& one : gpu::disturbances(*state, false))
      add(Level::note, "disturbance", "timings may be disturbed: " + one);
    if (state->persistent == false) {
      add(Level::note, "persistence",
          "off: the driver starts anew for each worker; 'nvidia-smi -pm 1' as root turns it on");
    }
  }

  void examine_sanitizer() {
    const char* const path = std::getenv("PATH");
    const auto program =
        gpu::find_sanitizer(toolkit_ ? toolkit_->root : "", path != nullptr ? path : "");
    if (program) {
      add(Level::fine, "sanitizer", program->string() + " checks measured answers");
    } else {
      add(Level::note, "sanitizer",
          "no compute-sanitizer in the CUDA toolkit or on PATH: answers measured on a GPU are not "
          "checked by it");
    }
  }

  // Whether a context can be made and a kernel runs; and what can be counted of one.
  void try_kernels(const std::string& architecture) {
    CompilerConfiguration configuration;
    configuration.toolkit = *toolkit_;
    configuration.worker = installation_.compile_worker();
    Compiler compiler(std::move(configuration));
    auto harness = gpu::compile_harness(compiler, architecture, cancellation_);
    if (!harness) {
      add(Level::broken, "GPU kernels", harness.error().message);
      return;
    }
    gpu::GpuWorkerConfiguration worker;
    worker.program = installation_.gpu_worker();
    worker.harness = std::move(*harness);
    auto process = gpu::GpuProcess::start(worker, cancellation_);
    if (!process.ok()) {
      add(Level::broken, "GPU kernels", process.error().message);
      return;
    }
    gpu::TimeRequest request;
    request.plans.emplace_back();
    request.samples.assign(kProbeSamples, 0);
    auto timed = (*process)->time(request, cancellation_);
    if (!timed.ok()) {
      add(Level::broken, "GPU kernels", timed.error().message);
      return;
    }
    std::sort(timed->seconds.begin(), timed->seconds.end());
    add(Level::fine, "GPU kernels",
        fmt::format("run; {:.1f} GiB free, two events are {:.1f} us apart, SM clock {:.0f} MHz",
                    static_cast<double>((*process)->device().free_bytes) / kGibibyte,
                    timed->seconds[timed->seconds.size() / 2] * 1e6, timed->clock_hertz / 1e6));
    count(compiler, architecture, **process);
  }

  // Reads the counters of a kernel that does nothing, which needs the right to read any.
  void count(Compiler& compiler, const std::string& architecture, gpu::GpuProcess& process) {
    CompileRequest source;
    source.source = "__global__ void doctor() {}\n";
    source.kernel = "doctor";
    source.architecture = architecture;
    const auto compiled = compiler.compile(source, cancellation_);
    if (!compiled) return add(Level::broken, "counters", compiled.error().message);
    gpu::LoadRequest load;
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(compiled->cubin.data());
    load.cubin.assign(bytes, bytes + compiled->cubin.size());
    load.functions.push_back({compiled->entry, 0});
    auto loaded = process.load(load, cancellation_);
    if (!loaded.ok()) return add(Level::broken, "counters", loaded.error().message);
    gpu::LaunchMessage launch;
    launch.module = loaded->module;
    gpu::ProfileRequest request;
    request.plan.launches.push_back(std::move(launch));
    request.tier = static_cast<int>(gpu::CounterTier::detail);  // what a search asks for
    for (const std::filesystem::path& file : gpu::cupti_candidates(toolkit_->root))
      request.cupti.push_back(file.string());
    auto counted = process.profile(request, cancellation_);
    if (!counted.ok()) {
      add(Level::note, "counters",
          "none, so what limits a kernel is told by the model alone: " + counted.error().message);
      return;
    }
    add(Level::fine, "counters",
        fmt::format("CUPTI reads {} metrics of a kernel in {} passes", counted->values.size(),
                    counted->passes));
  }

  const Installation& installation_;
  const Cancellation& cancellation_;
  std::optional<CudaToolkit> toolkit_;  // what there is to say without one, others say
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> examine_gpu(const Installation& installation,
                                 const Cancellation& cancellation) {
  return GpuExamination(installation, cancellation).run();
}

}  // namespace regraph::cli
