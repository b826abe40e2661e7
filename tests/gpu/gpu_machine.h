// A GPU, its compiler and its worker, for tests that need them.
#pragma once

#include "eval/compile/compiled_plan.h"
#include "eval/gpu/driver/harness_kernels.h"
#include "eval/gpu/protocol/gpu_process.h"
#include "kernel/manifest.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph::test {

// Programs lie beside the test's own, wherever the folder was carried.
inline std::filesystem::path beside_this_program(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

class GpuMachine {
 public:
  static GpuMachine& instance() {
    static GpuMachine machine;
    return machine;
  }

  // Why there is no GPU; empty when there is.
  [[nodiscard]] const std::string& missing() const { return missing_; }
  [[nodiscard]] const gpu::DeviceProperties& device() const { return device_; }

  [[nodiscard]] CompiledKernel compile(const std::string& source, const std::string& kernel = "k") {
    CompileRequest request;
    request.source = source;
    request.kernel = kernel;
    request.architecture = device_.architecture;
    const auto compiled = compiler_->compile(request, never_);
    EXPECT_TRUE(compiled.ok()) << (compiled.ok() ? "" : compiled.error().message);
    return compiled.ok() ? *compiled : CompiledKernel();
  }

  [[nodiscard]] gpu::GpuWorkerConfiguration worker() {
    gpu::GpuWorkerConfiguration configuration;
    configuration.program = beside_this_program("regraph-eval");
    const CompiledKernel harness = compile(gpu::kHarnessSource, gpu::kStampKernel);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(harness.cubin.data());
    configuration.harness.assign(bytes, bytes + harness.cubin.size());
    return configuration;
  }

  [[nodiscard]] std::unique_ptr<gpu::GpuProcess> start() {
    auto process = gpu::GpuProcess::start(worker(), never_);
    EXPECT_TRUE(process.ok()) << (process.ok() ? "" : process.error().message);
    return process.ok() ? std::move(*process) : nullptr;
  }

  [[nodiscard]] Compiler& compiler() { return *compiler_; }
  [[nodiscard]] const Cancellation& never() const { return never_; }

 private:
  GpuMachine() {
    const auto device = gpu::probe_gpu(beside_this_program("regraph-eval"), 0, never_);
    if (!device.ok()) {
      missing_ = device.error().message;
      return;
    }
    device_ = *device;
    const auto toolkit = find_cuda_toolkit();
    if (!toolkit.ok()) {
      missing_ = toolkit.error().message;
      return;
    }
    CompilerConfiguration configuration;
    configuration.toolkit = *toolkit;
    configuration.worker = beside_this_program("regraph-compile-worker");
    compiler_ = std::make_unique<Compiler>(configuration);
  }

  std::string missing_;
  gpu::DeviceProperties device_;
  std::unique_ptr<Compiler> compiler_;
  Cancellation never_;
};

// Skips without a GPU.
class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!machine().missing().empty()) GTEST_SKIP() << machine().missing();
  }
  [[nodiscard]] static GpuMachine& machine() { return GpuMachine::instance(); }
};

// A kernel `k` as a problem. Directions and shapes come from the manifest.
[[nodiscard]] inline Problem problem_of(const std::string& yaml, std::vector<Parameter> parameters,
                                        const std::string& source) {
  const auto manifest = parse_manifest(yaml, "k.yaml");
  EXPECT_TRUE(manifest.ok()) << (manifest.ok() ? "" : manifest.error().message);
  auto problem = make_problem(*manifest, {"k", std::move(parameters)}, "k.cu", source);
  EXPECT_TRUE(problem.ok()) << (problem.ok() ? "" : problem.error().message);
  return *problem;
}

[[nodiscard]] inline Parameter buffer(std::string name, bool constant,
                                      ScalarType type = ScalarType::f32) {
  return {std::move(name), type, true, constant, 1};
}
[[nodiscard]] inline Parameter number(std::string name, ScalarType type = ScalarType::i32) {
  return {std::move(name), type, false, false, 1};
}

}  // namespace regraph::test
