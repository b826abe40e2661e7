// The end of those who do jobs.
#pragma once

#include "base/cancellation.h"
#include "base/hash.h"
#include "base/result.h"
#include "fleet/queue/job.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace regraph::fleet {

// A job that is this worker's for now. Destroyed without finish() or give_back() it comes back when
// the lease runs out. For one thread at a time.
class Lease {
 public:
  virtual ~Lease() = default;
  [[nodiscard]] virtual const Job& job() const = 0;
  // How often it was handed out, this time included: 1 at first.
  [[nodiscard]] virtual int deliveries() const = 0;
  // Says that the job is being worked on: the lease runs for another kLeaseSeconds from now. A lost
  // connection is no error: then somebody else may get the job, too.
  virtual void extend() = 0;
  // Writes the result unless there is one, and takes the job off the queue once the result is
  // safe. True where it was the first. Tries again through losses of the connection until
  // cancelled. Errors: resource (too large to travel), cancelled.
  [[nodiscard]] virtual Result<bool> finish(std::string_view result,
                                            const Cancellation& cancellation) = 0;
  // Somebody else may have it now, or `seconds` from now.
  virtual void give_back(double seconds) = 0;
};

// Long enough for a worker that is busy or paused for a moment, short enough that a dead one's job
// does not hold a search up.
inline constexpr double kLeaseSeconds = 15.0;

// Thread-safe.
class JobSource {
 public:
  virtual ~JobSource() = default;

  // The next job of one of the lanes, the first lane's before the others'; waits up to `seconds`
  // for one. Null where there is none, also when cancelled. Jobs whose result is known already are
  // taken off the queue here and not returned. Errors: io (the connection is lost; try again),
  // invalid_argument.
  [[nodiscard]] virtual Result<std::unique_ptr<Lease>> take(std::span<const std::string> lanes,
                                                            double seconds,
                                                            const Cancellation& cancellation) = 0;

  // What JobQueue::keep kept. Its hash was checked. Errors: not_found, io, parse (damaged).
  [[nodiscard]] virtual Result<std::string> fetch(const Hash128& id) = 0;
};

}  // namespace regraph::fleet
