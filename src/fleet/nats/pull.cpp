#include "fleet/nats/pull.h"

#include "fleet/nats/jetstream.h"
#include "fleet/nats/pull_box.h"
#include "fleet/nats/subjects.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace regraph::fleet {
namespace {

using Clock = std::chrono::steady_clock;

// A request that the server forgot, e.g. as its consumer was removed, is noticed by then.
constexpr double kLongestWait = 20.0;
// The server says when a request is over; so much later it will not.
constexpr double kLate = 2.0;
// Where more workers wait than the server lets.
constexpr double kPauseWhenFull = 0.5;
// "No Messages" and "Request Timeout"; of 409 there are several.
constexpr int kNoMessages = 404;
constexpr int kOver = 408;
constexpr int kConflict = 409;

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e8)));
}

// One call of pull_job.
class Pull {
 public:
  Pull(std::shared_ptr<NatsSession> session, LaneConsumers& consumers,
       std::span<const std::string> lanes, const Cancellation& cancellation)
      : session_(std::move(session)),
        consumers_(consumers),
        lanes_(lanes),
        cancellation_(cancellation),
        box_(std::make_shared<PullBox>(session_)),
        inbox_(session_->new_inbox()),
        requests_(lanes.size()) {}

  ~Pull() {
    box_->close();
    // The server may have sent something already.
    if (listening_ != nullptr && any_waiting()) listening_->drain();
  }
  Pull(const Pull&) = delete;
  Pull& operator=(const Pull&) = delete;

  Result<std::optional<PulledJob>> run(double seconds) {
    for (const std::string& lane : lanes_)
      if (const Status made = consumers_.ensure(session_, lane, cancellation_); !made)
        return made.error();
    auto listening = session_->listen(
        inbox_ + "*", [box = box_](Message message) { box->hear(std::move(message)); });
    if (!listening) return listening.error();
    listening_ = *std::move(listening);
    const Clock::time_point end = after(seconds);
    // One lane has no order to be kept: its request may wait at once.
    if (lanes_.size() > 1 || seconds <= 0.0) {
      auto found = look_in_order();
      if (!found || *found || seconds <= 0.0) return found;
    }
    return wait_until(end);
  }

 private:
  struct Request {
    bool waiting = false;     // with the server
    Clock::time_point late;   // when an answer to it is late
    Clock::time_point again;  // not before, where it is not waiting
  };

  [[nodiscard]] bool any_waiting() const {
    return std::any_of(requests_.begin(), requests_.end(),
                       [](const Request& request) { return request.waiting; });
  }

  // `wait` 0: none.
  Status send(std::size_t lane, double wait) {
    const std::string subject =
        fmt::format("$JS.API.CONSUMER.MSG.NEXT.{}.{}", kJobStream, lane_token(lanes_[lane]));
    const std::string body =
        wait > 0.0 ? fmt::format(R"({{"batch":1,"expires":{}}})",
                                 std::max<std::int64_t>(1, static_cast<std::int64_t>(wait * 1e9)))
                   : R"({"batch":1,"no_wait":true})";
    const std::string reply = inbox_ + std::to_string(lane);
    requests_[lane] = {.waiting = true, .late = after(wait + kLate), .again = {}};
    return session_->publish({.subject = subject, .data = body, .reply = reply, .headers = {}});
  }

  // The lane a message is about; `lanes_.size()` where that is none.
  [[nodiscard]] std::size_t lane_of(const Message& message) const {
    // A job comes with its own subject, so it is its stream that says.
    std::size_t lane = lanes_.size();
    if (!is_job(message)) {
      if (!message.subject.starts_with(inbox_)) return lane;
      const char* const end = message.subject.data() + message.subject.size();
      (void)std::from_chars(message.subject.data() + inbox_.size(), end, lane);
      return std::min(lane, lanes_.size());
    }
    for (lane = 0; lane < lanes_.size(); ++lane) {
      const std::string all = lane_subjects(lanes_[lane]);
      if (message.subject.starts_with(std::string_view(all).substr(0, all.size() - 1))) break;
    }
    return lane;
  }

  // What a message means: a job, nothing, or that the lane's consumer is gone.
  Result<std::optional<PulledJob>> read(Message message) {
    const std::size_t lane = lane_of(message);
    if (lane >= lanes_.size()) return std::optional<PulledJob>();
    Request& request = requests_[lane];
    if (is_job(message)) {
      request.waiting = false;
      return std::optional(PulledJob{.lane = lane, .message = std::move(message)});
    }
    if (message.status == 0) return std::optional<PulledJob>();
    request.waiting = false;
    const bool full = message.status == kConflict && message.description.starts_with("Exceeded");
    if (full) request.again = after(kPauseWhenFull);
    if (full || message.status == kNoMessages || message.status == kOver)
      return std::optional<PulledJob>();
    return lost(lane, fmt::format("{} {}", message.status, message.description));
  }

  Error lost(std::size_t lane, const std::string& why) {
    consumers_.forget(lanes_[lane]);
    return fail(ErrorCode::io, fmt::format("the NATS server lost the consumer of lane {} ({})",
                                           lanes_[lane], why));
  }

  Result<std::optional<PulledJob>> look_in_order() {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (const Status sent = send(lane, 0.0); !sent) return sent.error();
      while (requests_[lane].waiting) {
        if (auto stop = must_stop(); !stop || *stop) return none_or(stop);
        if (auto message = box_->next(requests_[lane].late)) {
          auto found = read(*std::move(message));
          if (!found || *found) return found;
        }
      }
    }
    return std::optional<PulledJob>();
  }

  Result<std::optional<PulledJob>> wait_until(Clock::time_point end) {
    while (true) {
      if (auto stop = must_stop(); !stop || *stop) return none_or(stop);
      const double left = std::chrono::duration<double>(end - Clock::now()).count();
      for (std::size_t lane = 0; lane < lanes_.size() && left > 0.0; ++lane) {
        if (requests_[lane].waiting || Clock::now() < requests_[lane].again) continue;
        if (const Status sent = send(lane, std::min(left, kLongestWait)); !sent)
          return sent.error();
      }
      // The server says of each request that it is over: until then it may bring a job.
      if (left <= 0.0 && !any_waiting()) return std::optional<PulledJob>();
      if (auto message = box_->next(left > 0.0 ? end : after(kLate))) {
        auto found = read(*std::move(message));
        if (!found || *found) return found;
      }
    }
  }

  // True when cancelled. Errors: io where no answer will come.
  Result<bool> must_stop() {
    if (cancellation_.requested()) return true;
    if (!session_->alive()) return fail(ErrorCode::io, "the connection to the NATS server is lost");
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
      if (requests_[lane].waiting && Clock::now() > requests_[lane].late)
        return lost(lane, "it does not answer");
    return false;
  }

  static Result<std::optional<PulledJob>> none_or(const Result<bool>& stop) {
    if (!stop) return stop.error();
    return std::optional<PulledJob>();
  }

  std::shared_ptr<NatsSession> session_;
  LaneConsumers& consumers_;
  std::span<const std::string> lanes_;
  const Cancellation& cancellation_;
  std::shared_ptr<PullBox> box_;
  std::string inbox_;
  std::vector<Request> requests_;
  std::unique_ptr<NatsSession::Listening> listening_;
};

}  // namespace

Result<std::optional<PulledJob>> pull_job(const std::shared_ptr<NatsSession>& session,
                                          LaneConsumers& consumers,
                                          std::span<const std::string> lanes, double seconds,
                                          const Cancellation& cancellation) {
  return Pull(session, consumers, lanes, cancellation).run(seconds);
}

void tell_consumer(NatsSession& session, const std::string& where, std::string_view what) {
  (void)session.publish({.subject = where, .data = what, .reply = {}, .headers = {}});
}

}  // namespace regraph::fleet
