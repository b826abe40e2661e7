#include "cli/doctor.h"

#include "base/files.h"
#include "cli/examine_gpu.h"
#include "eval/compile/compiler.h"
#include "session/load_graph.h"
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

// What the examination compiles for: any architecture would do.
constexpr const char* kArchitecture = "sm_90";
// A run of the examples takes 0.6 GiB; two workers and a desktop want more.
constexpr double kComfortableMemoryBytes = 4.0 * kGibibyte;
constexpr double kComfortableDiskBytes = 1.0 * kGibibyte;

class Examination {
 public:
  Examination(const Installation& installation, const Cancellation& cancellation)
      : installation_(installation), cancellation_(cancellation) {}

  std::vector<Finding> run() {
    examine_toolkit();
    examine_sandbox();
    examine_cache();
    examine_graph();
    examine_processor();
    examine_memory();
    for (Finding& finding : examine_gpu(installation_, cancellation_))
      findings_.push_back(std::move(finding));
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
    const auto front_end = source::default_front_end(toolkit->root, kArchitecture);
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
    configuration.worker = installation_.compile_worker();
    Compiler compiler(std::move(configuration));
    CompileRequest request;
    request.source = "__global__ void doctor(float* a) { a[threadIdx.x] *= 2.0f; }\n";
    request.kernel = "doctor";
    request.architecture = kArchitecture;
    const auto compiled = compiler.compile(request, cancellation_);
    if (compiled) {
      add(Level::fine, "compiler",
          fmt::format("NVRTC compiles for {} in {:.2f} s", kArchitecture,
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
    const std::filesystem::path& cache = installation_.cache_directory;
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
    const auto graph = load_graph("", installation_);
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

  const Installation& installation_;
  const Cancellation& cancellation_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> examine_machine(const Installation& installation,
                                     const Cancellation& cancellation) {
  return Examination(installation, cancellation).run();
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
