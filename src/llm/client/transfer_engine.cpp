#include "llm/client/transfer_engine.h"

#include "llm/client/curl_transfer.h"

#include <fmt/format.h>

#include <csignal>
#include <deque>
#include <thread>
#include <unistd.h>
#include <vector>

namespace regraph::llm {
namespace {

// How often cancellations and slow bodies are looked for while something is in flight.
constexpr int kPollMilliseconds = 20;
constexpr int kIdleMilliseconds = 60'000;
constexpr long kIdleConnections = 128;

// What the program does with signals is its own matter, not of this thread; and a connection that
// breaks must not send SIGPIPE.
void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

class TransferEngine::Loop {
 public:
  using TransferPointer = std::shared_ptr<CurlTransfer>;

  Loop(std::shared_ptr<const CurlApi> api, TransferOptions options)
      : api_(std::move(api)), options_(std::move(options)) {}

  ~Loop() {
    if (thread_.joinable()) {
      {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
      }
      api_->multi_wakeup(multi_);
      thread_.join();
    }
    if (multi_ != nullptr) api_->multi_cleanup(multi_);
  }

  Status start() {
    multi_ = api_->multi_init();
    if (multi_ == nullptr) return fail(ErrorCode::resource, "libcurl gives no multi handle");
    (void)api_->multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kIdleConnections);
    thread_ = std::thread([this] {
      block_signals();
      run();
    });
    return {};
  }

  TransferPointer submit(HttpPost post, const Cancellation& cancellation) {
    auto transfer = std::make_shared<CurlTransfer>(api_, options_, std::move(post), cancellation);
    if (const Status ready = transfer->prepare(); !ready.ok()) {
      transfer->abort(TransferFault::internal, ready.error().message);
      return transfer;
    }
    {
      const std::lock_guard lock(mutex_);
      arrived_.push_back(transfer);
    }
    api_->multi_wakeup(multi_);
    return transfer;
  }

 private:
  void run() {
    while (!take_arrived()) {
      int running = 0;
      if (const CURLMcode code = api_->multi_perform(multi_, &running); code != CURLM_OK)
        end_all(TransferFault::internal, api_->multi_strerror(code));
      finish_done();
      end_unwanted();
      (void)api_->multi_poll(multi_, nullptr, 0,
                             active_.empty() ? kIdleMilliseconds : kPollMilliseconds, nullptr);
    }
    end_all(TransferFault::cancelled, "the client ends");
  }

  // Returns whether to stop.
  bool take_arrived() {
    std::deque<TransferPointer> arrived;
    bool stopping = false;
    {
      const std::lock_guard lock(mutex_);
      arrived.swap(arrived_);
      stopping = stopping_;
    }
    for (TransferPointer& transfer : arrived) {
      const CURLMcode code = api_->multi_add_handle(multi_, transfer->handle());
      if (code == CURLM_OK) {
        active_.push_back(std::move(transfer));
      } else {
        transfer->abort(TransferFault::internal, api_->multi_strerror(code));
      }
    }
    return stopping;
  }

  void finish_done() {
    int left = 0;
    while (const CURLMsg* const message = api_->multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      // The message does not outlive the removal.
      const CURLcode code = message->data.result;
      CURL* const handle = message->easy_handle;
      for (std::size_t i = 0; i < active_.size(); ++i) {
        if (active_[i]->handle() != handle) continue;
        const TransferPointer transfer = remove(i);
        transfer->finish(code);
        break;
      }
    }
  }

  void end_unwanted() {
    const auto now = CurlTransfer::Clock::now();
    for (std::size_t i = active_.size(); i-- > 0;) {
      if (active_[i]->cancelled()) {
        remove(i)->abort(TransferFault::cancelled, "cancelled");
      } else if (active_[i]->too_slow(now)) {
        remove(i)->abort(TransferFault::slow,
                         fmt::format("the answer came with less than {} bytes in {} s",
                                     options_.slow_bytes, options_.slow_seconds));
      }
    }
  }

  void end_all(TransferFault fault, const char* message) {
    while (!active_.empty())
      remove(active_.size() - 1)->abort(fault, message);
  }

  TransferPointer remove(std::size_t index) {
    std::swap(active_[index], active_.back());
    TransferPointer transfer = std::move(active_.back());
    active_.pop_back();
    (void)api_->multi_remove_handle(multi_, transfer->handle());
    return transfer;
  }

  const std::shared_ptr<const CurlApi> api_;
  const TransferOptions options_;
  CURLM* multi_ = nullptr;
  std::vector<TransferPointer> active_;  // of the thread
  std::mutex mutex_;
  std::deque<TransferPointer> arrived_;
  bool stopping_ = false;
  std::thread thread_;
};

TransferEngine::TransferEngine(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
TransferEngine::~TransferEngine() = default;

Result<std::unique_ptr<TransferEngine>> TransferEngine::create(std::shared_ptr<const CurlApi> api,
                                                               TransferOptions options) {
  if (!options.ca_file.empty() && ::access(options.ca_file.c_str(), R_OK) != 0)
    return fail(ErrorCode::not_found,
                options.ca_file + ": the file of certificates cannot be read");
  auto loop = std::make_unique<Loop>(std::move(api), std::move(options));
  if (const Status started = loop->start(); !started.ok()) return started.error();
  return std::unique_ptr<TransferEngine>(new TransferEngine(std::move(loop)));
}

HttpOutcome TransferEngine::perform(HttpPost post, const Cancellation& cancellation) {
  if (cancellation.requested()) {
    HttpOutcome outcome;
    outcome.fault = TransferFault::cancelled;
    outcome.message = "cancelled";
    return outcome;
  }
  return loop_->submit(std::move(post), cancellation)->wait();
}

}  // namespace regraph::llm
