#include "capture/problem/sequence_keeper.h"

#include "capture/problem/kernel_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <system_error>
#include <utility>

namespace regraph::capture {
namespace {

// So often contents are kept of what turns out to be no sequence.
constexpr int kMostInVain = 16;

double threads_of(const ObservedLaunch& launch) {
  return static_cast<double>(launch.grid.count()) * static_cast<double>(launch.block.count());
}

}  // namespace

SequenceKeeper::SequenceKeeper(KeepOptions options)
    : options_(std::move(options)),
      contents_(options_.most_bytes, options_.most_bytes_in_all),
      instructions_(options_.sequence.size()) {}

bool SequenceKeeper::is_stage(std::size_t stage, const std::string& symbol) const {
  if (stage >= options_.sequence.size()) return false;
  const std::string& name = options_.sequence[stage];
  return name == kernel_name_of(symbol) || name == plain_name_of(symbol);
}

bool SequenceKeeper::wanted(const ObservedLaunch& first, std::uint64_t number) const {
  if (options_.launch > 0) return number == options_.launch;
  if (of_run_ >= kMostKeptLaunches || given_up_ > kMostInVain) return false;
  return of_run_ == 0 || threads_of(first) > kLarger * largest_;
}

void SequenceKeeper::before_launch(const ObservedLaunch& launch) {
  if (pending_ && !is_stage(pending_->stages.size(), launch.symbol)) {
    give_up(fmt::format("'{}' is launched after '{}'", kernel_name_of(launch.symbol),
                        kernel_name_of(pending_->stages.back().symbol)));
  }
  if (!pending_) {
    if (!is_stage(0, launch.symbol)) return;
    pending_ = Pending();
    pending_->wanted = wanted(launch, ++seen_);
    if (pending_->wanted && folder_.path.empty()) {
      folder_.path = make_problem_folder(
          options_.folder, folder_name_of(fmt::format("{}", fmt::join(options_.sequence, "+"))));
    }
  }
  add(launch);
}

void SequenceKeeper::add(const ObservedLaunch& launch) {
  Pending& pending = *pending_;
  KeptLaunch& kept = pending.launch;
  if (pending.stages.empty()) {
    kept.run = run_;
    kept.sequence = seen_;
    kept.grid = launch.grid;
    kept.block = launch.block;
    kept.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  }
  const auto before = static_cast<std::uint32_t>(pending.slots.size());
  const auto from = static_cast<std::uint32_t>(kept.parameters.size());
  pending.stages.push_back({launch.symbol, launch.slots.size()});
  kept.stages.push_back({launch.grid, launch.block, launch.dynamic_shared_bytes});
  for (const auto& slot : launch.slots)
    pending.slots.push_back({from + slot.offset, slot.bytes});
  kept.parameters.insert(kept.parameters.end(), launch.parameters.begin(), launch.parameters.end());
  pending.after_cut = pending.after_cut || launch.after_cut;
  std::set<std::uint64_t> allocations;
  const auto store = [&](std::span<const std::byte> content, std::uint64_t size) {
    if (!pending.wanted) return std::string();
    const std::uint64_t before_it = kept_bytes_;
    std::string file =
        contents_.store(folder_.path, content, size, kept_bytes_, folder_.kernel.left_out);
    if (!file.empty()) pending.stored[file] += kept_bytes_ - before_it;
    return file;
  };
  for (const ObservedPointer& pointer : launch.pointers) {
    pending.overlapping = pending.overlapping || !allocations.insert(pointer.allocation).second;
    const auto [file, added] = pending.files.try_emplace(pointer.allocation);
    if (added) file->second = store(pointer.content, pointer.bytes);
    kept.pointers.push_back({before + pointer.parameter, pointer.byte, pointer.allocation,
                             pointer.offset, pointer.bytes - pointer.offset, file->second});
  }
  for (const ObservedVariable& variable : launch.variables) {
    const bool known = std::ranges::find(kept.variables, variable.name, &KeptVariable::name) !=
                       kept.variables.end();
    if (known || variable.content.size() > kMostVariableBytes) continue;
    kept.variables.push_back(
        {variable.name, variable.content.size(), store(variable.content, variable.content.size())});
  }
}

void SequenceKeeper::after_launch(const ObservedLaunch& /*launch*/,
                                  std::uint64_t thread_instructions) {
  if (!pending_ || pending_->instructions.size() == pending_->stages.size()) return;
  pending_->instructions.push_back(thread_instructions);
  if (pending_->stages.size() == options_.sequence.size()) complete();
}

void SequenceKeeper::complete() {
  Pending& pending = *pending_;
  CapturedKernel& kernel = folder_.kernel;
  const bool is_same =
      kernel.stages.empty() || std::ranges::equal(kernel.stages, pending.stages, {},
                                                  &KernelStage::symbol, &KernelStage::symbol);
  if (!is_same) {
    give_up("other instances of the templates are launched than the first time");
    return;
  }
  if (run_ == 0) {
    ++kernel.launches;
    for (std::size_t stage = 0; stage < instructions_.size(); ++stage)
      instructions_[stage] += pending.instructions[stage];
  }
  kernel.overlapping = kernel.overlapping || pending.overlapping;
  given_up_ = 0;
  if (!pending.wanted && of_run_ == 0 && first_not_kept_ == 0) first_not_kept_ = seen_;
  if (pending.wanted) {
    const StageLaunch& first = pending.launch.stages.front();
    largest_ = std::max(largest_, static_cast<double>(first.grid.count() * first.block.count()));
    ++of_run_;
    if (pending.after_cut && kernel.left_out.size() < kMostRemarks) {
      kernel.left_out.emplace_back(
          "an earlier launch was ended before its time, so the contents are not what the program "
          "computes");
    }
    pending.launch.thread_instructions =
        std::accumulate(pending.instructions.begin(), pending.instructions.end(), std::uint64_t{0});
    kernel.stages = std::move(pending.stages);
    kernel.slots = std::move(pending.slots);
    kernel.kept.push_back(std::move(pending.launch));
  }
  pending_.reset();
}

void SequenceKeeper::give_up(const std::string& why) {
  if (why_given_up_.empty()) why_given_up_ = why;
  ++given_up_;
  for (const auto& stored : pending_->stored) {
    const bool used = std::ranges::any_of(folder_.kernel.kept, [&](const KeptLaunch& launch) {
      const auto has_it = [&](const auto& one) { return one.data == stored.first; };
      return std::ranges::any_of(launch.pointers, has_it) ||
             std::ranges::any_of(launch.variables, has_it);
    });
    if (!used) contents_.forget(folder_.path, stored.first, stored.second, kept_bytes_);
  }
  pending_.reset();
}

// One that was kept is like all others of its size, and what follows it may be left out, too.
bool SequenceKeeper::may_skip(const std::string& symbol) {
  if (pending_) return false;
  return !is_stage(0, symbol) || (options_.launch == 0 && of_run_ > 0);
}

bool SequenceKeeper::wants_contents(const ObservedLaunch& launch) const {
  if (pending_ && is_stage(pending_->stages.size(), launch.symbol)) return pending_->wanted;
  return is_stage(0, launch.symbol) && wanted(launch, seen_ + 1);
}

void SequenceKeeper::before_write(std::optional<std::uint64_t> allocation) {
  if (!pending_ || (allocation && !pending_->files.contains(*allocation))) return;
  give_up(fmt::format("the program writes to device memory after '{}'",
                      kernel_name_of(pending_->stages.back().symbol)));
}

void SequenceKeeper::add_seconds(const std::string& symbol, double seconds) {
  if (run_ == 0) seconds_[symbol].push_back(seconds);
}

void SequenceKeeper::begin_run() {
  ++run_;
  seen_ = 0;
  of_run_ = 0;
  largest_ = 0.0;
  given_up_ = 0;
  pending_.reset();
}

// The one with the most work, of those that are launched once.
void SequenceKeeper::choose_kernel() {
  CapturedKernel& kernel = folder_.kernel;
  std::pair<bool, double> most = {false, -1.0};
  for (std::size_t stage = 0; stage < kernel.stages.size(); ++stage) {
    const std::string& symbol = kernel.stages[stage].symbol;
    const StageLaunch& launch = kernel.kept.front().stages[stage];
    const auto found = seconds_.find(symbol);
    const double seconds =
        found == seconds_.end() ? 0.0 : seconds_of_all(found->second, kernel.launches);
    kernel.seconds += seconds;
    kernel.thread_instructions += instructions_[stage];
    double work = seconds;
    if (work == 0.0) work = static_cast<double>(instructions_[stage]);
    if (work == 0.0) work = static_cast<double>(launch.grid.count() * launch.block.count());
    const bool named = kernel_name_of(symbol).find(options_.kernel) != std::string::npos;
    const bool once = std::ranges::count(kernel.stages, symbol, &KernelStage::symbol) == 1;
    if (named && std::pair(once, work) > most) {
      most = {once, work};
      kernel.symbol = symbol;
    }
  }
}

std::vector<KeptFolder> SequenceKeeper::take() {
  std::vector<KeptFolder> folders;
  trouble_ = contents_.trouble();
  sort_launches(folder_.kernel.kept);
  if (!folder_.kernel.kept.empty()) choose_kernel();
  if (folder_.kernel.symbol.empty() && trouble_.empty() && first_not_kept_ > 0) {
    trouble_ = fmt::format(
        "{} are launched one right after the other, but '{}' is too often "
        "launched otherwise before; name the place with --launch {}",
        fmt::join(options_.sequence, ", "), options_.sequence.front(), first_not_kept_);
  } else if (folder_.kernel.symbol.empty() && trouble_.empty()) {
    trouble_ = fmt::format("the program does not launch {} one right after the other{}",
                           fmt::join(options_.sequence, ", "),
                           why_given_up_.empty() ? "" : ": " + why_given_up_);
  }
  if (!folder_.kernel.symbol.empty()) {
    folders.push_back(std::move(folder_));
  } else if (!folder_.path.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(folder_.path, ignored);
  }
  folder_ = {};
  return folders;
}

}  // namespace regraph::capture
