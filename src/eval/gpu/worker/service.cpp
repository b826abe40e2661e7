#include "eval/gpu/worker/service.h"

#include "eval/gpu/worker/timed_runs.h"

#include <fmt/format.h>

#include <exception>

namespace regraph::gpu::worker {
namespace {

template <typename T>
T read(const Message& request) {
  Result<T> fields = request.fields<T>();
  if (!fields.ok()) throw Failure{0, false, false, fields.error().message};
  return std::move(*fields);
}

}  // namespace

Service::Answer Service::answer(std::string_view request) {
  try {
    const Result<Message> message = Message::decode(request);
    if (!message.ok()) throw Failure{0, false, false, message.error().message};
    return {perform(*message), false};
  } catch (const Failure& failure) {
    return {encode("failure", failure), failure.final};
  } catch (const std::exception& problem) {
    // Out of memory, as a rule.
    return {encode("failure", Failure{0, true, false, problem.what()}), true};
  }
}

std::string Service::perform(const Message& request) {
  const std::string operation = request.operation();
  if (operation == "probe") {
    const int device = read<ProbeRequest>(request).device;
    (void)device_.properties(device);  // is there such a one?
    device_.take(device);
    return encode("device", device_.properties(device));
  }
  if (operation == "open") {
    const auto open = read<OpenRequest>(request);
    device_.open(open);
    return encode("device", device_.properties(open.device));
  }
  device_.require_open();
  if (operation == "load") return encode("loaded", load(read<LoadRequest>(request)));
  if (operation == "allocate") {
    return encode("allocated", buffers_.allocate(read<AllocateRequest>(request), shared()));
  }
  if (operation == "symbol") {
    set_symbol(read<SymbolRequest>(request));
    return encode("done", Nothing());
  }
  if (operation == "run") return encode("ran", run(read<RunRequest>(request)));
  if (operation == "time") {
    const FindFunction find = [this](const LaunchMessage& launch) { return function_of(launch); };
    return encode("timed", time_runs(device_, buffers_, find, read<TimeRequest>(request)));
  }
  if (operation == "profile") {
    const FindFunction find = [this](const LaunchMessage& launch) { return function_of(launch); };
    return encode("profiled", profiled_.run(read<ProfileRequest>(request), find));
  }
  if (operation == "free") {
    free(read<FreeRequest>(request));
    return encode("done", Nothing());
  }
  throw Failure{0, false, false, fmt::format("unknown operation '{}'", operation)};
}

std::span<std::byte> Service::shared() {
  if (const Status status = shared_.refresh(); !status.ok()) {
    throw Failure{0, false, false, status.error().message};
  }
  return shared_.bytes();
}

LoadResponse Service::load(const LoadRequest& request) {
  const Driver& driver = device_.driver();
  Module module;
  device_.check(driver.cuModuleLoadData(&module.handle, request.cubin.data()));
  LoadResponse response;
  try {
    for (const FunctionRequest& wanted : request.functions) {
      CUfunction function = nullptr;
      device_.check(driver.cuModuleGetFunction(&function, module.handle, wanted.entry.c_str()));
      response.functions.push_back(prepare(function, wanted));
      module.functions.push_back(function);
    }
  } catch (const Failure&) {
    (void)driver.cuModuleUnload(module.handle);
    throw;
  }
  response.module = next_module_++;
  modules_.emplace(response.module, std::move(module));
  return response;
}

FunctionProperties Service::prepare(CUfunction function, const FunctionRequest& wanted) {
  // More dynamic shared memory than that must be asked for.
  constexpr std::uint32_t kGrantedSharedBytes = 48 << 10;
  const Driver& driver = device_.driver();
  FunctionProperties properties;
  const auto attribute = [&](CUfunction_attribute which) {
    int value = 0;
    device_.check(driver.cuFuncGetAttribute(&value, which, function));
    return value;
  };
  properties.registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS);
  properties.static_shared_bytes = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  properties.local_bytes = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  properties.max_threads = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  const std::uint32_t all =
      wanted.dynamic_shared_bytes + static_cast<std::uint32_t>(properties.static_shared_bytes);
  if (all > kGrantedSharedBytes && wanted.dynamic_shared_bytes > 0) {
    device_.check(driver.cuFuncSetAttribute(function,
                                            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                            static_cast<int>(wanted.dynamic_shared_bytes)));
  }
  return properties;
}

void Service::set_symbol(const SymbolRequest& request) {
  const auto module = modules_.find(request.module);
  if (module == modules_.end()) throw Failure{0, false, false, "no such module"};
  const std::span<std::byte> memory = shared();
  const Stretch& content = request.content;
  if (content.offset > memory.size() || content.bytes > memory.size() - content.offset) {
    throw Failure{0, false, false, "a symbol's content is not in the shared memory"};
  }
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  const CUresult found = device_.driver().cuModuleGetGlobal(&address, &bytes, module->second.handle,
                                                            request.name.c_str());
  // One that the compiler dropped is not used.
  if (found == CUDA_ERROR_NOT_FOUND) return;
  device_.check(found);
  if (bytes != content.bytes) {
    throw Failure{0, false, false,
                  fmt::format("'{}' has {} bytes, not {}", request.name, bytes, content.bytes)};
  }
  device_.check(
      device_.driver().cuMemcpyHtoD(address, memory.data() + content.offset, content.bytes));
}

RunResponse Service::run(const RunRequest& request) {
  const Driver& driver = device_.driver();
  CUevent done = nullptr;
  device_.check(driver.cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
  try {
    for (const LaunchMessage& launch : request.launches)
      device_.launch(function_of(launch), launch);
    device_.check(driver.cuEventRecord(done, device_.stream()));
    device_.finish(done, request.timeout_seconds);
  } catch (const Failure&) {
    (void)driver.cuEventDestroy(done);
    throw;
  }
  (void)driver.cuEventDestroy(done);
  const std::span<std::byte> memory = shared();
  for (const ReadMessage& one : request.reads)
    buffers_.read(one.buffer, one.offset, memory);
  return {buffers_.damaged(request.timeout_seconds)};
}

void Service::free(const FreeRequest& request) {
  for (const int name : request.buffers)
    buffers_.free(name);
  for (const int name : request.modules) {
    const auto found = modules_.find(name);
    if (found == modules_.end()) continue;
    device_.check(device_.driver().cuModuleUnload(found->second.handle));
    modules_.erase(found);
  }
}

CUfunction Service::function_of(const LaunchMessage& launch) const {
  const auto module = modules_.find(launch.module);
  if (module == modules_.end() || launch.function < 0 ||
      static_cast<std::size_t>(launch.function) >= module->second.functions.size()) {
    throw Failure{0, false, false, "no such function"};
  }
  return module->second.functions[static_cast<std::size_t>(launch.function)];
}

}  // namespace regraph::gpu::worker
