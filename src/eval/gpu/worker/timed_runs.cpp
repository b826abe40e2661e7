#include "eval/gpu/worker/timed_runs.h"

#include <fmt/format.h>

#include <chrono>

namespace regraph::gpu::worker {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostSamples = 4096;

// A pair of events a sample, destroyed at the end.
class Events {
 public:
  Events(const Device& device, std::size_t count) : device_(device), events_(count, nullptr) {
    for (CUevent& event : events_)
      device_.check(device_.driver().cuEventCreate(&event, CU_EVENT_DEFAULT));
  }
  ~Events() {
    for (CUevent event : events_) {
      if (event != nullptr) (void)device_.driver().cuEventDestroy(event);
    }
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  [[nodiscard]] CUevent operator[](std::size_t i) const { return events_[i]; }

 private:
  const Device& device_;
  std::vector<CUevent> events_;
};

class TimedRuns {
 public:
  TimedRuns(const Device& device, const DeviceBuffers& buffers, const FindFunction& find,
            const TimeRequest& request)
      : device_(device),
        driver_(device.driver()),
        buffers_(buffers),
        find_(find),
        request_(request),
        events_(device, 2 * request.samples.size() + 1) {}

  TimeResponse run() {
    const Clock::time_point start = Clock::now();
    device_.check(driver_.cuCtxResetPersistingL2Cache());
    const CUevent last = events_[2 * request_.samples.size()];
    if (request_.as_graph) {
      device_.stamp(0);
      submit_graph();
      device_.stamp(1);
    } else {
      device_.stamp(0);
      submit_samples(CU_EVENT_RECORD_DEFAULT);
      device_.stamp(1);
    }
    device_.check(driver_.cuEventRecord(last, device_.stream()));
    device_.finish(last, request_.timeout_seconds);
    TimeResponse response;
    response.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    for (std::size_t i = 0; i < request_.samples.size(); ++i) {
      float milliseconds = 0.0F;
      device_.check(driver_.cuEventElapsedTime(&milliseconds, events_[2 * i], events_[2 * i + 1]));
      response.seconds.push_back(static_cast<double>(milliseconds) * 1e-3);
    }
    response.clock_hertz = device_.stamped_clock_hertz();
    return response;
  }

 private:
  // Everything is enqueued without waiting: the sweep takes longer than launching what follows, so
  // the host's part is hidden behind it.
  void submit_samples(unsigned record_flags) {
    for (std::size_t i = 0; i < request_.samples.size(); ++i) {
      const TimedPlan& plan = request_.plans[request_.samples[i]];
      for (const CopyMessage& copy : plan.restores) {
        const DeviceBuffers::Buffer& target = buffers_.at(copy.target);
        const DeviceBuffers::Buffer& source = buffers_.at(copy.source);
        device_.check(driver_.cuMemcpyDtoDAsync(target.address, source.address,
                                                std::min(target.bytes, source.bytes),
                                                device_.stream()));
      }
      for (const int name : plan.poisons) {
        const DeviceBuffers::Buffer& buffer = buffers_.at(name);
        device_.poison(buffer.address, buffer.bytes, request_.poison_seed + i);
      }
      if (request_.cold) device_.sweep_cache();
      record(events_[2 * i], record_flags);
      for (const LaunchMessage& launch : plan.launches)
        device_.launch(find_(launch), launch);
      record(events_[2 * i + 1], record_flags);
    }
  }

  void record(CUevent event, unsigned flags) const {
    device_.check(driver_.cuEventRecordWithFlags(event, device_.stream(), flags));
  }

  void submit_graph() {
    device_.check(
        driver_.cuStreamBeginCapture(device_.stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CUgraph graph = nullptr;
    try {
      submit_samples(CU_EVENT_RECORD_EXTERNAL);
    } catch (const Failure&) {
      (void)driver_.cuStreamEndCapture(device_.stream(), &graph);
      throw;
    }
    device_.check(driver_.cuStreamEndCapture(device_.stream(), &graph));
    CUgraphExec executable = nullptr;
    const CUresult made = driver_.cuGraphInstantiate(&executable, graph, 0);
    (void)driver_.cuGraphDestroy(graph);
    device_.check(made);
    const CUresult launched = driver_.cuGraphLaunch(executable, device_.stream());
    // Allowed while it runs: the driver keeps it until it is done.
    (void)driver_.cuGraphExecDestroy(executable);
    device_.check(launched);
  }

  const Device& device_;
  const Driver& driver_;
  const DeviceBuffers& buffers_;
  const FindFunction& find_;
  const TimeRequest& request_;
  Events events_;
};

}  // namespace

TimeResponse time_runs(const Device& device, const DeviceBuffers& buffers, const FindFunction& find,
                       const TimeRequest& request) {
  if (request.samples.size() > kMostSamples) {
    throw Failure{0, false, false, fmt::format("more than {} samples at once", kMostSamples)};
  }
  for (const std::uint32_t plan : request.samples) {
    if (plan >= request.plans.size()) throw Failure{0, false, false, "no such plan"};
  }
  return TimedRuns(device, buffers, find, request).run();
}

}  // namespace regraph::gpu::worker
