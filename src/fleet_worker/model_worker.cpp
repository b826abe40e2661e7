#include "fleet_worker/model_worker.h"

#include "fleet_worker/model_place.h"

namespace regraph::fleet {

void ModelWorker::run(const Cancellation& leave) {
  WorkerTally tally;
  ServerRest rest(options_.first_pause_seconds, options_.longest_pause_seconds);
  run_places(broker_, options_.self, tally, options_.leave_seconds, leave,
             [&](const Cancellation& stop) {
               ModelPlace(broker_, model_, options_, tally, rest, leave, stop).run();
             });
}

}  // namespace regraph::fleet
