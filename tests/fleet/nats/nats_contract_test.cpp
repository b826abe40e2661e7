#include "fleet/broker_contract.h"
#include "fleet/nats/nats_house.h"

namespace regraph::fleet {

NatsHouse::NatsHouse(double lease_seconds) : lease_seconds_(lease_seconds) {
  for (std::unique_ptr<Broker>* const broker : {&broker_, &another_}) {
    auto connected = connect_nats(options());
    if (!connected) {
      ADD_FAILURE() << connected.error().message;
      std::abort();
    }
    *broker = *std::move(connected);
  }
}

NatsOptions NatsHouse::options() {
  NatsOptions options;
  options.server = server_.address();
  options.lease_seconds = lease_seconds_;
  options.report = [told = told_](const std::string& text) { told->add(text); };
  return options;
}

namespace {

std::unique_ptr<BrokerHouse> build_nats(double lease_seconds) {
  if (!NatsServer::program()) return nullptr;
  return std::make_unique<NatsHouse>(lease_seconds);
}

INSTANTIATE_TEST_SUITE_P(Nats, BrokerContract,
                         testing::Values(BrokerKind{
                             .name = "Nats", .build = build_nats, .missing = kNatsServerPackage}),
                         name_of_kind);

}  // namespace
}  // namespace regraph::fleet
