#include "session/search_jobs.h"

#include <algorithm>
#include <thread>

namespace regraph {
namespace {

// Of a fleet, used without being asked: each is a thread here, and a search foresees no more.
constexpr int kMostPlaces = 128;

}  // namespace

void choose_jobs(int asked, int places, SearchConfig& config) {
  const int processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  config.jobs = asked > 0 ? asked : std::max(processors, std::min(places, kMostPlaces));
  // Those that wait for the fleet must not keep the steps here from being applied.
  if (places > 0) config.extra_workers = processors;
}

}  // namespace regraph
