#include "fleet/nats/nats_connection.h"

#include "fleet/nats/nats_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

namespace regraph::fleet {
namespace {

using Clock = std::chrono::steady_clock;

// How often it is looked whether the session is still there.
constexpr double kLookSeconds = 0.04;
// Between attempts, and up to as much again: thousands of workers must not come back at once.
constexpr double kAttemptSeconds = 0.5;
constexpr std::chrono::milliseconds kLookAtCaller(40);

Clock::duration span_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e8)));
}

}  // namespace

NatsConnection::NatsConnection(std::shared_ptr<const NatsApi> api, NatsOptions options,
                               Reporter& reporter, Prepare prepare)
    : api_(std::move(api)),
      options_(std::move(options)),
      reporter_(reporter),
      prepare_(std::move(prepare)) {}

Result<std::unique_ptr<NatsConnection>> NatsConnection::open(std::shared_ptr<const NatsApi> api,
                                                             const NatsOptions& options,
                                                             Reporter& reporter, Prepare prepare) {
  std::unique_ptr<NatsConnection> connection(
      new NatsConnection(std::move(api), options, reporter, std::move(prepare)));
  auto session = connection->connect();
  if (!session) return session.error();
  connection->session_ = *std::move(session);
  connection->keeper_ = std::thread([raw = connection.get()] { raw->keep(); });
  return connection;
}

NatsConnection::~NatsConnection() {
  {
    const std::lock_guard lock(mutex_);
    stopping_.request();
  }
  stop_.notify_all();
  if (keeper_.joinable()) keeper_.join();
}

Result<std::shared_ptr<NatsSession>> NatsConnection::connect() {
  auto session = NatsSession::open(api_, options_);
  if (!session) return session;
  if (const Status prepared = prepare_(**session, stopping_); !prepared) {
    const std::string complaint = (*session)->complaint();
    // The server says no to this user, and nothing to the request.
    if (prepared.error().code == ErrorCode::io && !complaint.empty() && (*session)->alive())
      return fail(ErrorCode::permission, fmt::format("the NATS server at {} says: {}",
                                                     shown_servers(options_.server), complaint));
    return prepared.error();
  }
  return session;
}

void NatsConnection::keep() {
  std::minstd_rand random(std::random_device{}());
  const std::string where = shown_servers(options_.server);
  while (sleep(kLookSeconds)) {
    if (session() != nullptr) continue;
    reporter_.tell("lost", fmt::format("the connection to the NATS server at {} is lost; trying "
                                       "again until it is back",
                                       where));
    auto next = connect();
    if (next) {
      {
        const std::lock_guard lock(mutex_);
        std::swap(session_, *next);
      }
      found_.notify_all();
      reporter_.over("refused");
      reporter_.over("lost", fmt::format("the NATS server at {} is back", where));
      continue;
    }
    // A server that is not there was told of; one that does not want us is something else.
    if (next.error().code != ErrorCode::io) reporter_.tell("refused", next.error().message);
    const double jitter = std::uniform_real_distribution<double>(0.0, kAttemptSeconds)(random);
    if (!sleep(kAttemptSeconds + jitter)) return;
  }
}

bool NatsConnection::sleep(double seconds) {
  std::unique_lock lock(mutex_);
  return !stop_.wait_for(lock, span_of(seconds), [&] { return stopping_.requested(); });
}

std::shared_ptr<NatsSession> NatsConnection::session() const {
  const std::lock_guard lock(mutex_);
  return session_ != nullptr && session_->alive() ? session_ : nullptr;
}

Result<std::shared_ptr<NatsSession>> NatsConnection::wait(double seconds,
                                                          const Cancellation& cancellation) const {
  const Clock::time_point end = Clock::now() + span_of(seconds);
  std::unique_lock lock(mutex_);
  while (true) {
    if (session_ != nullptr && session_->alive()) return session_;
    const Clock::time_point now = Clock::now();
    if (cancellation.requested()) return fail(ErrorCode::cancelled, "cancelled");
    if (now >= end)
      return fail(ErrorCode::io, fmt::format("the connection to the NATS server at {} is lost",
                                             shown_servers(options_.server)));
    found_.wait_until(lock, std::min(end, now + kLookAtCaller));
  }
}

}  // namespace regraph::fleet
