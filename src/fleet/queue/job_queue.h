// The end of those who want jobs done.
//
//   searcher: ask ──> [ queue of the lane ] ──> take: worker ──> finish ──> [ results ] ──> searcher
//                                               │ lease runs out, give_back
//                                               └──> back into the queue
#pragma once

#include "base/cancellation.h"
#include "base/hash.h"
#include "base/result.h"
#include "fleet/queue/job.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace regraph::fleet {

// What waits in a lane.
struct LaneState {
  std::uint64_t waiting = 0;    // jobs that nobody has
  std::uint64_t under_way = 0;  // jobs under a lease
};

// Thread-safe.
class JobQueue {
 public:
  virtual ~JobQueue() = default;

  // The job's result: at once where it is there already, else when a worker has done it. A job that
  // waits is not queued twice; one that has neither result nor place in the queue is queued again,
  // so that nothing is lost for good. Waits through losses of the connection. Errors: cancelled
  // (the job stays in the queue, see take_back), invalid_argument (a lane's name), resource (too
  // large to travel).
  [[nodiscard]] virtual Result<std::string> ask(const Job& job,
                                                const Cancellation& cancellation) = 0;

  // Takes a job off the queue whose result is not wanted any more, also from a worker that is at
  // it, whose result then still counts. Whoever else asks for it queues it again within seconds. As
  // far as the server can be reached within a moment; else it stays.
  virtual void take_back(const Job& job) = 0;

  // Keeps bytes of any length that jobs refer to by their hash (hash_text). What is kept already is
  // not sent again. Errors: io (the connection is lost for longer than a few seconds), cancelled,
  // invalid_argument (not their hash), resource (more than can be kept).
  [[nodiscard]] virtual Status keep(const Hash128& id, std::string_view bytes,
                                    const Cancellation& cancellation) = 0;

  // Errors: io.
  [[nodiscard]] virtual Result<LaneState> state(const std::string& lane) = 0;
};

}  // namespace regraph::fleet
