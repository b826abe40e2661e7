#include "fleet/gpu_choice.h"

#include "base/hash.h"
#include "fleet/presence.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace regraph::fleet {
namespace {

constexpr std::size_t kMostWorkers = 1000;  // notices read; a board is open to whoever may write
constexpr std::string_view kOwnLane = "gpu-";
constexpr int kMostPlaces = 64;  // of a GPU that are believed
constexpr std::size_t kMostDropped = 3;

// Searches of other occasions have other orders.
std::string own_order(const FleetGpu& gpu, const std::string& occasion) {
  return Hasher().add(occasion).add(gpu.lane).finish().hex();
}

}  // namespace

std::vector<FleetGpu> choose_gpus(std::vector<FleetGpu> there, const std::string& occasion) {
  const auto rank = [&](const FleetGpu& gpu) {
    const double load = static_cast<double>(gpu.busy) / std::max(1, gpu.places);
    return std::tuple(load, own_order(gpu, occasion));
  };
  std::ranges::sort(there, {}, rank);
  int places = 0;
  std::size_t count = 0;
  while (count < there.size() && places < kUnderWay)
    places += std::max(1, there[count++].places);
  there.resize(count);
  return there;
}

std::vector<FleetGpu> GpuChoice::there() const {
  std::vector<FleetGpu> there;
  const auto notices = board_.notices(Board::workers, kMostWorkers);
  if (!notices) return there;
  for (const auto& [key, text] : *notices) {
    const auto worker = read_presence(text);
    if (!worker || std::ranges::find(worker->lanes, lane_) == worker->lanes.end()) continue;
    const auto own = std::ranges::find_if(
        worker->lanes, [](const std::string& lane) { return lane.starts_with(kOwnLane); });
    if (own == worker->lanes.end()) continue;
    const int places = std::clamp(worker->places, 1, kMostPlaces);
    there.push_back({*own, worker->name, places, std::clamp(worker->busy, 0, places)});
  }
  // Of the others those that know the problem, then the rest, in an order of this search's own.
  const std::lock_guard lock(mutex_);
  std::ranges::sort(there, {}, [&](const FleetGpu& gpu) {
    const bool is_mine =
        std::ranges::any_of(mine_, [&](const Used& one) { return one.gpu.lane == gpu.lane; });
    return std::tuple(gpu.lane != confirming_, !is_mine, own_order(gpu, occasion_));
  });
  return there;
}

void GpuChoice::choose() {
  std::vector<FleetGpu> there = this->there();
  const std::lock_guard lock(mutex_);
  if (is_chosen_ || there.empty()) return;
  is_chosen_ = true;
  std::erase_if(there, [&](const FleetGpu& gpu) { return dropped_.contains(gpu.lane); });
  const std::size_t all = there.size();
  std::vector<FleetGpu> chosen = choose_gpus(std::move(there), occasion_);
  if (chosen.empty()) return;
  if (confirming_.empty()) confirming_ = chosen.front().lane;
  if (chosen.size() == all) return;
  for (FleetGpu& gpu : chosen)
    mine_.push_back({std::move(gpu), 0});
}

std::optional<FleetGpu> GpuChoice::begin_look() {
  choose();
  const std::lock_guard lock(mutex_);
  if (mine_.empty()) return std::nullopt;
  const auto idlest = std::ranges::min_element(mine_, {}, [](const Used& one) {
    return static_cast<double>(one.looks) / std::max(1, one.gpu.places);
  });
  ++idlest->looks;
  return idlest->gpu;
}

void GpuChoice::end_look(const FleetGpu& gpu) {
  const std::lock_guard lock(mutex_);
  for (Used& one : mine_) {
    if (one.gpu.lane == gpu.lane) --one.looks;
  }
}

void GpuChoice::drop(const FleetGpu& gpu) {
  const std::lock_guard lock(mutex_);
  dropped_.insert(gpu.lane);
  const bool was_mine =
      std::erase_if(mine_, [&](const Used& one) { return one.gpu.lane == gpu.lane; }) > 0;
  if (dropped_.size() >= kMostDropped) mine_.clear();
  if (was_mine && mine_.empty() && dropped_.size() < kMostDropped) is_chosen_ = false;
}

std::optional<FleetGpu> GpuChoice::confirming() {
  choose();
  const std::vector<FleetGpu> there = this->there();
  if (there.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  confirming_ = there.front().lane;
  return there.front();
}

std::vector<FleetGpu> GpuChoice::mine() {
  choose();
  const std::lock_guard lock(mutex_);
  std::vector<FleetGpu> mine;
  for (const Used& one : mine_)
    mine.push_back(one.gpu);
  return mine;
}

}  // namespace regraph::fleet
