#include "sass/loop_match.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace regraph::sass {
namespace {

using ptx::InstructionClass;
using Kind = OperationClass;

// A machine loop stands for a PTX loop when this share of its anchors comes from there: ptxas moves
// single instructions across loops.
constexpr double kLoopShare = 0.8;
// The number of the one stretch of a PTX loop that was unrolled wholly, and of no loop.
constexpr std::uint32_t kWhole = 0xffffffffU;

std::size_t at(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

bool is_anchor(OperationClass machine, InstructionClass ptx) {
  switch (ptx) {
    case InstructionClass::fp32_fma:
    case InstructionClass::fp32_other:
      return machine == Kind::fp32;
    case InstructionClass::fp64:
      return machine == Kind::fp64;
    case InstructionClass::special_function:
      return machine == Kind::special_function;
    case InstructionClass::barrier:
      return machine == Kind::barrier;
    case InstructionClass::shuffle:
      return machine == Kind::shuffle;
    case InstructionClass::matrix:
      return machine == Kind::tensor;
    case InstructionClass::load_global:
      return machine == Kind::load_global || machine == Kind::load_generic ||
             machine == Kind::copy_to_shared;
    case InstructionClass::store_global:
      return machine == Kind::store_global || machine == Kind::store_generic;
    case InstructionClass::load_shared:
      return machine == Kind::load_shared;
    case InstructionClass::store_shared:
      return machine == Kind::store_shared;
    case InstructionClass::load_local:
      return machine == Kind::load_local;
    case InstructionClass::store_local:
      return machine == Kind::store_local;
    case InstructionClass::atomic_global:
      return machine == Kind::atomic_global;
    case InstructionClass::atomic_shared:
      return machine == Kind::atomic_shared;
    default:
      return false;
  }
}

LoopMatch::LoopMatch(const MachineCode& code, const ptx::ControlFlow& flow,
                     const ptx::Profile& profile)
    : code_(code), ptx_(flow), profile_(profile) {
  map_lines();
  find_cold_blocks();
  find_atomic_loops();
  assign_loops();
  collect_stretches();
  measure_stretches();
  share_iterations();
}

double LoopMatch::executions(std::int32_t instruction) const {
  return static_cast<double>(profile_.instructions[at(instruction)].warp_executions) /
         static_cast<double>(profile_.warps);
}

bool LoopMatch::anchors(std::uint32_t machine, std::int32_t instruction) const {
  return is_anchor(code_.instructions[machine].what.operation_class,
                   profile_.instructions[at(instruction)].instruction_class);
}

template <typename Visit>
void LoopMatch::for_each_line(std::uint32_t block, const Visit& visit) const {
  const ptx::BasicBlock& range = code_.flow.blocks[block];
  for (std::uint32_t j = range.first; j < range.last; ++j) {
    const std::int32_t i = ptx_instruction_[j];
    if (i != kNone) visit(i, anchors(j, i));
  }
}

void LoopMatch::map_lines() {
  int last_line = 0;
  for (const auto& one : profile_.instructions)
    last_line = std::max(last_line, one.ptx_line);
  std::vector<std::int32_t> by_line(at(last_line) + 1, kNone);
  for (std::size_t i = 0; i < profile_.instructions.size(); ++i) {
    const int line = profile_.instructions[i].ptx_line;
    if (line > 0) by_line[at(line)] = static_cast<std::int32_t>(i);
  }
  ptx_instruction_.assign(code_.instructions.size(), kNone);
  for (std::size_t j = 0; j < code_.instructions.size(); ++j) {
    const int line = code_.instructions[j].ptx_line;
    if (line > 0 && line <= last_line) ptx_instruction_[j] = by_line[at(line)];
  }
  ptx_executions_.assign(ptx_.blocks.size(), 0.0);
  for (std::size_t p = 0; p < ptx_.blocks.size(); ++p) {
    for (std::uint32_t i = ptx_.blocks[p].first; i < ptx_.blocks[p].last; ++i)
      ptx_executions_[p] = std::max(ptx_executions_[p], executions(static_cast<std::int32_t>(i)));
  }
}

void LoopMatch::find_cold_blocks() {
  cold_.assign(code_.flow.blocks.size(), true);
  std::vector<std::uint32_t> work;
  for (const CodeFunction& function : code_.functions) {
    if (!function.slow_path) work.push_back(code_.flow.block_of[function.first]);
  }
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    if (!cold_[b] || calls_slow_path(b)) continue;
    cold_[b] = false;
    for (const std::uint32_t next : code_.flow.blocks[b].successors)
      work.push_back(next);
  }
}

bool LoopMatch::calls_slow_path(std::uint32_t block) const {
  const CodeInstruction& last = code_.instructions[code_.flow.blocks[block].last - 1];
  return last.what.operation == kCallRelative && last.target != kNoInstruction &&
         code_.function_of(last.target).slow_path;
}

// Loops that one atomic became: they try until no lane lost. They are no loop of the PTX; each
// block of theirs runs as often as the rounds it takes.
void LoopMatch::find_atomic_loops() {
  const auto& loops = code_.flow.loops;
  std::vector<std::set<std::int32_t>> lines(loops.size());
  for (std::uint32_t b = 0; b < code_.flow.blocks.size(); ++b) {
    for (std::int32_t s = code_.flow.blocks[b].loop; s != kNone; s = loops[at(s)].parent) {
      // Two are as good as many.
      for_each_line(b, [&](std::int32_t i, bool) {
        if (lines[at(s)].size() < 2) lines[at(s)].insert(i);
      });
    }
  }
  rounds_.assign(loops.size(), 0.0);
  for (std::size_t s = 0; s < loops.size(); ++s) {
    if (lines[s].size() != 1) continue;
    const auto& one = profile_.instructions[at(*lines[s].begin())];
    if (!is_atomic(one.instruction_class)) continue;
    rounds_[s] =
        one.requests > 0
            ? std::max(1.0, static_cast<double>(one.word_lanes) / static_cast<double>(one.requests))
            : 1.0;
  }
  loop_of_.resize(code_.flow.blocks.size());
  for (std::uint32_t b = 0; b < loop_of_.size(); ++b) {
    std::int32_t s = code_.flow.blocks[b].loop;
    while (s != kNone && rounds_[at(s)] > 0.0)
      s = loops[at(s)].parent;
    loop_of_[b] = s;
  }
}

double LoopMatch::rounds(std::uint32_t block) const {
  double product = 1.0;
  for (std::int32_t s = code_.flow.blocks[block].loop; s != kNone;
       s = code_.flow.loops[at(s)].parent) {
    if (rounds_[at(s)] > 0.0) product *= rounds_[at(s)];
  }
  return product;
}

// The PTX loop that each machine loop stands for: the innermost that most of its anchors are from,
// but further out than what a machine loop inside it stands for. (A long body inside outvotes the
// rest of what is around it.)
void LoopMatch::assign_loops() {
  struct Votes {
    std::map<std::int32_t, double> anchors;  // by PTX loop
    std::map<std::int32_t, double> lines;
  };
  const auto& loops = code_.flow.loops;
  std::vector<Votes> votes(loops.size());
  for (std::uint32_t b = 0; b < code_.flow.blocks.size(); ++b) {
    if (cold_[b]) continue;
    for (std::int32_t s = code_.flow.blocks[b].loop; s != kNone; s = loops[at(s)].parent) {
      for_each_line(b, [&](std::int32_t i, bool anchor) {
        votes[at(s)].lines[ptx_loop(i)] += 1.0;
        if (anchor) votes[at(s)].anchors[ptx_loop(i)] += 1.0;
      });
    }
  }
  assigned_.assign(loops.size(), kNone);
  // Depths down to which a machine loop may go: inner ones come first.
  std::vector<int> deepest(loops.size(), std::numeric_limits<int>::max());
  std::vector<std::size_t> order(loops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto machine_depth = [&](std::size_t s) {
    return code_.flow.blocks[loops[s].header].loop_depth;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return machine_depth(a) > machine_depth(b);
  });
  for (const std::size_t s : order) {
    double all = 0.0;
    std::map<std::int32_t, double> within;
    for (const auto& [loop, count] : votes[s].anchors.empty() ? votes[s].lines : votes[s].anchors) {
      all += count;
      for (std::int32_t l = loop; l != kNone; l = ptx_.loops[at(l)].parent)
        within[l] += count;
    }
    int depth = 0;
    for (const auto& [loop, count] : within) {
      const int here = ptx_.blocks[ptx_.loops[at(loop)].header].loop_depth;
      if (count < kLoopShare * all || here <= depth || here > deepest[s]) continue;
      assigned_[s] = loop;
      depth = here;
    }
    const std::int32_t parent = loops[s].parent;
    if (parent == kNone) continue;
    // What stands for no loop (an atomic's, say) hands on what is inside it.
    const int left = assigned_[s] == kNone ? deepest[s] : depth - 1;
    deepest[at(parent)] = std::min(deepest[at(parent)], left);
  }
}

// The stretch that a block is for a PTX loop: a machine loop's number, or that of the block behind
// those.
std::uint32_t LoopMatch::stretch_of(std::uint32_t block, std::int32_t loop) const {
  // Outside PTX loops copies are rare, and lie apart.
  if (loop == kNone) return kWhole;
  const std::int32_t s = loop_of_[block];
  const bool stands_for_it =
      s != kNone && assigned_[at(s)] != kNone && ptx_.inside(assigned_[at(s)], loop);
  return stands_for_it ? static_cast<std::uint32_t>(s)
                       : static_cast<std::uint32_t>(code_.flow.loops.size()) + block;
}

void LoopMatch::collect_stretches() {
  for (std::uint32_t b = 0; b < code_.flow.blocks.size(); ++b) {
    if (cold_[b]) continue;
    for_each_line(b, [&](std::int32_t i, bool anchor) {
      const std::int32_t loop = ptx_loop(i);
      const std::uint32_t number = stretch_of(b, loop);
      Stretch& stretch = stretches_[loop][number];
      stretch.loop = number < code_.flow.loops.size();
      ++stretch.lines[i];
      if (anchor) ++stretch.anchors[i];
    });
  }
  // A loop without a machine loop was unrolled wholly: its copies lie in what may be several
  // blocks, which together are one stretch.
  for (auto& [loop, stretches] : stretches_) {
    const bool unrolled = std::none_of(stretches.begin(), stretches.end(),
                                       [](const auto& entry) { return entry.second.loop; });
    if (loop == kNone || !unrolled) continue;
    Stretch whole;
    for (const auto& [number, stretch] : stretches) {
      for (const auto& [i, count] : stretch.anchors)
        whole.anchors[i] += count;
      for (const auto& [i, count] : stretch.lines)
        whole.lines[i] += count;
    }
    stretches.clear();
    stretches[kWhole] = std::move(whole);
  }
}

const Stretch* LoopMatch::find_stretch(std::uint32_t block, std::int32_t loop) const {
  const auto stretches = stretches_.find(loop);
  if (stretches == stretches_.end()) return nullptr;
  auto found = stretches->second.find(stretch_of(block, loop));
  if (found == stretches->second.end()) found = stretches->second.find(kWhole);
  return found == stretches->second.end() ? nullptr : &found->second;
}

// How many times each PTX block and the whole loop stand in a stretch.
void LoopMatch::measure_stretches() {
  for (auto& [loop, stretches] : stretches_) {
    for (auto& [number, stretch] : stretches) {
      for (const auto& [i, count] : stretch.anchors) {
        double& copies = stretch.copies[ptx_block(i)];
        copies = std::max(copies, static_cast<double>(count));
      }
      if (loop != kNone) stretch.width = unrolled(stretch, loop);
    }
  }
}

// How many times a loop stands in a stretch, from its most executed blocks; without any anchor from
// the lines that stand there least often, which are no expansions.
double LoopMatch::unrolled(const Stretch& stretch, std::int32_t loop) const {
  const double header = loop == kNone ? 0.0 : ptx_executions_[ptx_.loops[at(loop)].header];
  int always = 0;
  int most = 0;
  for (const auto& [i, count] : stretch.anchors) {
    most = std::max(most, count);
    if (ptx_executions_[ptx_block(i)] >= 0.99 * header) always = std::max(always, count);
  }
  if (most > 0) return always > 0 ? always : most;
  int least = 0;
  for (const auto& [i, count] : stretch.lines)
    least = least == 0 ? count : std::min(least, count);
  return std::max(1, least);
}

// Of a PTX loop, each time it is entered.
double LoopMatch::iterations(std::int32_t loop) const {
  const std::uint32_t header = ptx_.loops[at(loop)].header;
  double entries = 0.0;
  for (std::uint32_t p = 0; p < ptx_.blocks.size(); ++p) {
    const auto& next = ptx_.blocks[p].successors;
    const bool enters = std::find(next.begin(), next.end(), header) != next.end() &&
                        !ptx_.inside(ptx_.blocks[p].loop, loop);
    if (enters) entries += ptx_executions_[p];
  }
  return std::max(1.0, ptx_executions_[header] / (entries > 0.0 ? entries : 1.0));
}

void LoopMatch::share_iterations() {
  for (auto& [loop, stretches] : stretches_) {
    if (loop == kNone || stretches.size() < 2) continue;
    std::vector<std::pair<double, Stretch*>> order;
    for (auto& [number, stretch] : stretches) {
      stretch.share = 0.0;
      // Single instructions that were moved out of the loop do no iteration.
      if (!stretch.loop && stretch.anchors.empty()) continue;
      order.emplace_back(stretch.width, &stretch);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second->loop && !b.second->loop;
    });
    const double all = iterations(loop);
    const bool whole_number = std::abs(all - std::round(all)) < 1e-6;
    double left = all;
    Stretch* narrowest = nullptr;
    for (auto& [width, stretch] : order) {
      // An average of many trip counts leaves half a pass on average.
      double times = whole_number ? std::floor((left + 1e-6) / width)
                                  : std::max(0.0, (left - (width - 1.0) / 2.0) / width);
      if (!stretch->loop) times = std::min(1.0, times);
      if (stretch->loop) narrowest = stretch;
      stretch->share = times * width / all;
      left -= times * width;
    }
    if (narrowest != nullptr && left > 0.0) narrowest->share += left / all;
  }
}

double LoopMatch::weight(std::uint32_t block, std::int32_t instruction) const {
  const std::int32_t loop = ptx_loop(instruction);
  const Stretch* stretch = find_stretch(block, loop);
  if (stretch == nullptr) return -1.0;
  // What stands in a machine loop but belongs outside of all says nothing about how often that
  // runs.
  const std::int32_t around = loop_of_[block];
  if (loop == kNone && around != kNone && assigned_[at(around)] != kNone) return -1.0;
  const auto copies = stretch->copies.find(ptx_block(instruction));
  return stretch->share / (copies != stretch->copies.end() ? copies->second : stretch->width);
}

}  // namespace regraph::sass
