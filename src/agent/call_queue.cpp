#include "agent/call_queue.h"

#include <exception>
#include <utility>

namespace regraph::agent {

CallQueue::CallQueue(std::function<std::unique_ptr<CallWorker>()> worker, Done done, Told told)
    : make_worker_(std::move(worker)),
      done_(std::move(done)),
      told_(std::move(told)),
      thread_([this] { work(); }) {}

CallQueue::~CallQueue() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    for (const auto& entry : waiting_)
      entry->cancellation.request();
    if (running_) running_->cancellation.request();
  }
  changed_.notify_all();
  thread_.join();
}

void CallQueue::start(ToolCall call) {
  auto entry = std::make_shared<Entry>();
  entry->call = std::move(call);
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(entry));
  }
  changed_.notify_all();
}

void CallQueue::cancel(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  if (running_ && running_->call.number == number) running_->cancellation.request();
  for (const auto& entry : waiting_) {
    if (entry->call.number == number) entry->cancellation.request();
  }
}

void CallQueue::work() {
  const std::unique_ptr<CallWorker> worker = make_worker_();
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::shared_ptr<Entry> entry = waiting_.front();
    waiting_.pop_front();
    running_ = entry;
    lock.unlock();
    ToolResult result = failed_call("cancelled");
    if (!entry->cancellation.requested()) {
      try {
        result = worker->call(entry->call, entry->cancellation, [&](const CallProgress& progress) {
          if (told_) told_(entry->call.number, progress);
        });
      } catch (const std::exception& error) {
        result = failed_call(std::string("internal error: ") + error.what());
      }
    }
    lock.lock();
    running_.reset();
    lock.unlock();
    done_(entry->call.number, std::move(result));
  }
}

}  // namespace regraph::agent
