// What every broker keeps to: tests that run over each (broker_contract*.cpp).
#pragma once

#include "fleet/queue/broker.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

namespace regraph::fleet {

// Brokers that share what they keep, with what they need to live.
class BrokerHouse {
 public:
  virtual ~BrokerHouse() = default;
  [[nodiscard]] virtual Broker& broker() = 0;
  // Of another process, as it were; may be the same.
  [[nodiscard]] virtual Broker& another() = 0;
};

struct BrokerKind {
  std::string name;
  // Null where it cannot be had here.
  std::function<std::unique_ptr<BrokerHouse>(double lease_seconds)> build;
  std::string missing;  // what is to be installed then
};

inline void PrintTo(const BrokerKind& kind, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << kind.name;
}

class BrokerContract : public testing::TestWithParam<BrokerKind> {
 protected:
  // Once a test, first of all. False: skipped.
  [[nodiscard]] bool open(double lease_seconds = 15.0);
  [[nodiscard]] Broker& broker() { return house_->broker(); }
  [[nodiscard]] Broker& another() { return house_->another(); }

 private:
  std::unique_ptr<BrokerHouse> house_;
};

// The first line of each test.
#define OPEN_OR_SKIP(...) \
  if (!open(__VA_ARGS__)) GTEST_SKIP() << "needs " << GetParam().missing

inline std::string name_of_kind(const testing::TestParamInfo<BrokerKind>& info) {
  return info.param.name;
}

}  // namespace regraph::fleet
