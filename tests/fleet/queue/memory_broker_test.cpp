#include "fleet/queue/memory_broker.h"

#include "fleet/broker_contract.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

namespace regraph::fleet::memory_broker_test {
namespace {

class MemoryHouse final : public BrokerHouse {
 public:
  explicit MemoryHouse(double lease_seconds) : broker_(lease_seconds) {}
  [[nodiscard]] Broker& broker() override { return broker_; }
  [[nodiscard]] Broker& another() override { return broker_; }

 private:
  MemoryBroker broker_;
};

INSTANTIATE_TEST_SUITE_P(Memory, BrokerContract,
                         testing::Values(BrokerKind{
                             .name = "Memory",
                             .build =
                                 [](double lease) { return std::make_unique<MemoryHouse>(lease); },
                             .missing = ""}),
                         name_of_kind);

TEST(MemoryBroker, LeasesMayOutliveTheBroker) {
  const Cancellation never;
  const std::string lane = "x";
  std::unique_ptr<Lease> lease;
  {
    MemoryBroker broker;
    Cancellation now;
    now.request();
    EXPECT_FALSE(broker.ask({.lane = lane, .id = hash_text("x"), .payload = "x"}, now).ok());
    lease = *broker.take({&lane, 1}, 1.0, never);
  }
  ASSERT_NE(lease, nullptr);
  EXPECT_TRUE(*lease->finish("y", never));
}

TEST(MemoryBroker, WorkersWhoDoNotPostAgainAreGone) {
  MemoryBroker broker;
  ASSERT_TRUE(broker.post(Board::workers, "gone", "x").ok());
  ASSERT_TRUE(broker.post(Board::workers, "there", "x").ok());
  ASSERT_TRUE(broker.post(Board::failures, "failure", "x").ok());
  std::this_thread::sleep_for(std::chrono::duration<double>(kPresenceSeconds / 2));
  ASSERT_TRUE(broker.post(Board::workers, "there", "y").ok());
  std::this_thread::sleep_for(std::chrono::duration<double>(kPresenceSeconds / 2 + 0.1));
  using Notices = std::map<std::string, std::string>;
  EXPECT_EQ(*broker.notices(Board::workers, 10), (Notices{{"there", "y"}}));
  EXPECT_EQ(*broker.read(Board::workers, "gone"), "");
  EXPECT_EQ(*broker.read(Board::failures, "failure"), "x");
}

}  // namespace
}  // namespace regraph::fleet::memory_broker_test
