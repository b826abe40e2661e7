// A broker within one process.
#pragma once

#include "fleet/queue/broker.h"

#include <memory>

namespace regraph::fleet {

// Keeps everything in memory, for as long as it lives. `lease_seconds`: see kLeaseSeconds.
// Thread-safe.
class MemoryBroker final : public Broker {
 public:
  explicit MemoryBroker(double lease_seconds = kLeaseSeconds);
  ~MemoryBroker() override;

  [[nodiscard]] Result<std::string> ask(const Job& job, const Cancellation& cancellation) override;
  void take_back(const Job& job) override;
  [[nodiscard]] Status keep(const Hash128& id, std::string_view bytes,
                            const Cancellation& cancellation) override;
  [[nodiscard]] Result<LaneState> state(const std::string& lane) override;
  [[nodiscard]] Result<std::unique_ptr<Lease>> take(std::span<const std::string> lanes,
                                                    double seconds,
                                                    const Cancellation& cancellation) override;
  [[nodiscard]] Result<std::string> fetch(const Hash128& id) override;
  [[nodiscard]] Status post(Board board, const std::string& key, std::string_view text) override;
  [[nodiscard]] Result<std::string> read(Board board, const std::string& key) override;
  [[nodiscard]] Status withdraw(Board board, const std::string& key) override;
  [[nodiscard]] Result<std::map<std::string, std::string>> notices(Board board,
                                                                   std::size_t most) override;

 private:
  struct State;
  std::shared_ptr<State> state_;  // leases hold it, too
};

}  // namespace regraph::fleet
