// What asynchronous units do to memory, and the mbarriers that say when it is done.
//
// Not seen: registers that wgmma has not written yet but somebody reads, and writes of threads that
// no fence.proxy.async makes visible to the units.
#include "ptx/memory/race_detector.h"

#include <algorithm>
#include <cstring>

namespace regraph::ptx {

bool RaceDetector::asynchronous(const Record& record, Warp& warp, int lane, std::uint32_t agent,
                                StateSpace space, std::uint64_t address, std::uint64_t bytes,
                                const std::byte* values) {
  Cell* cells = cells_of(space, address);
  if (cells == nullptr) return true;
  Current now = current(record, warp);
  now.lane = lane;
  now.is_shared = space == StateSpace::shared;
  now.access.lanes = 1U << lane;
  now.access.agent = static_cast<std::uint8_t>(agent);
  now.access.time = ++agent_times_[agent];
  const std::uint64_t granule = now.is_shared ? shared_granule_ : global_granule_;
  const LaneAddress at = find_lane(*warp.block, warp, space, address, bytes, lane);
  for (std::uint64_t offset = 0; offset < bytes; offset += granule) {
    const std::uint64_t width = std::min(granule, bytes - offset);
    Cell& cell = cells[offset / granule];
    const bool is_fine =
        values == nullptr
            ? check_read(cell, now, address + offset)
            : check_write(cell, now, std::memcmp(at.host + offset, values + offset, width) != 0,
                          address + offset);
    if (!is_fine) return false;
  }
  return true;
}

void RaceDetector::commit_group(const Warp& warp, std::uint32_t agent) {
  warps_[warp.index].groups[agent > kMostWarps ? 1 : 0].push_back(agent_times_[agent]);
}

void RaceDetector::await_groups(const Warp& warp, std::uint32_t agent, std::uint64_t kept) {
  WarpState& state = warps_[warp.index];
  const std::vector<std::uint32_t>& groups = state.groups[agent > kMostWarps ? 1 : 0];
  if (kept >= groups.size()) return;
  std::uint32_t& known = state.clock[kMostWarps + agent];
  known = std::max(known, groups[groups.size() - 1 - kept]);
}

// More mbarriers than agents share them: what is known of one is then known of the other.
std::uint32_t RaceDetector::agent_of(std::uint64_t address) {
  const auto next = static_cast<std::uint32_t>(copy_agents_.size() % kCopyAgents);
  return copy_agents_.try_emplace(address, kFirstCopyAgent + next).first->second;
}

bool RaceDetector::use_mbarrier(const Record& record, Warp& warp, int lane, std::uint64_t address,
                                bool initialises) {
  Cell* cells = cells_of(StateSpace::shared, address);
  if (cells == nullptr) return true;
  constexpr std::uint64_t kBytes = 8;
  Current now = current(record, warp);
  now.lane = lane;
  now.is_shared = true;
  now.access.lanes = 1U << lane;
  now.access.strong = !initialises;
  for (std::uint64_t offset = 0; offset < kBytes; offset += shared_granule_) {
    if (!check_write(cells[offset / shared_granule_], now, true, address + offset)) return false;
  }
  return true;
}

void RaceDetector::arrive_at(std::uint64_t mbarrier, const Warp& warp) {
  WarpState& state = warps_[warp.index];
  join(mbarriers_[mbarrier].arrived, state.clock);
  ++state.clock[warp.index];
}

void RaceDetector::copied_to(std::uint64_t mbarrier) {
  const std::uint32_t agent = agent_of(mbarrier);
  std::uint32_t& known = mbarriers_[mbarrier].arrived[kMostWarps + agent];
  known = std::max(known, agent_times_[agent]);
}

void RaceDetector::complete_phase(std::uint64_t mbarrier) {
  MbarrierClocks& clocks = mbarriers_[mbarrier];
  clocks.completed = clocks.arrived;
}

// Lanes of the warp that arrived are ordered with those that see it, whichever these are.
void RaceDetector::pass_mbarrier(std::uint64_t mbarrier, const Warp& warp) {
  WarpState& state = warps_[warp.index];
  if (const auto found = mbarriers_.find(mbarrier); found != mbarriers_.end())
    join(state.clock, found->second.completed);
  ++state.epoch;
  ++state.exchange;
}

}  // namespace regraph::ptx
