#include "fleet/nats/nats_broker.h"

#include "fleet/nats/blob_store.h"
#include "fleet/nats/jetstream.h"
#include "fleet/nats/nats_boards.h"
#include "fleet/nats/nats_core.h"
#include "fleet/nats/nats_lease.h"
#include "fleet/nats/nats_library.h"
#include "fleet/nats/packing.h"
#include "fleet/nats/pull.h"
#include "fleet/nats/subjects.h"
#include "fleet/queue/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>
#include <vector>

namespace regraph::fleet {
namespace {

using Clock = std::chrono::steady_clock;

// How long those wait for a lost connection who do not wait for ever.
constexpr double kPatience = 8.0;
// And those who only tidy up.
constexpr double kMoment = 0.5;
// Whether a result is there that nobody told of, and whether the job still is; and up to a fifth as
// much again, so that a thousand who lost the connection together do not ask together.
constexpr double kPollSeconds = 5.0;
// Beyond this nobody works on a job that was handed out: it is longer than three tries take.
constexpr double kFarTooLong = 1800.0;
// An idle worker cleans up so often.
constexpr double kSweepSeconds = 20.0;
constexpr int kMostPassedOver = 100;
// Of the subjects of a stream, so that their number comes without their names.
constexpr int kBehindTheLast = 1 << 30;

const Cancellation kNever;

class NatsBroker final : public Broker {
 public:
  explicit NatsBroker(std::shared_ptr<NatsCore> core) : core_(std::move(core)), boards_(*core_) {}

  [[nodiscard]] Result<std::string> ask(const Job& job, const Cancellation& cancellation) override;
  void take_back(const Job& job) override;
  [[nodiscard]] Status keep(const Hash128& id, std::string_view bytes,
                            const Cancellation& cancellation) override;
  [[nodiscard]] Result<LaneState> state(const std::string& lane) override;
  [[nodiscard]] Result<std::unique_ptr<Lease>> take(std::span<const std::string> lanes,
                                                    double seconds,
                                                    const Cancellation& cancellation) override;
  [[nodiscard]] Result<std::string> fetch(const Hash128& id) override;
  [[nodiscard]] Status post(Board board, const std::string& key, std::string_view text) override {
    return boards_.post(board, key, text);
  }
  [[nodiscard]] Result<std::string> read(Board board, const std::string& key) override {
    return boards_.read(board, key);
  }
  [[nodiscard]] Status withdraw(Board board, const std::string& key) override {
    return boards_.withdraw(board, key);
  }
  [[nodiscard]] Result<std::map<std::string, std::string>> notices(Board board,
                                                                   std::size_t most) override {
    return boards_.notices(board, most);
  }

 private:
  using Session = std::shared_ptr<NatsSession>;
  // The result, or nothing after it was seen to that the job is queued. `since`: when it was, as
  // far as this broker knows.
  [[nodiscard]] Result<std::optional<std::string>> result_or_queue(
      NatsSession& session, const Job& job, const std::string& packed, Clock::time_point& since,
      const Cancellation& cancellation);
  // False where the server refuses it: it waits there already, or somebody is at it.
  [[nodiscard]] static Result<bool> queue(NatsSession& session, const Job& job,
                                          const std::string& packed,
                                          const Cancellation& cancellation);
  // Null where the job need not be done.
  [[nodiscard]] Result<std::unique_ptr<Lease>> accept(NatsSession& session, const std::string& lane,
                                                      Message message,
                                                      const Cancellation& cancellation);

  std::shared_ptr<NatsCore> core_;
  BlobStore blobs_;
  NatsBoards boards_;
};

Result<std::optional<std::string>> NatsBroker::result_or_queue(NatsSession& session, const Job& job,
                                                               const std::string& packed,
                                                               Clock::time_point& since,
                                                               const Cancellation& cancellation) {
  auto found = core_->results.find(session, job.id, cancellation);
  if (!found || *found) return found;
  auto queued = queue(session, job, packed, cancellation);
  const double waited = std::chrono::duration<double>(Clock::now() - since).count();
  if (queued && !*queued && waited > kPollSeconds) {
    const auto swept = waited > kFarTooLong
                           ? LaneSweeper::remove_lost(session, job, cancellation)
                           : core_->sweeper.sweep(session, job.lane, kPollSeconds, cancellation);
    if (!swept) return swept.error();
    if (*swept) queued = queue(session, job, packed, cancellation);
  }
  if (!queued) return queued.error();
  if (*queued) since = Clock::now();
  return std::optional<std::string>();
}

Result<bool> NatsBroker::queue(NatsSession& session, const Job& job, const std::string& packed,
                               const Cancellation& cancellation) {
  const std::string subject = job_subject(job.lane, job.id);
  const auto answer = store(
      session, {.subject = subject, .data = packed, .reply = {}, .headers = {}}, cancellation);
  if (!answer) return answer.error();
  const bool there = answer->refusal == ApiRefusal::store_failed &&
                     answer->description.find("per subject") != std::string::npos;
  if (answer->refusal != ApiRefusal::none && !there)
    return refused_by_server("queue a job", *answer);
  return !there;
}

Result<std::string> NatsBroker::ask(const Job& job, const Cancellation& cancellation) {
  if (const Status good = check_lane(job.lane); !good) return good.error();
  const auto packed = pack_text(job.payload);
  if (!packed) return packed.error();
  thread_local std::minstd_rand random(std::random_device{}());
  std::uniform_real_distribution<double> poll(kPollSeconds, kPollSeconds * 1.2);
  // Before the first look, so that nothing falls in between.
  auto waiter = core_->watch.expect(job.id);
  Clock::time_point since = Clock::now();
  while (true) {
    const NatsSession* looked_with = nullptr;
    const auto look = [&](const Session& session) -> Result<std::optional<std::string>> {
      looked_with = session.get();
      if (const Status attends = core_->watch.attend(session); !attends) return attends.error();
      return result_or_queue(*session, job, *packed, since, cancellation);
    };
    auto found = core_->attempts->run(Attempts::kNoLimit, cancellation, look);
    if (!found) return found.error();
    if (*found) return **std::move(found);
    waiter.wait(poll(random), *core_->connection, looked_with, cancellation);
    if (cancellation.requested())
      return fail(ErrorCode::cancelled, "cancelled while a job was waited for");
  }
}

void NatsBroker::take_back(const Job& job) {
  if (!check_lane(job.lane)) return;
  (void)core_->attempts->run(kMoment, kNever, [&](const Session& session) {
    return LaneSweeper::remove(*session, job, kNever);
  });
}

Status NatsBroker::keep(const Hash128& id, std::string_view bytes,
                        const Cancellation& cancellation) {
  if (hash_text(bytes) != id)
    return fail(ErrorCode::invalid_argument, "bytes to be kept do not have the hash given");
  return core_->attempts->run(kPatience, cancellation, [&](const Session& session) {
    return blobs_.keep(*session, id, bytes, cancellation);
  });
}

Result<std::string> NatsBroker::fetch(const Hash128& id) {
  return core_->attempts->run(kPatience, kNever, [&](const Session& session) {
    return blobs_.fetch(*session, id, kNever);
  });
}

Result<LaneState> NatsBroker::state(const std::string& lane) {
  if (const Status good = check_lane(lane); !good) return good.error();
  return core_->attempts->run(kPatience, kNever, [&](const Session& session) -> Result<LaneState> {
    // The stream has all, one subject each; its consumer, once there was a worker, knows what is
    // under way.
    const auto info =
        ask_api(*session, fmt::format("STREAM.INFO.{}", kJobStream),
                {{"subjects_filter", lane_subjects(lane)}, {"offset", kBehindTheLast}}, kNever);
    if (!info) return info.error();
    if (info->refusal != ApiRefusal::none) return refused_by_server("count jobs", *info);
    const auto consumer =
        ask_api(*session, fmt::format("CONSUMER.INFO.{}.{}", kJobStream, lane_token(lane)), nullptr,
                kNever);
    if (!consumer) return consumer.error();
    const auto jobs =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, number_in(info->content, "total")));
    const auto under_way = static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, number_in(consumer->content, "num_ack_pending")));
    return LaneState{.waiting = jobs - std::min(jobs, under_way),
                     .under_way = std::min(jobs, under_way)};
  });
}

Result<std::unique_ptr<Lease>> NatsBroker::accept(NatsSession& session, const std::string& lane,
                                                  Message message,
                                                  const Cancellation& cancellation) {
  const auto id = job_of_subject(message.subject, lane);
  auto payload = unpack(message.data, kLargestText);
  if (!id || !payload) {
    core_->reporter.tell("garbage in " + lane,
                         fmt::format("a job of lane {} cannot be read and was removed", lane));
    tell_consumer(session, message.reply, kNeverAgain);
    return std::unique_ptr<Lease>();
  }
  const auto known = core_->results.find(session, *id, cancellation);
  if (!known) {
    tell_consumer(session, message.reply, kGiveBack);
    return known.error();
  }
  if (*known) {
    // It came back after its lease while its worker was still at it, or that one died just before
    // it said so.
    ResultStore::announce(session, *id);
    tell_consumer(session, message.reply, kAcknowledged);
    return std::unique_ptr<Lease>();
  }
  return std::unique_ptr<Lease>(std::make_unique<NatsLease>(
      core_, Job{.lane = lane, .id = *id, .payload = *std::move(payload)}, std::move(message.reply),
      session.new_inbox()));
}

Result<std::unique_ptr<Lease>> NatsBroker::take(std::span<const std::string> lanes, double seconds,
                                                const Cancellation& cancellation) {
  for (const std::string& lane : lanes)
    if (const Status good = check_lane(lane); !good) return good.error();
  if (lanes.empty()) return std::unique_ptr<Lease>();
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e8)));
  const auto left = [&] {
    return std::max(0.0, std::chrono::duration<double>(end - Clock::now()).count());
  };
  const auto next = [&](const Session& session) -> Result<std::unique_ptr<Lease>> {
    // Jobs that need not be done are no reason to come back with nothing, but there may be no end
    // of them.
    for (int passed_over = 0; passed_over < kMostPassedOver || left() > 0.0; ++passed_over) {
      auto pulled = pull_job(session, core_->consumers, lanes, left(), cancellation);
      if (!pulled) return pulled.error();
      if (!*pulled) {
        for (const std::string& lane : lanes)
          (void)core_->sweeper.sweep(*session, lane, kSweepSeconds, cancellation);
        return std::unique_ptr<Lease>();
      }
      auto lease =
          accept(*session, lanes[(*pulled)->lane], std::move((*pulled)->message), cancellation);
      if (!lease || *lease != nullptr) return lease;
    }
    return std::unique_ptr<Lease>();
  };
  auto taken = core_->attempts->run(seconds, cancellation, next);
  if (!taken && taken.error().code == ErrorCode::cancelled) return std::unique_ptr<Lease>();
  return taken;
}

}  // namespace

bool nats_is_built_in() {
  return true;
}

Result<std::unique_ptr<Broker>> connect_nats(const NatsOptions& options) {
  const auto candidates = nats_candidates();
  auto api = load_nats(candidates);
  if (!api) return api.error();
  auto core = std::make_shared<NatsCore>(options);
  auto connection = NatsConnection::open(
      *std::move(api), options, core->reporter,
      [setup = core->setup](NatsSession& session, const Cancellation& cancellation) {
        return setup.ensure_streams(session, cancellation);
      });
  if (!connection) return connection.error();
  core->connection = *std::move(connection);
  core->attempts = std::make_unique<Attempts>(*core->connection, core->setup, core->reporter);
  return std::unique_ptr<Broker>(std::make_unique<NatsBroker>(std::move(core)));
}

}  // namespace regraph::fleet
