// Where the driver comes in: it calls InitializeInjection of the library that CUDA_INJECTION64_PATH
// names, before the program's first call is answered.
#include "capture/injection/driver_functions.h"
#include "capture/injection/seen_launches.h"
#include "capture/runtime/server_connection.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <iterator>
#include <string>

namespace regraph::capture {
namespace {

constexpr CUpti_CallbackId kLaunches[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
};

// What is asked of the driver meanwhile is no business of the program's.
thread_local bool inside = false;
thread_local bool waits = false;
SeenLaunches* launches = nullptr;  // never destroyed: programs launch while they end

// The arguments of the driver's functions one after the other, as CUPTI hands them over (its header
// generated_cuda_meta.h, which needs declarations that cuda.h no longer has).
struct LaunchArguments {
  CUfunction function;
  unsigned grid[3];
  unsigned block[3];
  unsigned dynamic_shared_bytes;
  CUstream stream;
  void** parameters;
  void** extra;  // not of cooperative launches
};
struct LaunchExArguments {
  const CUlaunchConfig* config;
  CUfunction function;
  void** parameters;
  void** extra;
};

DriverLaunch launch_of(const LaunchArguments& said, bool cooperative) {
  DriverLaunch launch;
  launch.function = said.function;
  std::copy(std::begin(said.grid), std::end(said.grid), launch.grid);
  std::copy(std::begin(said.block), std::end(said.block), launch.block);
  launch.dynamic_shared_bytes = said.dynamic_shared_bytes;
  launch.stream = said.stream;
  launch.parameters = said.parameters;
  if (!cooperative) launch.extra = said.extra;
  return launch;
}

DriverLaunch launch_of(const LaunchExArguments& said) {
  const CUlaunchConfig& config = *said.config;
  DriverLaunch launch;
  launch.function = said.function;
  launch.grid[0] = config.gridDimX;
  launch.grid[1] = config.gridDimY;
  launch.grid[2] = config.gridDimZ;
  launch.block[0] = config.blockDimX;
  launch.block[1] = config.blockDimY;
  launch.block[2] = config.blockDimZ;
  launch.dynamic_shared_bytes = config.sharedMemBytes;
  launch.stream = config.hStream;
  launch.parameters = said.parameters;
  launch.extra = said.extra;
  return launch;
}

DriverLaunch launch_of_call(CUpti_CallbackId call, const void* arguments) {
  switch (call) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      return launch_of(*static_cast<const LaunchExArguments*>(arguments));
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      return launch_of(*static_cast<const LaunchArguments*>(arguments), true);
    default:
      return launch_of(*static_cast<const LaunchArguments*>(arguments), false);
  }
}

void CUPTIAPI on_call(void* /*user*/, CUpti_CallbackDomain /*domain*/, CUpti_CallbackId call,
                      const void* given) {
  if (inside) return;
  const auto* data = static_cast<const CUpti_CallbackData*>(given);
  inside = true;
  if (data->callbackSite == CUPTI_API_ENTER) {
    const char* symbol = data->symbolName != nullptr ? data->symbolName : "";
    waits = launches->before(launch_of_call(call, data->functionParams), symbol);
  } else if (waits) {
    waits = false;
    launches->after();
  }
  inside = false;
}

void tell_the_rest() {
  inside = true;
  launches->flush();
}

struct Cupti {
  CUptiResult (*subscribe)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*) = nullptr;
  CUptiResult (*enable)(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                        CUpti_CallbackId) = nullptr;
};

bool find_cupti(Cupti& cupti) {
  const char* named = std::getenv("REGRAPH_CUPTI");
  void* library = ::dlopen(named != nullptr ? named : "libcupti.so", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return false;
  cupti.subscribe = reinterpret_cast<decltype(cupti.subscribe)>(::dlsym(library, "cuptiSubscribe"));
  cupti.enable = reinterpret_cast<decltype(cupti.enable)>(::dlsym(library, "cuptiEnableCallback"));
  return cupti.subscribe != nullptr && cupti.enable != nullptr;
}

void say(const std::string& trouble) {
  (void)ask(RequestKind::seen_trouble, {trouble.data(), trouble.size()});
}

void begin() {
  const Hello hello{kProtocolVersion, 0};
  if (ask(RequestKind::hello, {&hello, sizeof hello}).status != 0) return;  // nobody listens
  const DriverFunctions* driver = DriverFunctions::loaded();
  if (driver == nullptr) return say("the driver is older than CUDA 12.4");
  Cupti cupti;
  if (!find_cupti(cupti)) return say("CUPTI could not be loaded into the program");
  launches = new SeenLaunches(*driver);
  CUpti_SubscriberHandle subscriber = nullptr;
  if (cupti.subscribe(&subscriber, on_call, nullptr) != CUPTI_SUCCESS)
    return say("CUPTI is in use in the program already (a profiler?)");
  for (const CUpti_CallbackId call : kLaunches) {
    if (cupti.enable(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, call) != CUPTI_SUCCESS)
      say("CUPTI does not tell of some launches");
  }
  (void)std::atexit(tell_the_rest);
}

}  // namespace
}  // namespace regraph::capture

// 1: all is well. The program must run, whatever is not.
extern "C" __attribute__((visibility("default"))) int
InitializeInjection() {  // NOLINT(readability-identifier-naming): the driver asks for it
  regraph::capture::begin();
  return 1;
}
