#include "fleet/queue/memory_broker.h"

#include "fleet/broker_contract.h"

#include <gtest/gtest.h>

namespace regraph::fleet {
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

}  // namespace
}  // namespace regraph::fleet
