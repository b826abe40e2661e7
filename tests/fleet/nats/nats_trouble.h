// A server that a test may do anything to, and a stranger who may write there.
#pragma once

#include "base/cancellation.h"
#include "fleet/contract_people.h"
#include "fleet/nats/jetstream.h"
#include "fleet/nats/nats_house.h"
#include "fleet/nats/nats_library.h"
#include "fleet/nats/nats_session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace regraph::fleet {

inline const std::string kLane = "predict-1.0";

class NatsTrouble : public testing::Test {
 protected:
  void SetUp() override {
    if (!NatsServer::program()) GTEST_SKIP() << "needs " << kNatsServerPackage;
  }
  // Opened at first use, with the options of the test.
  NatsHouse& house(double lease_seconds = kLeaseSeconds) {
    if (house_ == nullptr) house_ = std::make_unique<NatsHouse>(lease_seconds);
    return *house_;
  }
  // Of somebody who writes what they like.
  NatsSession& stranger() {
    if (stranger_ == nullptr || !stranger_->alive()) {
      const auto candidates = nats_candidates();
      stranger_ = NatsSession::open(*load_nats(candidates), house().options()).value();
    }
    return *stranger_;
  }
  void write(const std::string& subject, const std::string& data) {
    const auto answer =
        store(stranger(), {.subject = subject, .data = data, .reply = {}, .headers = {}}, kNever);
    ASSERT_TRUE(answer.ok() && answer->refusal == ApiRefusal::none);
  }
  void remove_stream(const std::string& name) {
    const auto answer = ask_api(stranger(), "STREAM.DELETE." + name, nullptr, kNever);
    ASSERT_TRUE(answer.ok() && answer->refusal == ApiRefusal::none);
  }

 private:
  std::unique_ptr<NatsHouse> house_;
  std::shared_ptr<NatsSession> stranger_;
};

inline Job numbered(int number) {
  const std::string payload = fmt::format("job {}", number);
  return {.lane = kLane, .id = hash_text(payload), .payload = payload};
}

inline std::future<Result<std::string>> asked(Broker& broker, Job job,
                                              const Cancellation& cancellation = kNever) {
  return std::async(std::launch::async, [&broker, &cancellation, job = std::move(job)] {
    return broker.ask(job, cancellation);
  });
}

inline std::unique_ptr<Lease> taken(Broker& broker, double seconds = 10.0) {
  auto lease = broker.take({&kLane, 1}, seconds, kNever);
  EXPECT_TRUE(lease.ok()) << (lease.ok() ? "" : lease.error().message);
  return lease.ok() ? *std::move(lease) : nullptr;
}

inline bool queued(Broker& broker, std::uint64_t jobs = 1) {
  for (int look = 0; look < 500; ++look) {
    const auto state = broker.state(kLane);
    if (state.ok() && state->waiting == jobs) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace regraph::fleet
