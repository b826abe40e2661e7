// Calls one after the other on a thread of their own, so that whoever hands them in can go on
// talking.
#pragma once

#include "agent/mcp_server.h"
#include "agent/worker_process.h"
#include "base/cancellation.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace regraph::agent {

// Thread-safe.
class CallQueue final : public CallRunner {
 public:
  using Done = std::function<void(std::int64_t number, ToolResult result)>;
  using Told = std::function<void(std::int64_t number, const CallProgress& progress)>;

  // `worker` is made and used on the thread alone. `done` is called there, once a call, cancelled
  // ones too; `told` before, as often as the worker says how far it is.
  CallQueue(std::function<std::unique_ptr<CallWorker>()> worker, Done done, Told told = {});
  // Cancels all calls and waits for the thread.
  ~CallQueue() override;
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  void start(ToolCall call) override;
  void cancel(std::int64_t number) override;

 private:
  struct Entry {
    ToolCall call;
    Cancellation cancellation;
  };
  void work();

  const std::function<std::unique_ptr<CallWorker>()> make_worker_;
  const Done done_;
  const Told told_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Entry>> waiting_;
  std::shared_ptr<Entry> running_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace regraph::agent
