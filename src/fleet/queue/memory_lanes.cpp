#include "fleet/queue/memory_lanes.h"

#include <utility>

namespace regraph::fleet {

bool MemoryLanes::add(const Job& job) {
  Lane& lane = lanes_[job.lane];
  if (!lane.numbers.emplace(job.id, next_number_).second) return false;
  lane.entries.emplace(next_number_, Entry{.job = job, .free_at = {}});
  lane.free.insert(next_number_);
  ++next_number_;
  return true;
}

void MemoryLanes::release(Lane& lane, Time now) {
  while (!lane.later.empty() && lane.later.begin()->first <= now) {
    const std::uint64_t number = lane.later.begin()->second;
    lane.later.erase(lane.later.begin());
    lane.entries.at(number).held = false;
    lane.free.insert(number);
  }
}

std::optional<MemoryLanes::Handout> MemoryLanes::take(const std::string& lane_name, Time now,
                                                      Time until) {
  const auto found = lanes_.find(lane_name);
  if (found == lanes_.end()) return std::nullopt;
  Lane& lane = found->second;
  release(lane, now);
  if (lane.free.empty()) return std::nullopt;
  const std::uint64_t number = *lane.free.begin();
  lane.free.erase(lane.free.begin());
  Entry& entry = lane.entries.at(number);
  ++entry.deliveries;
  entry.held = true;
  entry.free_at = until;
  lane.later.emplace(until, number);
  return Handout{.number = number, .deliveries = entry.deliveries, .job = entry.job};
}

MemoryLanes::Entry* MemoryLanes::held_entry(const Handout& handout) {
  Lane& lane = lanes_[handout.job.lane];
  const auto found = lane.entries.find(handout.number);
  if (found == lane.entries.end()) return nullptr;
  Entry& entry = found->second;
  return entry.held && entry.deliveries == handout.deliveries ? &entry : nullptr;
}

void MemoryLanes::move_to(const Handout& handout, Entry& entry, Time when) {
  Lane& lane = lanes_[handout.job.lane];
  lane.later.erase({entry.free_at, handout.number});
  entry.free_at = when;
  lane.later.emplace(when, handout.number);
}

void MemoryLanes::extend(const Handout& handout, Time until) {
  if (Entry* const entry = held_entry(handout)) move_to(handout, *entry, until);
}

void MemoryLanes::give_back(const Handout& handout, Time when) {
  Entry* const entry = held_entry(handout);
  if (entry == nullptr) return;
  entry->held = false;
  move_to(handout, *entry, when);
}

void MemoryLanes::remove(const Handout& handout) {
  remove(lanes_[handout.job.lane], handout.number);
}

void MemoryLanes::remove(const Job& job) {
  Lane& lane = lanes_[job.lane];
  const auto found = lane.numbers.find(job.id);
  if (found != lane.numbers.end()) remove(lane, found->second);
}

void MemoryLanes::remove(Lane& lane, std::uint64_t number) {
  const auto found = lane.entries.find(number);
  if (found == lane.entries.end()) return;
  lane.later.erase({found->second.free_at, number});
  lane.free.erase(number);
  lane.numbers.erase(found->second.job.id);
  lane.entries.erase(found);
}

LaneState MemoryLanes::state(const std::string& lane_name, Time now) {
  LaneState state;
  const auto found = lanes_.find(lane_name);
  if (found == lanes_.end()) return state;
  release(found->second, now);
  for (const auto& [number, entry] : found->second.entries)
    ++(entry.held ? state.under_way : state.waiting);
  return state;
}

std::optional<MemoryLanes::Time> MemoryLanes::next_free(const std::string& lane_name) const {
  const auto found = lanes_.find(lane_name);
  if (found == lanes_.end() || found->second.later.empty()) return std::nullopt;
  return found->second.later.begin()->first;
}

}  // namespace regraph::fleet
