#include "eval/model/loop_recurrences.h"

#include "ptx/decode/code.h"
#include "ptx/decode/def_use.h"
#include "ptx/decode/opcode.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace regraph {
namespace {

using ptx::InstructionClass;
using ptx::InstructionRole;
using ptx::Operand;

constexpr std::uint32_t kNoGroup = 0xffffffffU;

// Strongly connected components of registers (Tarjan's algorithm without recursion): those of one
// group depend on each other.
class RegisterGroups {
 public:
  explicit RegisterGroups(const std::vector<std::vector<std::uint32_t>>& edges)
      : edges_(edges), group_(edges.size(), kNoGroup), order_(edges.size(), 0), low_(edges.size()) {
    for (std::uint32_t one = 0; one < edges.size(); ++one) {
      if (order_[one] == 0) visit(one);
    }
  }

  [[nodiscard]] const std::vector<std::uint32_t>& groups() const { return group_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  struct Frame {
    std::uint32_t node;
    std::size_t next;
  };

  void enter(std::uint32_t node) {
    order_[node] = low_[node] = ++time_;
    stack_.push_back(node);
    frames_.push_back({node, 0});
  }

  void visit(std::uint32_t root) {
    enter(root);
    while (!frames_.empty()) {
      const std::uint32_t node = frames_.back().node;
      if (frames_.back().next < edges_[node].size()) {
        const std::uint32_t to = edges_[node][frames_.back().next++];
        if (order_[to] == 0) {
          enter(to);
        } else if (group_[to] == kNoGroup) {
          low_[node] = std::min(low_[node], order_[to]);
        }
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty())
        low_[frames_.back().node] = std::min(low_[frames_.back().node], low_[node]);
      if (low_[node] == order_[node]) close(node);
    }
  }

  void close(std::uint32_t root) {
    std::uint32_t node = kNoGroup;
    do {
      node = stack_.back();
      stack_.pop_back();
      group_[node] = count_;
    } while (node != root);
    ++count_;
  }

  const std::vector<std::vector<std::uint32_t>>& edges_;
  std::vector<std::uint32_t> group_;
  std::vector<std::uint32_t> order_;  // 0: not seen
  std::vector<std::uint32_t> low_;
  std::vector<std::uint32_t> stack_;
  std::vector<Frame> frames_;
  std::uint32_t time_ = 0;
  std::uint32_t count_ = 0;
};

// What is known of the registers of one group.
struct Group {
  bool cyclic = false;
  bool any_order = true;   // only by operations that may be done in any order
  bool takes_new = false;  // something computed in the loop, outside the group
  bool accumulates() const { return cyclic && any_order && takes_new; }
};

bool may_carry(InstructionClass kind) {
  switch (kind) {
    case InstructionClass::move:
    case InstructionClass::fp32_fma:
    case InstructionClass::fp32_other:
    case InstructionClass::fp64:
    case InstructionClass::fp16:
    case InstructionClass::integer:
    case InstructionClass::integer_multiply:
    case InstructionClass::logic:
    case InstructionClass::conversion:  // sums in half precision are widened and narrowed
      return true;
    default:
      return false;
  }
}

class RecurrenceFinder {
 public:
  RecurrenceFinder(const ptx::Program::Code& code, const std::vector<std::size_t>& instructions)
      : code_(code), function_(*code.function), instructions_(instructions) {
    const std::size_t registers = function_.registers.size();
    edges_.resize(registers);
    computed_.resize(registers, false);
    for (const std::size_t index : instructions_) {
      const ptx::InstructionEffect& effect =
          effects_.emplace_back(ptx::effect_of(function_, function_.instructions[index]));
      const bool moves = code_.instructions[index].instruction_class == InstructionClass::move;
      for (const std::uint32_t target : effect.defines) {
        if (!moves) computed_[target] = true;
        for (const std::uint32_t source : effect.uses)
          edges_[source].push_back(target);
        // A guarded instruction keeps what was there.
        if (function_.instructions[index].guard >= 0) edges_[target].push_back(target);
      }
    }
  }

  Recurrences find() {
    const RegisterGroups found(edges_);
    group_of_ = found.groups();
    groups_.resize(found.count());
    std::vector<std::uint32_t> sizes(found.count(), 0);
    for (const std::uint32_t group : group_of_)
      ++sizes[group];
    for (std::uint32_t one = 0; one < edges_.size(); ++one) {
      Group& group = groups_[group_of_[one]];
      group.cyclic = group.cyclic || sizes[group_of_[one]] > 1 ||
                     std::ranges::find(edges_[one], one) != edges_[one].end();
    }
    for (std::size_t at = 0; at < instructions_.size(); ++at)
      look_at(at);
    Recurrences result;
    for (const Group& group : groups_)
      result.accumulations += group.accumulates() ? 1 : 0;
    for (std::size_t at = 0; at < instructions_.size(); ++at) {
      if (adds_product(at)) result.products.push_back(instructions_[at]);
    }
    return result;
  }

 private:
  [[nodiscard]] bool is_product(std::size_t at) const {
    const std::string_view name =
        ptx::Opcode(function_.instructions[instructions_[at]].mnemonic).name();
    return name == "fma" || name == "mad" || name == "dp4a" || name == "dp2a";
  }

  // Whether operand `place` of the instruction is, or holds, a register of the group.
  [[nodiscard]] bool operand_in(std::size_t at, std::uint32_t place, std::uint32_t group) const {
    const ptx::Instruction& instruction = function_.instructions[instructions_[at]];
    if (place >= instruction.operand_count) return false;
    const Operand& operand = function_.operands[instruction.first_operand + place];
    return operand.kind == Operand::Kind::reg && group_of_[operand.index] == group;
  }

  // Whether rounds cannot change places: a factor is carried (x = x * a + b), or what is shifted.
  [[nodiscard]] bool orders(std::size_t at, std::uint32_t group) const {
    const std::string_view name =
        ptx::Opcode(function_.instructions[instructions_[at]].mnemonic).name();
    if (name == "shl" || name == "shr" || name == "shf") return true;
    return is_product(at) && (operand_in(at, 1, group) || operand_in(at, 2, group));
  }

  void look_at(std::size_t at) {
    const ptx::InstructionEffect& effect = effects_[at];
    for (const std::uint32_t target : effect.defines) {
      const std::uint32_t number = group_of_[target];
      Group& group = groups_[number];
      if (!group.cyclic) continue;
      const InstructionClass kind = code_.instructions[instructions_[at]].instruction_class;
      if (effect.role != InstructionRole::plain || !may_carry(kind) || orders(at, number))
        group.any_order = false;
      for (const std::uint32_t source : effect.uses)
        group.takes_new = group.takes_new || (group_of_[source] != number && computed_[source]);
    }
  }

  [[nodiscard]] bool adds_product(std::size_t at) const {
    constexpr std::uint32_t kSum = 3;
    return is_product(at) && std::ranges::any_of(effects_[at].defines, [&](std::uint32_t target) {
             const std::uint32_t group = group_of_[target];
             return groups_[group].accumulates() && operand_in(at, kSum, group);
           });
  }

  const ptx::Program::Code& code_;
  const ptx::Function& function_;
  const std::vector<std::size_t>& instructions_;
  std::vector<ptx::InstructionEffect> effects_;    // by place in instructions_
  std::vector<std::vector<std::uint32_t>> edges_;  // by register: what is computed from it
  std::vector<bool> computed_;                     // by register: here, not only moved
  std::vector<std::uint32_t> group_of_;
  std::vector<Group> groups_;
};

}  // namespace

Recurrences find_recurrences(const ptx::Program& program,
                             const std::vector<std::size_t>& instructions) {
  if (instructions.empty()) return {};
  return RecurrenceFinder(program.code(), instructions).find();
}

}  // namespace regraph
