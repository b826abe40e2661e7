#include "eval/gpu/protocol/gpu_process.h"

#include <fmt/format.h>

#include <cstdlib>
#include <unistd.h>

namespace regraph::gpu {
namespace {

// For moving data and for what the driver does beside the kernel itself.
constexpr double kGrace = 30.0;
// After a kernel's own time is up the worker says so and ends; this is for one that cannot.
constexpr double kTimeoutGrace = 3.0;
// A keeper kills what is below it; only the driver can hold that up.
constexpr double kKeeperGrace = 10.0;
// For a wrapper to write its report.
constexpr double kReportGrace = 30.0;

Failure lost(const std::string& message, bool timeout = false) {
  return {0, true, timeout, message};
}

// Wrappers may be scripts, and have files of their own.
void add_wrapper_environment(std::vector<std::string>& environment) {
  for (const char* name : {"PATH", "HOME", "TMPDIR"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) environment.push_back(std::string(name) + "=" + value);
  }
}

Result<std::pair<ServiceProcess, SharedMemory>> launch(
    const std::filesystem::path& program, const std::vector<std::string>& wrapper = {}) {
  Result<SharedMemory> shared = SharedMemory::create();
  if (!shared.ok()) return shared.error();
  SpawnRequest request;
  request.program = program;
  request.environment = gpu_environment();
  request.descriptors = {shared->descriptor()};
  if (!wrapper.empty()) {
    request.arguments = {"--keep"};
    request.arguments.insert(request.arguments.end(), wrapper.begin(), wrapper.end());
    // A wrapper need not hand descriptors on.
    const std::string memory = fmt::format("/proc/{}/fd/{}", ::getpid(), shared->descriptor());
    for (const std::string& argument : {program.string(), std::string("--shared"), memory})
      request.arguments.push_back(argument);
    add_wrapper_environment(request.environment);
  }
  Result<ServiceProcess> process =
      ServiceProcess::start(request, wrapper.empty() ? 0.0 : kKeeperGrace);
  if (!process.ok()) return process.error();
  return std::pair(std::move(*process), std::move(*shared));
}

Error error_of(const Failure& failure) {
  const bool none = failure.message.find("no CUDA driver") != std::string::npos ||
                    failure.message.find("shows no GPU") != std::string::npos ||
                    failure.message.find("there is no GPU") != std::string::npos;
  const bool old = failure.message.find("too old") != std::string::npos;
  return fail(none  ? ErrorCode::not_found
              : old ? ErrorCode::unsupported
                    : ErrorCode::resource,
              failure.message);
}

Result<DeviceProperties> device_of(const Result<std::string>& answer) {
  if (!answer.ok()) return answer.error();
  const Result<Message> message = Message::decode(*answer);
  if (!message.ok()) return message.error();
  if (message->operation() == "failure") {
    const auto failure = message->fields<Failure>();
    return failure.ok() ? error_of(*failure) : failure.error();
  }
  return message->fields<DeviceProperties>();
}

}  // namespace

std::vector<std::string> gpu_environment() {
  std::vector<std::string> kept;
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "LD_LIBRARY_PATH",
                           "NVIDIA_VISIBLE_DEVICES", "CUDA_CACHE_DISABLE"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) kept.push_back(std::string(name) + "=" + value);
  }
  return kept;
}

Result<DeviceProperties> probe_gpu(const std::filesystem::path& program, int device,
                                   const Cancellation& cancellation) {
  auto started = launch(program);
  if (!started.ok()) return started.error();
  return device_of(started->first.ask(encode("probe", ProbeRequest{device}),
                                      GpuWorkerConfiguration().start_seconds, cancellation));
}

Result<std::unique_ptr<GpuProcess>> GpuProcess::start(const GpuWorkerConfiguration& configuration,
                                                      const Cancellation& cancellation) {
  auto started = launch(configuration.program, configuration.wrapper);
  if (!started.ok()) return started.error();
  std::unique_ptr<GpuProcess> process(
      new GpuProcess(std::move(started->first), std::move(started->second)));
  process->wrapped_ = !configuration.wrapper.empty();
  Result<DeviceProperties> device = device_of(process->process_.ask(
      encode("open", OpenRequest{configuration.device, configuration.harness}),
      configuration.start_seconds, cancellation));
  if (!device.ok()) {
    process->give_up(cancellation);
    return device.error();
  }
  process->device_ = std::move(*device);
  return process;
}

// A wrapper reports what went wrong once its program has ended.
void GpuProcess::give_up(const Cancellation& stop) {
  if (wrapped_) (void)process_.finish(kReportGrace, stop);
  process_.kill();
}

template <typename Request>
Result<Message, Failure> GpuProcess::ask(const char* operation, const Request& request,
                                         double seconds, const Cancellation& stop) {
  const Result<std::string> answer = process_.ask(encode(operation, request), seconds, stop);
  if (!answer.ok()) {
    return lost("the GPU worker: " + answer.error().message,
                answer.error().code == ErrorCode::resource);
  }
  Result<Message> message = Message::decode(*answer);
  if (!message.ok()) {
    process_.kill();
    return lost("the GPU worker: " + message.error().message);
  }
  if (message->operation() != "failure") return std::move(*message);
  const Result<Failure> failure = message->fields<Failure>();
  if (!failure.ok() || failure->final) give_up(stop);
  return failure.ok() ? *failure : lost("the GPU worker: " + failure.error().message);
}

template <typename Response, typename Request>
Result<Response, Failure> GpuProcess::ask_for(const char* operation, const Request& request,
                                              double seconds, const Cancellation& stop) {
  Result<Message, Failure> message = ask(operation, request, seconds, stop);
  if (!message.ok()) return message.error();
  Result<Response> fields = message->fields<Response>();
  if (fields.ok()) return std::move(*fields);
  process_.kill();
  return lost("the GPU worker: " + fields.error().message);
}

Result<LoadResponse, Failure> GpuProcess::load(const LoadRequest& request,
                                               const Cancellation& stop) {
  return ask_for<LoadResponse>("load", request, kGrace, stop);
}

Result<AllocateResponse, Failure> GpuProcess::allocate(const AllocateRequest& request,
                                                       const Cancellation& stop) {
  return ask_for<AllocateResponse>("allocate", request, kGrace, stop);
}

Result<void, Failure> GpuProcess::set_symbol(const SymbolRequest& request,
                                             const Cancellation& stop) {
  Result<Message, Failure> message = ask("symbol", request, kGrace, stop);
  if (!message.ok()) return message.error();
  return {};
}

Result<RunResponse, Failure> GpuProcess::run(const RunRequest& request, const Cancellation& stop) {
  const double copying = request.reads.empty() ? 0.0 : kGrace;
  return ask_for<RunResponse>("run", request, request.timeout_seconds + kTimeoutGrace + copying,
                              stop);
}

Result<TimeResponse, Failure> GpuProcess::time(const TimeRequest& request,
                                               const Cancellation& stop) {
  return ask_for<TimeResponse>("time", request, request.timeout_seconds + kTimeoutGrace, stop);
}

Result<ProfileResponse, Failure> GpuProcess::profile(const ProfileRequest& request,
                                                     const Cancellation& stop) {
  // The profiler sets itself up, and every pass prepares and runs.
  constexpr double kMostPasses = 16.0;
  return ask_for<ProfileResponse>("profile", request,
                                  kGrace + kMostPasses * request.timeout_seconds, stop);
}

Result<void, Failure> GpuProcess::free(const FreeRequest& request, const Cancellation& stop) {
  Result<Message, Failure> message = ask("free", request, kGrace, stop);
  if (!message.ok()) return message.error();
  return {};
}

}  // namespace regraph::gpu
