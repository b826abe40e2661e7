#include "ptx/decode/register_allocation.h"

#include "ptx/decode/def_use.h"

#include <algorithm>
#include <queue>

namespace regraph::ptx {
namespace {

// Bits of live-in sets beyond which analysis would cost more than it saves.
constexpr std::size_t kMostBits = 1U << 27;

using BitSet = std::vector<std::uint64_t>;

void insert(BitSet& set, std::uint32_t bit) {
  set[bit / 64] |= 1ULL << (bit % 64);
}
void erase(BitSet& set, std::uint32_t bit) {
  set[bit / 64] &= ~(1ULL << (bit % 64));
}

// Uses are at 2i, definitions at 2i + 1: a result may take the place of a source that ends there.
struct Range {
  std::uint32_t begin = ~0U;
  std::uint32_t end = 0;
  void cover(std::uint32_t at) {
    begin = std::min(begin, at);
    end = std::max(end, at);
  }
};

class Liveness {
 public:
  Liveness(const Function& function, const ControlFlow& flow) : function_(function), flow_(flow) {
    effects_.reserve(function.instructions.size());
    for (const Instruction& instruction : function.instructions) {
      effects_.push_back(effect_of(function, instruction));
    }
  }

  std::vector<Range> ranges() {
    const std::size_t words = (function_.registers.size() + 63) / 64;
    live_in_.assign(flow_.blocks.size(), BitSet(words, 0));
    bool changed = true;
    while (changed) {
      changed = false;
      for (std::size_t b = flow_.blocks.size(); b-- > 0;) {
        BitSet live = live_out(b);
        walk(b, live, [](std::uint32_t, std::uint32_t) {});
        if (live == live_in_[b]) continue;
        live_in_[b] = std::move(live);
        changed = true;
      }
    }
    std::vector<Range> ranges(function_.registers.size());
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
      const BasicBlock& block = flow_.blocks[b];
      BitSet live = live_out(b);
      cover_all(live, 2 * block.last - 1, ranges);
      walk(b, live, [&](std::uint32_t reg, std::uint32_t at) { ranges[reg].cover(at); });
      cover_all(live, 2 * block.first, ranges);
    }
    return ranges;
  }

 private:
  [[nodiscard]] BitSet live_out(std::size_t b) const {
    BitSet live((function_.registers.size() + 63) / 64, 0);
    for (std::uint32_t successor : flow_.blocks[b].successors) {
      for (std::size_t w = 0; w < live.size(); ++w)
        live[w] |= live_in_[successor][w];
    }
    return live;
  }

  // Backwards over a block, from live-out to live-in.
  template <typename Visit>
  void walk(std::size_t b, BitSet& live, Visit visit) const {
    const BasicBlock& block = flow_.blocks[b];
    for (std::uint32_t i = block.last; i-- > block.first;) {
      const InstructionEffect& effect = effects_[i];
      const bool guarded = function_.instructions[i].guard >= 0;
      for (std::uint32_t reg : effect.defines) {
        visit(reg, 2 * i + 1);
        // Under a guard the old value survives in the other lanes.
        if (guarded) {
          insert(live, reg);
        } else {
          erase(live, reg);
        }
      }
      for (std::uint32_t reg : effect.uses) {
        visit(reg, 2 * i);
        insert(live, reg);
      }
    }
  }

  static void cover_all(const BitSet& live, std::uint32_t at, std::vector<Range>& ranges) {
    for (std::size_t w = 0; w < live.size(); ++w) {
      for (std::uint64_t rest = live[w]; rest != 0; rest &= rest - 1) {
        ranges[w * 64 + static_cast<std::size_t>(__builtin_ctzll(rest))].cover(at);
      }
    }
  }

  const Function& function_;
  const ControlFlow& flow_;
  std::vector<InstructionEffect> effects_;
  std::vector<BitSet> live_in_;
};

}  // namespace

RegisterAllocation allocate_registers(const Function& function, const ControlFlow& control_flow,
                                      const std::vector<Segment>& segments) {
  RegisterAllocation allocation;
  const std::size_t count = function.registers.size();
  if (count == 0 || control_flow.blocks.size() > kMostBits / count) return allocation;
  const std::vector<Range> ranges = Liveness(function, control_flow).ranges();
  std::vector<std::uint32_t> order;
  for (std::uint32_t reg = 0; reg < count; ++reg) {
    if (ranges[reg].begin != ~0U && function.registers[reg] != DataType::predicate) {
      order.push_back(reg);
    }
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(ranges[a].begin, a) < std::pair(ranges[b].begin, b);
  });
  allocation.storage.resize(count);
  for (const bool wide : {false, true}) {
    using End = std::pair<std::uint32_t, std::uint32_t>;  // end of the range, storage
    std::priority_queue<End, std::vector<End>, std::greater<>> active;
    std::vector<std::uint32_t> free;
    std::uint32_t next = 0;
    std::size_t segment = 0;
    for (std::uint32_t reg : order) {
      if ((size_in_bytes(function.registers[reg]) == 8) != wide) continue;
      // Instructions, and so ranges, of a segment stand together.
      while (segment + 1 < segments.size() && reg >= segments[segment + 1].first_register) {
        ++segment;
        active = {};
        free.clear();
      }
      while (!active.empty() && active.top().first < ranges[reg].begin) {
        free.push_back(active.top().second);
        active.pop();
      }
      std::uint32_t storage = next;
      if (free.empty()) {
        ++next;
      } else {
        storage = free.back();
        free.pop_back();
      }
      allocation.storage[reg] = storage;
      active.emplace(ranges[reg].end, storage);
    }
  }
  return allocation;
}

}  // namespace regraph::ptx
