#include "fleet_worker/model_place.h"

#include "fleet_worker/failure_notice.h"
#include "fleet_worker/lease_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace regraph::fleet {
namespace {

// When a failure was the server's: by then no other place of this worker waits for jobs any more,
// so that another worker gets it.
constexpr double kElsewhereSeconds = kTakeSeconds + 0.5;
constexpr std::chrono::milliseconds kRestPoll{20};

// Whether another try, or another worker, may do better.
bool is_of_the_server(llm::ChatFailure failure) {
  switch (failure) {
    case llm::ChatFailure::rejected:
    case llm::ChatFailure::malformed:  // asked again already, and paid for
      return false;
    default:
      return true;
  }
}

llm::ChatError refused(std::string message) {
  return {llm::ChatFailure::rejected, std::move(message), 0, {}};
}

}  // namespace

void ServerRest::failed(bool lasting) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (now < until_ && !lasting) return;
  next_seconds_ = lasting
                      ? longest_seconds_
                      : std::min(std::max(first_seconds_, 2.0 * next_seconds_), longest_seconds_);
  until_ = now + std::chrono::duration_cast<Clock::duration>(
                     std::chrono::duration<double>(next_seconds_));
}

void ServerRest::worked() {
  const std::lock_guard lock(mutex_);
  next_seconds_ = 0.0;
  until_ = {};
}

void ServerRest::wait(const Cancellation& leave) const {
  const auto is_over = [this] {
    const std::lock_guard lock(mutex_);
    return Clock::now() >= until_;
  };
  while (!leave.requested() && !is_over())
    std::this_thread::sleep_for(kRestPoll);
}

void ModelPlace::run() {
  take_jobs(
      broker_, options_.self.lanes, options_.report, leave_, [this](Lease& lease) { work(lease); },
      [this] { rest_.wait(leave_); });
}

void ModelPlace::work(Lease& lease) {
  auto job = read_chat_job(lease.job().payload);
  if (!job) return answer(lease, refused("the job cannot be read: " + job.error().message));
  if (job->request.model != options_.model) {
    return answer(lease, refused(fmt::format("'{}' is asked for here, and not '{}'", options_.model,
                                             job->request.model)));
  }
  llm::ChatResult result =
      llm::ChatError{llm::ChatFailure::unreachable,
                     fmt::format("{} workers went away with it", lease.deliveries() - 1),
                     0,
                     {}};
  if (lease.deliveries() <= kMostDeliveries) result = ask(lease, job->request);
  if (result || !is_of_the_server(result.error().failure)) {
    answer(lease, std::move(result));
  } else if (result.error().failure == llm::ChatFailure::cancelled) {
    lease.give_back(kRetrySeconds);
  } else if (was_last_try(broker_, lease, options_.self.name, result.error().message,
                          options_.report, kElsewhereSeconds)) {
    answer(lease, std::move(result));
  }
}

llm::ChatResult ModelPlace::ask(Lease& lease, const llm::ChatRequest& request) {
  tally_.began(lease.job().id.hex());
  const auto start = std::chrono::steady_clock::now();
  bool stood_still = false;
  llm::ChatResult result = [&] {
    const LeaseKeeper keeper(lease);
    auto said = model_.complete(request, stop_);
    stood_still = keeper.stood_still();
    return said;
  }();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  tally_.ended(seconds.count(), result.ok());
  if (result) {
    rest_.worked();
    return result;
  }
  const llm::ChatFailure failure = result.error().failure;
  // Time that passed while nothing ran is not the server's.
  if (stood_still && failure == llm::ChatFailure::timed_out)
    return llm::ChatError{llm::ChatFailure::cancelled, "the worker stood still", 0, {}};
  if (is_of_the_server(failure) && failure != llm::ChatFailure::cancelled)
    rest_.failed(llm::is_permanent(failure));
  return result;
}

void ModelPlace::answer(Lease& lease, llm::ChatResult result) {
  const auto first = lease.finish(reply_text({std::move(result), options_.self.name}), stop_);
  if (first || first.error().code != ErrorCode::resource) return;
  (void)lease.finish(
      reply_text({refused("the answer: " + first.error().message), options_.self.name}), stop_);
}

}  // namespace regraph::fleet
