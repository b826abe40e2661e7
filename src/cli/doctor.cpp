#include "cli/doctor.h"

#include "base/files.h"
#include "cli/cache_directory.h"
#include "cli/load_graph.h"
#include "eval/compile/compiler.h"
#include "eval/gpu/answer_sanitizer.h"
#include "eval/gpu/gpu_device.h"
#include "eval/gpu/gpu_disturbances.h"
#include "eval/gpu/gpu_evaluator.h"
#include "eval/gpu/gpu_process.h"
#include "eval/gpu/harness_kernels.h"
#include "source/clang_frontend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace regraph::cli {
namespace {

using Level = Finding::Level;

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
// A run of the examples takes 0.6 GiB; two workers and a desktop want more.
constexpr double kComfortableMemoryBytes = 4.0 * kGibibyte;
constexpr std::size_t kProbeSamples = 20;
constexpr double kComfortableDiskBytes = 1.0 * kGibibyte;

class Examination {
 public:
  Examination(const std::string& program, const Cancellation& cancellation)
      : program_(program), cancellation_(cancellation) {}

  std::vector<Finding> run() {
    examine_toolkit();
    examine_sandbox();
    examine_cache();
    examine_graph();
    examine_processor();
    examine_memory();
    examine_gpu();
    examine_sanitizer();
    return std::move(findings_);
  }

 private:
  void add(Level level, std::string subject, std::string text) {
    findings_.push_back({level, std::move(subject), std::move(text)});
  }

  void examine_toolkit() {
    auto toolkit = find_cuda_toolkit();
    if (!toolkit) {
      add(Level::broken, "CUDA toolkit", toolkit.error().message);
      return;
    }
    add(Level::fine, "CUDA toolkit",
        fmt::format("{} (found by {})", toolkit->root.string(), toolkit->how_found));
    const auto front_end = source::default_front_end(toolkit->root);
    if (front_end) {
      add(Level::fine, "C++ front end", front_end->clang_resources.string());
    } else {
      add(Level::broken, "C++ front end", front_end.error().message);
    }
    compile(*toolkit);
  }

  void compile(const CudaToolkit& toolkit) {
    CompilerConfiguration configuration;
    configuration.toolkit = toolkit;
    configuration.worker = std::filesystem::path(program_).parent_path() / "regraph-compile-worker";
    Compiler compiler(std::move(configuration));
    CompileRequest request;
    request.source = "__global__ void doctor(float* a) { a[threadIdx.x] *= 2.0f; }\n";
    request.kernel = "doctor";
    request.architecture = "sm_90";
    const auto compiled = compiler.compile(request, cancellation_);
    if (compiled) {
      add(Level::fine, "compiler",
          fmt::format("NVRTC compiles for sm_90 in {:.2f} s",
                      compiler.statistics().compile_seconds));
    } else {
      add(Level::broken, "compiler", "NVRTC does not work: " + compiled.error().message);
    }
  }

  void examine_sandbox() {
    const long version = syscall(SYS_landlock_create_ruleset, nullptr, std::size_t{0},
                                 LANDLOCK_CREATE_RULESET_VERSION);
    if (version > 0) {
      add(Level::fine, "sandbox", fmt::format("Landlock, ABI {}", version));
    } else {
      add(Level::note, "sandbox",
          "this kernel has no Landlock: the compiler runs with limits on time, memory and "
          "processes, but may read files; use Linux 5.13 or later for sources you do not trust");
    }
  }

  void examine_cache() {
    const std::filesystem::path cache = cache_directory();
    if (cache.empty()) {
      add(Level::note, "cache",
          "no place for compiled kernels is known, so every run compiles anew; set HOME or "
          "REGRAPH_CACHE_DIR");
      return;
    }
    const auto probe = cache / ".doctor";
    if (Status status = write_file(probe, "x"); !status) {
      add(Level::note, "cache",
          fmt::format("{} cannot be written ({}), so every run compiles anew", cache.string(),
                      status.error().message));
      return;
    }
    std::error_code ignored;
    std::filesystem::remove(probe, ignored);
    const auto space = std::filesystem::space(cache, ignored);
    const auto free_bytes = static_cast<double>(space.available);
    add(free_bytes < kComfortableDiskBytes ? Level::note : Level::fine, "cache",
        fmt::format("{}, {:.1f} GiB free", cache.string(), free_bytes / kGibibyte));
  }

  void examine_graph() {
    const auto graph = load_graph("", program_);
    if (graph) {
      add(Level::fine, "ReGraph", fmt::format("{} steps", graph->steps().size()));
    } else {
      add(Level::broken, "ReGraph", graph.error().message);
    }
  }

  void examine_processor() {
    const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    const bool middle = __builtin_cpu_supports("avx2");
    add(wide ? Level::fine : Level::note, "processor",
        fmt::format("{} usable, interpreter with {}", processors,
                    wide     ? "AVX-512"
                    : middle ? "AVX2 (AVX-512 would be about twice as fast)"
                             : "plain x86-64 (AVX2 or AVX-512 would be several times as fast)"));
  }

  void examine_memory() {
    const double bytes =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    add(bytes < kComfortableMemoryBytes ? Level::note : Level::fine, "memory",
        fmt::format("{:.1f} GiB", bytes / kGibibyte));
  }

  void examine_gpu() {
    const auto worker = std::filesystem::path(program_).parent_path() / "regraph-eval";
    const auto device = gpu::probe_gpu(worker, 0, cancellation_);
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
    try_gpu(worker);
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
    const auto toolkit = find_cuda_toolkit();
    const char* const path = std::getenv("PATH");
    const auto program =
        gpu::find_sanitizer(toolkit ? toolkit->root : "", path != nullptr ? path : "");
    if (program) {
      add(Level::fine, "sanitizer", program->string() + " checks measured answers");
    } else {
      add(Level::note, "sanitizer",
          "no compute-sanitizer in the CUDA toolkit or on PATH: answers measured on a GPU are not "
          "checked by it");
    }
  }

  // Whether a context can be made and a kernel runs.
  void try_gpu(const std::filesystem::path& worker) {
    const auto toolkit = find_cuda_toolkit();
    if (!toolkit) return;  // said above
    CompilerConfiguration configuration;
    configuration.toolkit = *toolkit;
    configuration.worker = std::filesystem::path(program_).parent_path() / "regraph-compile-worker";
    Compiler compiler(std::move(configuration));
    const auto device = gpu::probe_gpu(worker, 0, cancellation_);
    if (!device.ok()) return;
    auto harness = gpu::compile_harness(compiler, device->architecture, cancellation_);
    if (!harness) {
      add(Level::broken, "GPU kernels", harness.error().message);
      return;
    }
    gpu::GpuWorkerConfiguration worker_configuration;
    worker_configuration.program = worker;
    worker_configuration.harness = std::move(*harness);
    auto process = gpu::GpuProcess::start(worker_configuration, cancellation_);
    if (!process.ok()) {
      add(Level::broken, "GPU kernels", process.error().message);
      return;
    }
    gpu::TimeRequest request;
    request.plans.emplace_back();
    request.samples.assign(kProbeSamples, 0);
    auto timed = (*process)->time(request, cancellation_);
    if (!timed.ok()) {
      add(Level::broken, "GPU kernels", timed.failure().message);
      return;
    }
    std::sort(timed->seconds.begin(), timed->seconds.end());
    add(Level::fine, "GPU kernels",
        fmt::format("run; {:.1f} GiB free, two events are {:.1f} us apart, SM clock {:.0f} MHz",
                    static_cast<double>((*process)->device().free_bytes) / kGibibyte,
                    timed->seconds[timed->seconds.size() / 2] * 1e6, timed->clock_hertz / 1e6));
  }

  const std::string& program_;
  const Cancellation& cancellation_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> examine_machine(const std::string& program, const Cancellation& cancellation) {
  return Examination(program, cancellation).run();
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::string text;
  bool broken = false;
  for (const Finding& finding : findings) {
    const char* level = finding.level == Level::fine   ? "ok  "
                        : finding.level == Level::note ? "note"
                                                       : "FAIL";
    broken = broken || finding.level == Level::broken;
    text += fmt::format("{}  {:<14} {}\n", level, finding.subject, finding.text);
  }
  return text + (broken ? "\nsearches cannot run until what failed is mended\n"
                        : "\nsearches can run on this machine\n");
}

}  // namespace regraph::cli
