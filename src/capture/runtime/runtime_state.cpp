#include "capture/runtime/runtime_state.h"

#include "capture/runtime/server_connection.h"

#include <cstring>
#include <unistd.h>

namespace regraph::capture {
namespace {

// A container of device code begins with 16 bytes that say how long it is (../fat_binary.h).
std::size_t bytes_of_fat_binary(const void* data) {
  std::uint16_t header = 0;
  std::uint64_t size = 0;
  std::memcpy(&header, static_cast<const char*>(data) + 6, sizeof header);
  std::memcpy(&size, static_cast<const char*>(data) + 8, sizeof size);
  return header + size;
}

cudaError_t learn(Module& module) {
  if (module.id) return cudaSuccess;
  const Answer answer =
      ask(RequestKind::module, {module.fat_binary, bytes_of_fat_binary(module.fat_binary)});
  ModuleAnswer known;
  if (answer.status != cudaSuccess) return static_cast<cudaError_t>(answer.status);
  if (!answer.read(known)) return cudaErrorUnknown;
  module.id = known.module;
  return cudaSuccess;
}

// Asks for a name in a module.
template <typename Known>
cudaError_t learn(RequestKind kind, Module& module, const std::string& name,
                  std::optional<Known>& known) {
  if (known) return cudaSuccess;
  if (const cudaError_t error = learn(module); error != cudaSuccess) return error;
  const NameInModule request{*module.id, static_cast<std::uint32_t>(name.size())};
  const Answer answer = ask(kind, {&request, sizeof request}, {name.data(), name.size()});
  if (answer.status != cudaSuccess) return static_cast<cudaError_t>(answer.status);
  Known found;
  if (!answer.read(found)) return cudaErrorUnknown;
  known = found;
  return cudaSuccess;
}

// Faults of a kernel that leave the device unusable, as on a GPU.
bool is_sticky(int status) {
  return status == cudaErrorIllegalAddress || status == cudaErrorLaunchFailure ||
         status == cudaErrorMisalignedAddress || status == cudaErrorAssert ||
         status == cudaErrorLaunchTimeout;
}

}  // namespace

RuntimeState& runtime() {
  static RuntimeState& state = *new RuntimeState;
  return state;
}

const MappedMemory* RuntimeState::find(std::uint64_t address) const {
  auto place = allocations.upper_bound(address);
  if (place == allocations.begin()) return nullptr;
  --place;
  const MappedMemory& memory = place->second;
  return address < memory.begin + memory.bytes ? &memory : nullptr;
}

cudaError_t RuntimeState::note(cudaError_t error) {
  if (error == cudaSuccess) error = sticky_error;
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t RuntimeState::note_answer(int status) {
  if (is_sticky(status)) sticky_error = static_cast<cudaError_t>(status);
  return note(static_cast<cudaError_t>(status));
}

Kernel* find_kernel(RuntimeState& state, const void* stub_or_handle) {
  const auto by_stub = state.kernels.find(stub_or_handle);
  if (by_stub != state.kernels.end()) return by_stub->second.get();
  for (const auto& [stub, kernel] : state.kernels) {
    if (kernel.get() == stub_or_handle) return kernel.get();
  }
  return nullptr;
}

cudaError_t learn(Kernel& kernel) {
  if (kernel.trouble != cudaSuccess) return kernel.trouble;
  return kernel.trouble = learn(RequestKind::kernel, *kernel.module, kernel.name, kernel.known);
}

cudaError_t learn(Variable& variable) {
  return learn(RequestKind::variable, *variable.module, variable.name, variable.known);
}

const DeviceFacts& device_of(RuntimeState& state) {
  if (!state.device) {
    const Hello hello{kProtocolVersion, static_cast<std::uint32_t>(::getpid())};
    state.device.emplace();
    (void)ask(RequestKind::hello, {&hello, sizeof hello}).read(*state.device);
  }
  return *state.device;
}

cudaError_t not_there(const char* function) {
  (void)ask(RequestKind::not_there, {function, std::strlen(function)});
  const std::lock_guard lock(runtime().mutex);
  return runtime().note(cudaErrorNotSupported);
}

}  // namespace regraph::capture

// What make_stubs' functions call.
extern "C" int regraph_capture_not_there(const char* function) {
  return regraph::capture::not_there(function);
}
