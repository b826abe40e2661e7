// What nvcc's generated code calls before main(): device code, kernels and variables by name. The
// functions are not documented; they are as CUDA 12 and 13 generate calls of them.
#include "capture/runtime/runtime_state.h"

#include <vector_types.h>

namespace {

using namespace regraph::capture;  // NOLINT: these are the library's own functions

constexpr std::uint32_t kWrapperMagic = 0x466243B1;

struct FatBinaryWrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* data;
  void* prelinked;
};

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  const auto* known = static_cast<const FatBinaryWrapper*>(wrapper);
  if (known->magic != kWrapperMagic) return nullptr;
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  state.modules.push_back(std::make_unique<Module>(Module{known->data, std::nullopt}));
  return reinterpret_cast<void**>(state.modules.back().get());
}

void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) {
  return 1;
}

void __cudaRegisterFunction(void** module, const char* stub, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  auto kernel = std::make_unique<Kernel>();
  kernel->module = reinterpret_cast<Module*>(module);
  kernel->name = name;
  state.kernels[stub] = std::move(kernel);
}

static void register_variable(void** module, const void* shadow, const char* name,
                              std::size_t bytes) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  state.variables[shadow] = Variable{reinterpret_cast<Module*>(module), name, bytes, std::nullopt};
}

void __cudaRegisterVar(void** module, char* shadow, char*, const char* name, int, std::size_t bytes,
                       int, int) {
  register_variable(module, shadow, name, bytes);
}

void __cudaRegisterManagedVar(void** module, void** shadow, char*, const char* name, int,
                              std::size_t bytes, int, int) {
  register_variable(module, shadow, name, bytes);
}

cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* stub) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  *handle = reinterpret_cast<cudaKernel_t>(find_kernel(state, stub));
  return *handle != nullptr ? cudaSuccess : state.note(cudaErrorInvalidDeviceFunction);
}

}  // extern "C"
