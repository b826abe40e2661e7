#include "eval/verify/predicate_slice.h"

#include "ptx/decode/code.h"
#include "ptx/decode/opcode.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <string_view>

namespace regraph::verify {
namespace {

using ptx::Operand;

// Beyond that a slice tells nothing about sizes alone.
constexpr std::size_t kMostInstructions = 512;

bool exchanges_with_others(std::string_view name) {
  return name == "shfl" || name == "vote" || name == "match" || name == "redux" ||
         name == "activemask" || name == "elect" || name == "call";
}

bool names_a_thread(std::string_view special) {
  return special.starts_with("%tid") || special.starts_with("%ctaid") ||
         special.starts_with("%laneid") || special.starts_with("%lanemask") ||
         special.starts_with("%cluster");
}

// An integer type of an instruction: its width and whether it is signed.
struct IntegerType {
  unsigned bits = 32;
  bool is_signed = false;

  [[nodiscard]] std::uint64_t cut(std::uint64_t value) const {
    return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
  }
  [[nodiscard]] std::int64_t as_signed(std::uint64_t value) const {
    const unsigned shift = 64 - bits;
    return static_cast<std::int64_t>(value << shift) >> shift;
  }
};

std::optional<IntegerType> integer_type(std::string_view suffix) {
  const auto type = ptx::data_type_from_name(suffix);
  if (!type || ptx::is_floating(*type)) return std::nullopt;
  if (*type == ptx::DataType::predicate) return IntegerType{1, false};
  const std::size_t bytes = ptx::size_in_bytes(*type);
  if (bytes > 8) return std::nullopt;
  return IntegerType{static_cast<unsigned>(8 * bytes), ptx::is_signed_integer(*type)};
}

std::optional<bool> compare(std::string_view how, const IntegerType& type, std::uint64_t a,
                            std::uint64_t b) {
  const std::int64_t x = type.as_signed(a);
  const std::int64_t y = type.as_signed(b);
  const std::uint64_t u = type.cut(a);
  const std::uint64_t v = type.cut(b);
  if (how == "eq") return u == v;
  if (how == "ne") return u != v;
  if (how == "lo") return u < v;
  if (how == "ls") return u <= v;
  if (how == "hi") return u > v;
  if (how == "hs") return u >= v;
  if (how == "lt") return type.is_signed ? x < y : u < v;
  if (how == "le") return type.is_signed ? x <= y : u <= v;
  if (how == "gt") return type.is_signed ? x > y : u > v;
  if (how == "ge") return type.is_signed ? x >= y : u >= v;
  return std::nullopt;
}

std::uint64_t high_half(const IntegerType& type, std::uint64_t a, std::uint64_t b) {
  if (type.is_signed) {
    const auto product = static_cast<__int128>(type.as_signed(a)) * type.as_signed(b);
    return static_cast<std::uint64_t>(product >> type.bits);
  }
  const auto product = static_cast<unsigned __int128>(type.cut(a)) * type.cut(b);
  return static_cast<std::uint64_t>(product >> type.bits);
}

std::optional<std::uint64_t> shifted(std::string_view name, const IntegerType& type,
                                     std::uint64_t value, std::uint64_t by) {
  by &= 0xffffffffU;
  if (name == "shl") return by >= type.bits ? 0 : value << by;
  if (type.is_signed) {
    return static_cast<std::uint64_t>(type.as_signed(value) >>
                                      std::min<std::uint64_t>(by, type.bits - 1));
  }
  return by >= type.bits ? 0 : type.cut(value) >> by;
}

std::optional<std::uint64_t> quotient(bool remainder, const IntegerType& type, std::uint64_t a,
                                      std::uint64_t b) {
  if (type.cut(b) == 0) return std::nullopt;
  if (!type.is_signed) return remainder ? type.cut(a) % type.cut(b) : type.cut(a) / type.cut(b);
  const std::int64_t x = type.as_signed(a);
  const std::int64_t y = type.as_signed(b);
  if (y == -1) return remainder ? 0 : static_cast<std::uint64_t>(0) - a;
  return static_cast<std::uint64_t>(remainder ? x % y : x / y);
}

// One instruction of a slice.
class Step {
 public:
  Step(const ptx::Function& function, const ptx::Instruction& instruction,
       const std::map<std::uint32_t, std::uint64_t>& values)
      : function_(function),
        instruction_(instruction),
        values_(values),
        opcode_(instruction.mnemonic) {}

  // Of the first operand; nothing where the operation is not known.
  std::optional<std::uint64_t> run(std::span<const std::byte> parameters,
                                   const std::vector<ptx::Program::ParameterLayout>& layout,
                                   const Dim3& grid, const Dim3& block) {
    parameters_ = parameters;
    layout_ = &layout;
    grid_ = grid;
    block_ = block;
    const std::string_view mnemonic = instruction_.mnemonic;
    const auto type = integer_type(mnemonic.substr(mnemonic.rfind('.') + 1));
    const std::string_view name = opcode_.name();
    if (!type) return std::nullopt;
    if (name == "ld") return parameter(*type);
    const auto a = operand(1);
    if (!a) return std::nullopt;
    if (name == "mov" || name == "cvta") return *a;
    if (name == "cvt") return converted(*type, *a);
    if (name == "not") return ~*a;
    if (name == "neg") return std::uint64_t{0} - *a;
    if (name == "abs") return static_cast<std::uint64_t>(std::abs(type->as_signed(*a)));
    const auto b = operand(2);
    if (!b) return std::nullopt;
    if (name == "setp") return comparison(*type, *a, *b);
    if (name == "selp") {
      const auto chosen = operand(3);
      if (!chosen) return std::nullopt;
      return (*chosen & 1U) != 0 ? *a : *b;
    }
    return arithmetic(name, *type, *a, *b);
  }

 private:
  [[nodiscard]] const Operand& raw(std::uint32_t number) const {
    return function_.operands[instruction_.first_operand + number];
  }

  [[nodiscard]] std::optional<std::uint64_t> operand(std::uint32_t number) const {
    if (number >= instruction_.operand_count) return std::nullopt;
    const Operand& one = raw(number);
    switch (one.kind) {
      case Operand::Kind::reg: {
        const auto found = values_.find(one.index);
        if (found == values_.end()) return std::nullopt;
        return one.negated ? found->second ^ 1U : found->second;
      }
      case Operand::Kind::integer:
        return one.bits;
      case Operand::Kind::special:
        return extent(one.text);
      default:
        return std::nullopt;
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> extent(std::string_view special) const {
    if (special == "%ntid.x") return block_.x;
    if (special == "%ntid.y") return block_.y;
    if (special == "%ntid.z") return block_.z;
    if (special == "%nctaid.x") return grid_.x;
    if (special == "%nctaid.y") return grid_.y;
    if (special == "%nctaid.z") return grid_.z;
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::uint64_t> parameter(const IntegerType& type) const {
    if (!opcode_.has("param") || instruction_.operand_count < 2) return std::nullopt;
    const Operand& address = raw(1);
    if (address.kind != Operand::Kind::address) return std::nullopt;
    const Operand& base = function_.elements[address.index];
    if (base.kind != Operand::Kind::variable) return std::nullopt;
    const auto found = std::ranges::find(function_.parameters, base.index);
    if (found == function_.parameters.end()) return std::nullopt;
    const auto number = static_cast<std::size_t>(found - function_.parameters.begin());
    if (number >= layout_->size()) return std::nullopt;
    const std::int64_t at =
        static_cast<std::int64_t>((*layout_)[number].offset) + address.offset + base.offset;
    const std::size_t bytes = type.bits / 8;
    if (at < 0 || static_cast<std::size_t>(at) + bytes > parameters_.size()) return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, parameters_.data() + at, bytes);
    return type.is_signed ? static_cast<std::uint64_t>(type.as_signed(value)) : value;
  }

  // cvt.TO.FROM
  [[nodiscard]] std::optional<std::uint64_t> converted(const IntegerType& from,
                                                       std::uint64_t value) const {
    const std::string_view mnemonic = instruction_.mnemonic;
    const std::size_t last = mnemonic.rfind('.');
    const std::size_t before = mnemonic.rfind('.', last - 1);
    const auto to = integer_type(mnemonic.substr(before + 1, last - before - 1));
    if (!to) return std::nullopt;
    return to->cut(from.is_signed ? static_cast<std::uint64_t>(from.as_signed(value))
                                  : from.cut(value));
  }

  [[nodiscard]] std::optional<std::uint64_t> comparison(const IntegerType& type, std::uint64_t a,
                                                        std::uint64_t b) const {
    const auto result = compare(opcode_.modifier(0), type, a, b);
    if (!result || instruction_.operand_count > 3) return std::nullopt;  // joined with another
    return *result ? 1 : 0;
  }

  [[nodiscard]] std::optional<std::uint64_t> arithmetic(std::string_view name,
                                                        const IntegerType& type, std::uint64_t a,
                                                        std::uint64_t b) const {
    const bool wide = opcode_.has("wide");
    const auto extended = [&](std::uint64_t value) {
      return type.is_signed ? static_cast<std::uint64_t>(type.as_signed(value)) : type.cut(value);
    };
    if (name == "add") return a + b;
    if (name == "sub") return a - b;
    if (name == "and") return a & b;
    if (name == "or") return a | b;
    if (name == "xor") return a ^ b;
    if (name == "shl" || name == "shr") return shifted(name, type, a, b);
    if (name == "div" || name == "rem") return quotient(name == "rem", type, a, b);
    if (name == "min" || name == "max") {
      const auto less = compare("lt", type, a, b);
      return *less == (name == "min") ? a : b;
    }
    if (name == "mul") {
      if (wide) return extended(a) * extended(b);
      return opcode_.has("hi") ? high_half(type, a, b) : a * b;
    }
    if (name == "mad") {
      const auto c = operand(3);
      if (!c) return std::nullopt;
      if (wide) return extended(a) * extended(b) + *c;
      return (opcode_.has("hi") ? high_half(type, a, b) : a * b) + *c;
    }
    return std::nullopt;
  }

  const ptx::Function& function_;
  const ptx::Instruction& instruction_;
  const std::map<std::uint32_t, std::uint64_t>& values_;
  ptx::Opcode opcode_;
  std::span<const std::byte> parameters_;
  const std::vector<ptx::Program::ParameterLayout>* layout_ = nullptr;
  Dim3 grid_;
  Dim3 block_;
};

}  // namespace

PredicateSlice::PredicateSlice(const ptx::Program& program, const ptx::DefinitionTable& definitions,
                               std::size_t instruction)
    : program_(program) {
  collect(definitions, instruction);
}

// Registers that are set at several places make a loop, or a choice that a branch made: threads may
// differ in it.
void PredicateSlice::collect(const ptx::DefinitionTable& definitions, std::size_t instruction) {
  const ptx::Function& function = *program_.code().function;
  std::set<std::size_t> seen = {instruction};
  std::vector<std::size_t> left = {instruction};
  while (!left.empty()) {
    const std::size_t at = left.back();
    left.pop_back();
    order_.push_back(at);
    const ptx::Instruction& one = function.instructions[at];
    const ptx::InstructionEffect& effect = definitions.effect(at);
    const std::string_view name = ptx::Opcode(one.mnemonic).name();
    const bool reads_parameter = effect.role == ptx::InstructionRole::load && !effect.global &&
                                 !effect.block_local && ptx::Opcode(one.mnemonic).has("param");
    if ((effect.role != ptx::InstructionRole::plain && !reads_parameter) ||
        exchanges_with_others(name)) {
      depends_on_ = DependsOn::data;
      return;
    }
    if (one.guard >= 0) depends_on_ = std::max(depends_on_, DependsOn::threads);
    for (std::uint32_t i = 0; i < one.operand_count; ++i) {
      const Operand& operand = function.operands[one.first_operand + i];
      if (operand.kind == Operand::Kind::special && names_a_thread(operand.text))
        depends_on_ = std::max(depends_on_, DependsOn::threads);
    }
    for (const std::uint32_t used : effect.uses) {
      const std::vector<std::size_t>& sets = definitions.definitions(used);
      if (sets.size() != 1) depends_on_ = std::max(depends_on_, DependsOn::threads);
      for (const std::size_t set : sets)
        if (seen.insert(set).second) left.push_back(set);
    }
  }
  std::ranges::sort(order_);  // one definition each: it stands before its uses
}

std::optional<bool> PredicateSlice::holds(std::span<const std::byte> parameters, const Dim3& grid,
                                          const Dim3& block) {
  if (depends_on_ != DependsOn::parameters || order_.size() > kMostInstructions)
    return std::nullopt;
  const ptx::Function& function = *program_.code().function;
  values_.clear();
  for (const std::size_t at : order_) {
    const ptx::Instruction& one = function.instructions[at];
    const auto value =
        Step(function, one, values_).run(parameters, program_.parameters(), grid, block);
    if (!value) return std::nullopt;
    const Operand& target = function.operands[one.first_operand];
    if (target.kind != Operand::Kind::reg) return std::nullopt;
    values_[target.index] = *value;
    if (at == order_.back()) return (*value & 1U) != 0;
  }
  return std::nullopt;
}

}  // namespace regraph::verify
