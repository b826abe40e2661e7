#include "capture/problem/launch_keeper.h"

#include "capture/problem/kernel_source.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace regraph::capture {
namespace {

double threads_of(const ObservedLaunch& launch) {
  return static_cast<double>(launch.grid.count()) * static_cast<double>(launch.block.count());
}

}  // namespace

LaunchKeeper::Kept& LaunchKeeper::kernel_of(const ObservedLaunch& launch) {
  const auto [found, added] = kernels_.try_emplace(launch.symbol);
  Kept& kept = found->second;
  if (added) {
    order_.push_back(launch.symbol);
    kept.folder.path =
        make_problem_folder(options_.folder, folder_name_of(kernel_name_of(launch.symbol)));
    kept.folder.kernel.symbol = launch.symbol;
    for (const auto& slot : launch.slots)
      kept.folder.kernel.slots.push_back({slot.offset, slot.bytes});
  }
  if (kept.run != run_) {
    kept.run = run_;
    kept.seen = 0;
    kept.largest = 0.0;
  }
  return kept;
}

bool LaunchKeeper::wanted(const Kept& kept, const ObservedLaunch& launch) const {
  if (options_.launch > 0) return kept.seen == options_.launch;
  const auto of_run = std::ranges::count(kept.folder.kernel.kept, run_, &KeptLaunch::run);
  if (static_cast<std::size_t>(of_run) >= kMostKeptLaunches) return false;
  return kept.seen == 1 || threads_of(launch) > kLarger * kept.largest;
}

void LaunchKeeper::before_launch(const ObservedLaunch& launch) {
  const std::string name = kernel_name_of(launch.symbol);
  if (name.find(options_.kernel) == std::string::npos) return;
  Kept& kept = kernel_of(launch);
  ++kept.seen;
  CapturedKernel& kernel = kept.folder.kernel;
  if (run_ == 0) ++kernel.launches;
  for (std::size_t i = 0; i < launch.pointers.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      kernel.overlapping =
          kernel.overlapping || launch.pointers[i].allocation == launch.pointers[j].allocation;
  }
  kept.pending = 0;
  if (!wanted(kept, launch)) return;
  kept.largest = std::max(kept.largest, threads_of(launch));
  keep(kept, launch);
  kept.pending = kernel.kept.size();
}

bool LaunchKeeper::wants_contents(const ObservedLaunch& launch) const {
  if (kernel_name_of(launch.symbol).find(options_.kernel) == std::string::npos) return false;
  const auto found = kernels_.find(launch.symbol);
  Kept next = found == kernels_.end() || found->second.run != run_ ? Kept() : found->second;
  ++next.seen;
  return wanted(next, launch);
}

double LaunchKeeper::quiet_threads(const std::string& symbol) const {
  if (kernel_name_of(symbol).find(options_.kernel) == std::string::npos)
    return std::numeric_limits<double>::infinity();
  const auto found = kernels_.find(symbol);
  if (options_.launch > 0 || found == kernels_.end() || found->second.run != run_) return 0.0;
  return kLarger * found->second.largest;
}

void LaunchKeeper::count_launches(const std::string& symbol, std::uint64_t launches) {
  const auto found = kernels_.find(symbol);
  if (found == kernels_.end()) return;
  found->second.seen += launches;
  if (run_ == 0) found->second.folder.kernel.launches += launches;
}

void LaunchKeeper::add_seconds(const std::string& symbol, double seconds) {
  const auto found = kernels_.find(symbol);
  if (found != kernels_.end() && run_ == 0) found->second.seconds.push_back(seconds);
}

// One like it was seen, so it is neither the first nor the largest.
bool LaunchKeeper::may_skip(const std::string& symbol) {
  const auto found = kernels_.find(symbol);
  if (found == kernels_.end()) return true;
  Kept& kept = found->second;
  if (kept.run != run_ || kept.seen + 1 == options_.launch) return false;
  ++kept.seen;
  if (run_ == 0) ++kept.folder.kernel.launches;
  return true;
}

void LaunchKeeper::keep(Kept& kept, const ObservedLaunch& launch) {
  KeptLaunch one;
  one.run = run_;
  one.sequence = kept.seen;
  one.grid = launch.grid;
  one.block = launch.block;
  one.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  one.parameters.assign(launch.parameters.begin(), launch.parameters.end());
  std::vector<std::string>& remarks = kept.folder.kernel.left_out;
  const auto store = [&](std::span<const std::byte> content, std::uint64_t size) {
    return contents_.store(kept.folder.path, content, size, kept.bytes, remarks);
  };
  std::map<std::uint64_t, std::string> files;  // by allocation
  for (const ObservedPointer& pointer : launch.pointers) {
    const auto [file, added] = files.try_emplace(pointer.allocation);
    if (added) file->second = store(pointer.content, pointer.bytes);
    one.pointers.push_back({pointer.parameter, pointer.byte, pointer.allocation, pointer.offset,
                            pointer.bytes - pointer.offset, file->second});
  }
  for (const ObservedVariable& variable : launch.variables) {
    if (variable.content.size() > kMostVariableBytes) continue;
    one.variables.push_back(
        {variable.name, variable.content.size(), store(variable.content, variable.content.size())});
  }
  if (launch.after_cut && remarks.size() < kMostRemarks) {
    remarks.emplace_back(
        "an earlier launch was ended before its time, so the contents are not what "
        "the program computes");
  }
  kept.folder.kernel.kept.push_back(std::move(one));
}

void LaunchKeeper::after_launch(const ObservedLaunch& launch, std::uint64_t thread_instructions) {
  const auto found = kernels_.find(launch.symbol);
  if (found == kernels_.end()) return;
  Kept& kept = found->second;
  CapturedKernel& kernel = kept.folder.kernel;
  if (run_ == 0) kernel.thread_instructions += thread_instructions;
  if (kept.pending > 0) kernel.kept[kept.pending - 1].thread_instructions = thread_instructions;
  kept.pending = 0;
}

std::vector<KeptFolder> LaunchKeeper::take() {
  std::vector<KeptFolder> folders;
  folders.reserve(order_.size());
  for (const std::string& symbol : order_) {
    Kept& kept = kernels_.at(symbol);
    CapturedKernel& kernel = kept.folder.kernel;
    sort_launches(kernel.kept);
    kernel.seconds = seconds_of_all(std::move(kept.seconds), kernel.launches);
    if (!kernel.kept.empty()) folders.push_back(std::move(kept.folder));
  }
  kernels_.clear();
  order_.clear();
  return folders;
}

}  // namespace regraph::capture
