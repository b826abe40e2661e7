#include "sass/execution_counts.h"

#include "ptx/code.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace regraph::sass {
namespace {

using ptx::InstructionClass;
using Kind = OperationClass;

constexpr std::int32_t kNone = -1;
// A machine loop stands for a PTX loop when this share of its anchors comes from there: ptxas moves
// single instructions across loops.
constexpr double kLoopShare = 0.8;

bool is_memory(Kind kind) {
  switch (kind) {
    case Kind::load_global:
    case Kind::store_global:
    case Kind::atomic_global:
    case Kind::load_shared:
    case Kind::store_shared:
    case Kind::atomic_shared:
      return true;
    default:
      return false;
  }
}

bool is_memory(InstructionClass kind) {
  return kind >= InstructionClass::load_global && kind <= InstructionClass::atomic_shared;
}

bool is_atomic(InstructionClass kind) {
  return kind == InstructionClass::atomic_global || kind == InstructionClass::atomic_shared;
}

// Copies of PTX instructions in some stretch of machine code.
using Copies = std::map<std::int32_t, int>;

// A stretch of machine code that does part of a PTX loop's iterations: a machine loop, or a block
// outside of them.
struct Stretch {
  bool loop = false;
  Copies anchors;
  Copies lines;
  double share = 1.0;  // of the PTX loop's iterations
};

class Counter {
 public:
  Counter(const MachineCode& code, const ptx::Program& program, const ptx::Profile& profile)
      : code_(code), ptx_(program.code().control_flow), profile_(profile) {}

  ExecutionCounts run() {
    const std::size_t blocks = code_.flow.blocks.size();
    counts_.executions.assign(code_.instructions.size(), 0.0);
    counts_.active.assign(code_.instructions.size(), 0.0);
    counts_.block_executions.assign(blocks, 0.0);
    counts_.ptx_instruction.assign(code_.instructions.size(), kNone);
    if (profile_.warps == 0 || ptx_.block_of.size() != profile_.instructions.size() || blocks == 0)
      return std::move(counts_);
    map_lines();
    find_cold_blocks();
    find_expansions();
    assign_loops();
    known_.assign(blocks, false);
    collect_stretches();
    share_iterations();
    for (std::uint32_t b = 0; b < blocks; ++b)
      count_block(b);
    propagate();
    count_internal_functions();
    finish();
    return std::move(counts_);
  }

 private:
  // --- PTX ---

  double executions(std::size_t instruction) const {
    return static_cast<double>(profile_.instructions[instruction].warp_executions) /
           static_cast<double>(profile_.warps);
  }

  void map_lines() {
    int last_line = 0;
    for (const auto& one : profile_.instructions)
      last_line = std::max(last_line, one.ptx_line);
    std::vector<std::int32_t> by_line(static_cast<std::size_t>(last_line) + 1, kNone);
    for (std::size_t i = 0; i < profile_.instructions.size(); ++i) {
      const int line = profile_.instructions[i].ptx_line;
      if (line > 0) by_line[static_cast<std::size_t>(line)] = static_cast<std::int32_t>(i);
    }
    for (std::size_t j = 0; j < code_.instructions.size(); ++j) {
      const int line = code_.instructions[j].ptx_line;
      if (line > 0 && line <= last_line)
        counts_.ptx_instruction[j] = by_line[static_cast<std::size_t>(line)];
    }
    ptx_executions_.assign(ptx_.blocks.size(), 0.0);
    for (std::size_t p = 0; p < ptx_.blocks.size(); ++p) {
      for (std::uint32_t i = ptx_.blocks[p].first; i < ptx_.blocks[p].last; ++i)
        ptx_executions_[p] = std::max(ptx_executions_[p], executions(i));
    }
  }

  std::uint32_t ptx_block(std::int32_t instruction) const {
    return ptx_.block_of[static_cast<std::size_t>(instruction)];
  }
  std::int32_t ptx_loop(std::int32_t instruction) const {
    return ptx_.blocks[ptx_block(instruction)].loop;
  }
  // Whether loop `inner` is `outer` or inside it; outside all loops is around everything.
  bool inside(std::int32_t inner, std::int32_t outer) const {
    if (outer == kNone) return true;
    while (inner != kNone && inner != outer)
      inner = ptx_.loops[static_cast<std::size_t>(inner)].parent;
    return inner == outer;
  }

  // Iterations of a PTX loop each time it is entered.
  double iterations(std::int32_t index) const {
    const ptx::NaturalLoop& loop = ptx_.loops[static_cast<std::size_t>(index)];
    const double header = ptx_executions_[loop.header];
    double entries = 0.0;
    for (std::uint32_t p = 0; p < ptx_.blocks.size(); ++p) {
      const auto& successors = ptx_.blocks[p].successors;
      const bool enters =
          std::find(successors.begin(), successors.end(), loop.header) != successors.end() &&
          !std::binary_search(loop.blocks.begin(), loop.blocks.end(), p);
      if (enters) entries += ptx_executions_[p];
    }
    return entries > 0.0 ? std::max(1.0, header / entries) : std::max(1.0, header);
  }

  // --- machine code ---

  template <typename Visit>
  void for_each_line(std::uint32_t block, const Visit& visit) const {
    const ptx::BasicBlock& range = code_.flow.blocks[block];
    for (std::uint32_t j = range.first; j < range.last; ++j) {
      const std::int32_t i = counts_.ptx_instruction[j];
      if (i != kNone) visit(i, anchors(j, i));
    }
  }
  bool anchors(std::uint32_t machine, std::int32_t instruction) const {
    return is_anchor(
        code_.instructions[machine].what.operation_class,
        profile_.instructions[static_cast<std::size_t>(instruction)].instruction_class);
  }

  // Blocks that control does not reach, slow paths, and what only leads to them.
  void find_cold_blocks() {
    const auto& blocks = code_.flow.blocks;
    cold_.assign(blocks.size(), true);
    std::vector<std::uint32_t> work;
    for (const CodeFunction& function : code_.functions) {
      if (!function.slow_path) work.push_back(code_.flow.block_of[function.first]);
    }
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      if (!cold_[b] || calls_slow_path(b)) continue;
      cold_[b] = false;
      for (const std::uint32_t next : blocks[b].successors)
        work.push_back(next);
    }
  }

  bool calls_slow_path(std::uint32_t block) const {
    const CodeInstruction& last = code_.instructions[code_.flow.blocks[block].last - 1];
    return last.what.operation == kCallRelative && last.target != kNoInstruction &&
           code_.function_of(last.target).slow_path;
  }

  // Loops that one atomic became: they try until no lane lost. They are no loop of the PTX; each
  // block of theirs runs as often as the rounds it takes.
  void find_expansions() {
    const auto& loops = code_.flow.loops;
    rounds_.assign(loops.size(), 0.0);
    for (std::size_t s = 0; s < loops.size(); ++s) {
      std::set<std::int32_t> lines;
      for (const std::uint32_t b : loops[s].blocks)
        for_each_line(b, [&](std::int32_t i, bool) { lines.insert(i); });
      if (lines.size() != 1) continue;
      const auto& one = profile_.instructions[static_cast<std::size_t>(*lines.begin())];
      if (!is_atomic(one.instruction_class)) continue;
      rounds_[s] = one.requests > 0 ? std::max(1.0, static_cast<double>(one.word_lanes) /
                                                        static_cast<double>(one.requests))
                                    : 1.0;
    }
    loop_of_.resize(code_.flow.blocks.size());
    for (std::uint32_t b = 0; b < loop_of_.size(); ++b) {
      std::int32_t s = code_.flow.blocks[b].loop;
      while (s != kNone && rounds_[static_cast<std::size_t>(s)] > 0.0)
        s = loops[static_cast<std::size_t>(s)].parent;
      loop_of_[b] = s;
    }
  }

  // The PTX loop that each machine loop stands for.
  void assign_loops() {
    const auto& loops = code_.flow.loops;
    assigned_.assign(loops.size(), kNone);
    for (std::size_t s = 0; s < loops.size(); ++s) {
      std::map<std::int32_t, double> anchors;
      std::map<std::int32_t, double> lines;
      for (const std::uint32_t b : loops[s].blocks) {
        if (cold_[b]) continue;
        for_each_line(b, [&](std::int32_t i, bool anchor) {
          lines[ptx_loop(i)] += 1.0;
          if (anchor) anchors[ptx_loop(i)] += 1.0;
        });
      }
      const auto& votes = anchors.empty() ? lines : anchors;
      double all = 0.0;
      for (const auto& [loop, votes_for] : votes)
        all += votes_for;
      // Loops are in order of size, so the last that fits is the innermost.
      for (std::size_t l = 0; l < ptx_.loops.size(); ++l) {
        double within = 0.0;
        for (const auto& [loop, votes_for] : votes) {
          if (loop != kNone && inside(loop, static_cast<std::int32_t>(l))) within += votes_for;
        }
        if (all > 0.0 && within >= kLoopShare * all) assigned_[s] = static_cast<std::int32_t>(l);
      }
    }
  }

  // The stretch that block `b` is for PTX loop `loop`: a machine loop's number, or that of the
  // block behind those.
  std::uint32_t stretch_of(std::uint32_t b, std::int32_t loop) const {
    const std::int32_t s = loop_of_[b];
    const bool stands_for_it = loop != kNone && s != kNone &&
                               assigned_[static_cast<std::size_t>(s)] != kNone &&
                               inside(assigned_[static_cast<std::size_t>(s)], loop);
    if (stands_for_it) return static_cast<std::uint32_t>(s);
    // Outside PTX loops everything is one stretch: copies are rare, and lie apart.
    if (loop == kNone) return kWhole;
    return static_cast<std::uint32_t>(code_.flow.loops.size()) + b;
  }

  void collect_stretches() {
    for (std::uint32_t b = 0; b < code_.flow.blocks.size(); ++b) {
      if (cold_[b]) continue;
      for_each_line(b, [&](std::int32_t i, bool anchor) {
        const std::int32_t loop = ptx_loop(i);
        const std::uint32_t at = stretch_of(b, loop);
        Stretch& stretch = stretches_[loop][at];
        stretch.loop = at < code_.flow.loops.size();
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
      for (const auto& [at, stretch] : stretches) {
        for (const auto& [i, count] : stretch.anchors)
          whole.anchors[i] += count;
        for (const auto& [i, count] : stretch.lines)
          whole.lines[i] += count;
      }
      stretches.clear();
      stretches[kWhole] = std::move(whole);
    }
  }

  const Stretch* find_stretch(std::uint32_t b, std::int32_t loop) const {
    const auto stretches = stretches_.find(loop);
    if (stretches == stretches_.end()) return nullptr;
    auto found = stretches->second.find(stretch_of(b, loop));
    if (found == stretches->second.end()) found = stretches->second.find(kWhole);
    return found == stretches->second.end() ? nullptr : &found->second;
  }

  // How many times PTX block `p` stands in a stretch; 0: it has no anchors there.
  double copies(const Stretch& stretch, std::uint32_t p) const {
    int most = 0;
    for (auto one = stretch.anchors.lower_bound(static_cast<std::int32_t>(ptx_.blocks[p].first));
         one != stretch.anchors.end() &&
         one->first < static_cast<std::int32_t>(ptx_.blocks[p].last);
         ++one) {
      most = std::max(most, one->second);
    }
    return most;
  }

  // The same of a whole loop, from its most executed blocks; without any anchor from the lines that
  // stand there least often, which are no expansions.
  double unrolled(const Stretch& stretch, std::int32_t loop) const {
    double most = 0.0;
    double header = 0.0;
    if (loop != kNone) header = ptx_executions_[ptx_.loops[static_cast<std::size_t>(loop)].header];
    for (const auto& [i, count] : stretch.anchors) {
      if (ptx_executions_[ptx_block(i)] >= 0.99 * header)
        most = std::max(most, static_cast<double>(count));
    }
    if (most > 0.0) return most;
    for (const auto& [i, count] : stretch.anchors)
      most = std::max(most, static_cast<double>(count));
    if (most > 0.0) return most;
    int least = 0;
    for (const auto& [i, count] : stretch.lines)
      least = least == 0 ? count : std::min(least, count);
    return std::max(1, least);
  }

  void share_iterations() {
    for (auto& [loop, stretches] : stretches_) {
      if (loop == kNone || stretches.size() < 2) continue;
      std::vector<std::pair<double, Stretch*>> order;
      for (auto& [at, stretch] : stretches) {
        stretch.share = 0.0;
        // Single instructions that were moved out of the loop do no iteration.
        if (!stretch.loop && stretch.anchors.empty()) continue;
        order.emplace_back(unrolled(stretch, loop), &stretch);
      }
      std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second->loop && !b.second->loop;
      });
      const double all = iterations(loop);
      const bool whole_number = std::abs(all - std::round(all)) < 1e-6;
      double left = all;
      Stretch* narrowest = nullptr;
      for (auto& [width, stretch] : order) {
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

  double rounds(std::uint32_t b) const {
    double product = 1.0;
    for (std::int32_t s = code_.flow.blocks[b].loop; s != kNone;
         s = code_.flow.loops[static_cast<std::size_t>(s)].parent) {
      if (rounds_[static_cast<std::size_t>(s)] > 0.0)
        product *= rounds_[static_cast<std::size_t>(s)];
    }
    return product;
  }

  void count_block(std::uint32_t b) {
    if (cold_[b]) {
      known_[b] = true;
      return;
    }
    double most = -1.0;
    const std::int32_t around = loop_of_[b];
    for_each_line(b, [&](std::int32_t i, bool) {
      const std::uint32_t p = ptx_block(i);
      const std::int32_t loop = ptx_.blocks[p].loop;
      const Stretch* stretch = find_stretch(b, loop);
      if (stretch == nullptr) return;
      // What stands in a machine loop but belongs outside of it says nothing about how often that
      // loop runs.
      const bool moved_in =
          around != kNone && assigned_[static_cast<std::size_t>(around)] != kNone &&
          !inside(loop, assigned_[static_cast<std::size_t>(around)]) && loop == kNone;
      if (moved_in) return;
      double count = copies(*stretch, p);
      if (count == 0.0) count = loop == kNone ? 1.0 : unrolled(*stretch, loop);
      most = std::max(most, ptx_executions_[p] * stretch->share / count);
    });
    if (most < 0.0) return;
    counts_.block_executions[b] = most * rounds(b);
    known_[b] = true;
  }

  // Blocks that no line speaks of: what flows in flows out.
  void propagate() {
    const auto& blocks = code_.flow.blocks;
    std::vector<std::vector<std::uint32_t>> predecessors(blocks.size());
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      for (const std::uint32_t next : blocks[b].successors)
        predecessors[next].push_back(b);
    }
    const auto all_known = [&](const std::vector<std::uint32_t>& some) {
      return !some.empty() && std::all_of(some.begin(), some.end(),
                                          [&](std::uint32_t b) { return bool{known_[b]}; });
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t b = 0; b < blocks.size(); ++b) {
        if (known_[b]) continue;
        double in = 0.0;
        if (!all_known(predecessors[b])) continue;
        for (const std::uint32_t from : predecessors[b]) {
          double out = counts_.block_executions[from];
          bool sure = true;
          for (const std::uint32_t other : blocks[from].successors) {
            if (other == b) continue;
            sure = sure && known_[other];
            if (known_[other] && predecessors[other].size() == 1)
              out -= counts_.block_executions[other];
          }
          in += std::max(0.0, out);
        }
        counts_.block_executions[b] = in;
        known_[b] = true;
        changed = true;
      }
    }
  }

  // ptxas' own subroutines run as often as they are called, each of their instructions once.
  void count_internal_functions() {
    std::map<const CodeFunction*, double> calls;
    for (std::uint32_t b = 0; b < code_.flow.blocks.size(); ++b) {
      const CodeInstruction& last = code_.instructions[code_.flow.blocks[b].last - 1];
      if (last.what.operation == kCallRelative && last.target != kNoInstruction)
        calls[&code_.function_of(last.target)] += counts_.block_executions[b];
    }
    for (const CodeFunction& function : code_.functions) {
      if (!function.internal) continue;
      const auto found = calls.find(&function);
      const double times = found == calls.end() ? 0.0 : found->second;
      for (std::uint32_t j = function.first; j < function.last;
           j = code_.flow.blocks[code_.flow.block_of[j]].last) {
        const std::uint32_t b = code_.flow.block_of[j];
        counts_.block_executions[b] = cold_[b] ? 0.0 : times;
      }
    }
  }

  // A guarded instruction may stand for a PTX instruction that ran less often than its block.
  double active(std::uint32_t machine, double times) const {
    const std::int32_t i = counts_.ptx_instruction[machine];
    const std::uint32_t b = code_.flow.block_of[machine];
    if (!code_.instructions[machine].what.guarded() || i == kNone || times == 0.0) return times;
    const Stretch* stretch = find_stretch(b, ptx_loop(i));
    if (stretch == nullptr) return times;
    double count = copies(*stretch, ptx_block(i));
    if (count == 0.0) count = ptx_loop(i) == kNone ? 1.0 : unrolled(*stretch, ptx_loop(i));
    return std::min(times,
                    executions(static_cast<std::size_t>(i)) * stretch->share / count * rounds(b));
  }

  bool ptx_accesses() const {
    return std::any_of(profile_.instructions.begin(), profile_.instructions.end(),
                       [](const ptx::InstructionProfile& one) {
                         return one.warp_executions > 0 &&
                                (one.instruction_class == InstructionClass::load_global ||
                                 one.instruction_class == InstructionClass::store_global);
                       });
  }

  void finish() {
    double memory = 0.0;
    double matched = 0.0;
    double unknown = 0.0;
    double all = 0.0;
    for (std::uint32_t j = 0; j < code_.instructions.size(); ++j) {
      const double times = counts_.block_executions[code_.flow.block_of[j]];
      counts_.executions[j] = times;
      counts_.active[j] = active(j, times);
      all += times;
      const Kind kind = code_.instructions[j].what.operation_class;
      if (kind == Kind::unknown) unknown += times;
      if (!is_memory(kind)) continue;
      memory += times;
      const std::int32_t i = counts_.ptx_instruction[j];
      if (i != kNone &&
          is_memory(profile_.instructions[static_cast<std::size_t>(i)].instruction_class) &&
          (anchors(j, i) ||
           is_atomic(profile_.instructions[static_cast<std::size_t>(i)].instruction_class))) {
        matched += times;
      }
    }
    if (memory > 0.0) {
      counts_.matched_memory = matched / memory;
    } else if (ptx_accesses()) {
      counts_.matched_memory = 0.0;  // lost, all of them
    }
    if (all > 0.0) counts_.unknown = unknown / all;
  }

  static constexpr std::uint32_t kWhole = 0xffffffffU;

  const MachineCode& code_;
  const ptx::ControlFlow& ptx_;
  const ptx::Profile& profile_;
  ExecutionCounts counts_;
  std::vector<double> ptx_executions_;  // of PTX blocks
  std::vector<bool> cold_;              // of machine blocks
  std::vector<bool> known_;
  std::vector<double> rounds_;          // of machine loops that one atomic became; else 0
  std::vector<std::int32_t> loop_of_;   // of machine blocks: the innermost other loop
  std::vector<std::int32_t> assigned_;  // of machine loops: the PTX loop
  std::map<std::int32_t, std::map<std::uint32_t, Stretch>> stretches_;  // of PTX loops
};

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

ExecutionCounts count_executions(const MachineCode& code, const ptx::Program& program,
                                 const ptx::Profile& profile) {
  return Counter(code, program, profile).run();
}

}  // namespace regraph::sass
