// Results by job: written once, and said to be there.
#pragma once

#include "base/cancellation.h"
#include "base/hash.h"
#include "base/result.h"
#include "fleet/nats/bucket.h"
#include "fleet/nats/nats_session.h"
#include "fleet/nats/reporter.h"
#include "fleet/nats/subjects.h"

#include <optional>
#include <string>

namespace regraph::fleet {

// Thread-safe.
class ResultStore {
 public:
  explicit ResultStore(Reporter& reporter) : bucket_(kResultBucket), reporter_(reporter) {}

  // Nothing where there is none. What is there but cannot be read is removed, and told of once: it
  // is no result. Errors: io, cancelled.
  [[nodiscard]] Result<std::optional<std::string>> find(NatsSession& session, const Hash128& id,
                                                        const Cancellation& cancellation);
  // True where it is the first, also where an earlier attempt of this writer was, whose answer was
  // lost. `packed`: as pack() makes it. Errors: io, resource (too large), cancelled.
  [[nodiscard]] Result<bool> add(NatsSession& session, const Hash128& id, const std::string& packed,
                                 const std::string& writer, const Cancellation& cancellation);
  // Tells those who wait for the result that it is there. May be lost.
  static void announce(NatsSession& session, const Hash128& id);

 private:
  Bucket bucket_;
  Reporter& reporter_;
};

}  // namespace regraph::fleet
