// A CUDA context in the test's own process, for what the worker process does not offer.
#pragma once

#include "eval/gpu/driver/driver_api.h"
#include "gpu/gpu_machine.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regraph::gpu::test {

class LocalContext {
 public:
  // Empty on success, else why there is none.
  std::string open() {
    const std::string& missing = regraph::test::GpuMachine::instance().missing();
    if (!missing.empty()) return missing;
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
  [[nodiscard]] std::string failed(CUresult result) const {
    return result == CUDA_SUCCESS ? std::string() : driver_.describe(result);
  }

  // Null when the compiler fails; the test has then failed too.
  CUfunction compile(const std::string& source, const std::string& kernel) {
    const CompiledKernel compiled = regraph::test::GpuMachine::instance().compile(source, kernel);
    if (compiled.cubin.empty()) return nullptr;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(failed(driver_.cuModuleLoadData(&module, compiled.cubin.data())), "");
    EXPECT_EQ(failed(driver_.cuModuleGetFunction(&function, module, compiled.entry.c_str())), "");
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
