// Real kernels for the model's tests: compiled by NVRTC, described by a manifest.
#pragma once

#include "eval/model/device.h"
#include "eval/model/sampling.h"
#include "eval/real_compiler.h"
#include "kernel/manifest.h"
#include "sass/machine_code.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace regraph::test {

inline Compiler& shared_compiler() {
  static Compiler compiler(real_configuration());
  return compiler;
}

// Equal sources are compiled once a program.
inline CompiledKernel compiled(const std::string& source) {
  static std::mutex mutex;
  static std::map<std::string, CompiledKernel> done;
  const std::lock_guard lock(mutex);
  if (const auto found = done.find(source); found != done.end()) return found->second;
  const Cancellation never;
  const auto result = shared_compiler().compile(request_for(source), never);
  EXPECT_TRUE(result.ok()) << result.error().message << "\n" << source;
  return result.ok() ? done[source] = *result : CompiledKernel{};
}

inline Parameter input(std::string name) {
  return {std::move(name), ScalarType::f32, true, true, 1};
}
inline Parameter output(std::string name) {
  return {std::move(name), ScalarType::f32, true, false, 1};
}
inline Parameter number(std::string name) {
  return {std::move(name), ScalarType::i32, false, false, 1};
}

// The kernel is always named k.
inline Problem problem_of(const std::string& yaml, std::vector<Parameter> parameters) {
  const auto manifest = parse_manifest(yaml, "k.yaml");
  EXPECT_TRUE(manifest.ok()) << manifest.error().message;
  auto problem = make_problem(*manifest, {"k", std::move(parameters)}, "k.cu", "");
  EXPECT_TRUE(problem.ok()) << problem.error().message;
  return *problem;
}

inline DeviceSpec device(const char* name) {
  return *find_device(name);
}

// A problem, its compiled kernel and a sample of the launch at the first bench size.
class SampledKernel {
 public:
  SampledKernel(const Problem& problem, const std::string& source,
                const DeviceSpec& on = device("h200"))
      : kernel_(compiled(source)),
        program_(*ptx::Program::load(kernel_.ptx, kernel_.entry)),
        code_(*sass::read_machine_code(kernel_.cubin, kernel_.entry)),
        launch_(*concretise(problem.launch.launches.front(), problem.bench.front())),
        occupancy_(*occupancy_of(on, static_cast<int>(launch_.block.count()),
                                 kernel_.resources.registers_per_thread,
                                 kernel_.resources.static_shared_bytes)) {
    const Cancellation never;
    auto sample = sample_launch(problem, program_, launch_, problem.bench.front(), on, occupancy_,
                                kernel_.resources.static_shared_bytes, never);
    EXPECT_TRUE(sample.ok()) << sample.error().message;
    if (sample.ok()) sample_ = std::move(*sample);
    EXPECT_EQ(sample_.fault.kind, ptx::FaultKind::none) << sample_.fault.message;
  }

  [[nodiscard]] const CompiledKernel& kernel() const { return kernel_; }
  [[nodiscard]] const ptx::Program& program() const { return program_; }
  [[nodiscard]] const sass::MachineCode& code() const { return code_; }
  [[nodiscard]] const ConcreteLaunch& launch() const { return launch_; }
  [[nodiscard]] const Occupancy& occupancy() const { return occupancy_; }
  [[nodiscard]] const LaunchSample& sample() const { return sample_; }

 private:
  CompiledKernel kernel_;
  ptx::Program program_;
  sass::MachineCode code_;
  ConcreteLaunch launch_;
  Occupancy occupancy_;
  LaunchSample sample_;
};

// --- Kernels several tests use ---

inline const char* const kCopyYaml = R"yaml(
sizes: {n: 1048576}
args: {in: {shape: [n]}, out: {dir: out, shape: [n]}}
launch: {block: 256, grid: "cdiv(n, bx)"}
tests: [{n: 1000}]
counters: {bytes: 8*n}
)yaml";

inline Problem copy_problem(const std::string& more = "") {
  return problem_of(kCopyYaml + more, {input("in"), output("out"), number("n")});
}

inline const char* const kCopy = R"cuda(
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
)cuda";

}  // namespace regraph::test
