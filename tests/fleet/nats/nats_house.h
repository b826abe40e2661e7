// Brokers over a server that a test started.
#pragma once

#include "fleet/broker_contract.h"
#include "fleet/nats/nats_broker.h"
#include "fleet/nats_server.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace regraph::fleet {

inline constexpr const char* kNatsServerPackage =
    "nats-server (Debian: apt-get install nats-server)";

// What brokers tell people.
class Told {
 public:
  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    texts_.push_back(text);
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    const std::lock_guard lock(mutex_);
    return texts_;
  }
  [[nodiscard]] int count(const std::string& part) const {
    int count = 0;
    for (const std::string& text : texts())
      if (text.find(part) != std::string::npos) ++count;
    return count;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

class NatsHouse final : public BrokerHouse {
 public:
  explicit NatsHouse(double lease_seconds = kLeaseSeconds);
  [[nodiscard]] Broker& broker() override { return *broker_; }
  [[nodiscard]] Broker& another() override { return *another_; }
  [[nodiscard]] NatsServer& server() { return server_; }
  [[nodiscard]] NatsOptions options();
  [[nodiscard]] const Told& told() const { return *told_; }

 private:
  double lease_seconds_;
  std::shared_ptr<Told> told_ = std::make_shared<Told>();
  NatsServer server_;
  std::unique_ptr<Broker> broker_;
  std::unique_ptr<Broker> another_;
};

}  // namespace regraph::fleet
