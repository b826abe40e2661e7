// A job of the server's in a worker's hands.
#pragma once

#include "fleet/nats/nats_core.h"
#include "fleet/nats/nats_message.h"
#include "fleet/queue/job_source.h"

#include <memory>
#include <string>
#include <string_view>

namespace regraph::fleet {

class NatsLease final : public Lease {
 public:
  // `place`: where the job is acknowledged.
  NatsLease(std::shared_ptr<NatsCore> core, Job job, std::string place, std::string writer);

  [[nodiscard]] const Job& job() const override { return job_; }
  [[nodiscard]] int deliveries() const override { return deliveries_; }
  void extend() override;
  [[nodiscard]] Result<bool> finish(std::string_view result,
                                    const Cancellation& cancellation) override;
  void give_back(double seconds) override;

 private:
  void tell(std::string_view what);

  std::shared_ptr<NatsCore> core_;
  Job job_;
  std::string place_;
  std::string writer_;  // nobody else's
  int deliveries_ = 1;
};

// Takes a job whose result is safe off the queue. Returns once the server says so, or after a few
// attempts: a job that stays is taken off by whoever gets it next. Errors: cancelled.
Status acknowledge(NatsCore& core, const std::string& place, const Cancellation& cancellation);

// How often a job was handed out, from the place: 1 where that does not say.
[[nodiscard]] int deliveries_in(std::string_view place);

}  // namespace regraph::fleet
