// A GPU, its context and kernels compiled with NVRTC, for tests that need the hardware.
#pragma once

#include "base/cancellation.h"
#include "eval/compile/compiler.h"
#include "eval/gpu/driver_api.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace regraph::gpu::test {

class GpuUnderTest {
 public:
  // Empty on success, else why there is none.
  std::string open() {
    auto driver = Driver::load();
    if (!driver.ok()) return driver.error().message;
    driver_ = *driver;
    if (const std::string why = failed(driver_.cuDeviceGet(&device_, 0)); !why.empty()) return why;
    if (const std::string why = failed(driver_.cuDevicePrimaryCtxRetain(&context_, device_));
        !why.empty())
      return why;
    return failed(driver_.cuCtxSetCurrent(context_));
  }

  [[nodiscard]] const Driver& driver() const { return driver_; }
  [[nodiscard]] CUdevice device() const { return device_; }
  [[nodiscard]] CUcontext context() const { return context_; }
  [[nodiscard]] int attribute(CUdevice_attribute which) const {
    int value = 0;
    EXPECT_EQ(driver_.cuDeviceGetAttribute(&value, which, device_), CUDA_SUCCESS);
    return value;
  }
  [[nodiscard]] std::string architecture() const {
    return "sm_" + std::to_string(10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                                  attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  }

  [[nodiscard]] std::string failed(CUresult result) const {
    return result == CUDA_SUCCESS ? std::string() : driver_.describe(result);
  }

  // Null when the toolkit or the compiler fails; the test has then failed too.
  CUfunction compile(const std::string& source, const std::string& kernel) {
    const auto toolkit = find_cuda_toolkit();
    if (!toolkit.ok()) {
      ADD_FAILURE() << toolkit.error().message;
      return nullptr;
    }
    CompilerConfiguration configuration;
    configuration.toolkit = *toolkit;
    // Beside this program: the build may have been carried to the machine with the GPU.
    configuration.worker =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "regraph-compile-worker";
    Compiler compiler(configuration);
    CompileRequest request;
    request.source = source;
    request.kernel = kernel;
    request.architecture = architecture();
    const auto compiled = compiler.compile(request, Cancellation());
    if (!compiled.ok()) {
      ADD_FAILURE() << compiled.error().message;
      return nullptr;
    }
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(failed(driver_.cuModuleLoadData(&module, compiled->cubin.data())), "");
    EXPECT_EQ(failed(driver_.cuModuleGetFunction(&function, module, compiled->entry.c_str())), "");
    return function;
  }

  CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(failed(driver_.cuMemAlloc(&address, bytes)), "");
    EXPECT_EQ(failed(driver_.cuMemsetD8(address, 1, bytes)), "");
    return address;
  }
  void free(CUdeviceptr address) { driver_.cuMemFree(address); }

  // Launches and waits.
  Status run(CUfunction function, unsigned blocks, unsigned threads,
             std::vector<void*> parameters) {
    std::string why = failed(driver_.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0,
                                                    nullptr, parameters.data(), nullptr));
    if (why.empty()) why = failed(driver_.cuCtxSynchronize());
    if (!why.empty()) return fail(ErrorCode::io, why);
    return {};
  }

 private:
  Driver driver_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

}  // namespace regraph::gpu::test
