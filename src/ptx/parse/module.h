// A parsed PTX module: plain data, names resolved to registers, variables and labels.
#pragma once

#include "base/result.h"
#include "ptx/parse/data_type.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::ptx {

enum class StateSpace : std::uint8_t { generic, global, shared, local, constant, parameter };

// A 64-bit word of an initialiser that is the address of another variable or of a function.
struct AddressInitialiser {
  std::uint64_t offset = 0;    // bytes into the initialised variable
  std::uint32_t variable = 0;  // into Module::variables, or Module::functions
  bool of_function = false;
  std::int64_t addend = 0;
  bool generic = false;  // generic(x): the address as a generic one
};

// A variable of any state space. `bytes` is the whole array; 0 for `.extern .shared x[]`.
struct Variable {
  std::string_view name;
  StateSpace space = StateSpace::global;
  DataType type = DataType::b8;
  std::uint64_t alignment = 1;
  std::uint64_t bytes = 0;
  bool is_extern = false;
  std::vector<std::byte> initial;  // shorter than bytes: the rest is zero
  std::vector<AddressInitialiser> addresses;
};

struct Operand {
  enum class Kind : std::uint8_t {
    reg,       // index: register
    special,   // text: %tid.x
    variable,  // index: into Module::variables; offset is added
    label,     // text
    integer,   // bits
    real32,    // bits
    real64,    // bits
    list,      // { } or ( ): elements [index, index + count) of Function::elements
    address,   // [ ]: elements[index] is the base, offset is added
    sink,      // _
    function,  // text: a name that is declared as a function, or a call target
  };
  Kind kind = Kind::sink;
  bool negated = false;  // !p
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  std::string_view text;
  // The second destination of `%p|%q` and `%r|%p`, as register index; -1: none, -2: sink.
  std::int32_t second = -1;
};

struct Instruction {
  std::string_view mnemonic;  // ld.global.f32
  std::int32_t guard = -1;    // register index of the predicate
  bool guard_negated = false;
  std::uint32_t first_operand = 0;  // into Function::operands
  std::uint32_t operand_count = 0;
  int line = 0;               // of the PTX text, 1-based
  int source_line = 0;        // of the CUDA source by .loc, 0 when unknown
  std::uint32_t segment = 0;  // into Program::Code::segments, after linking
};

struct Label {
  std::string_view name;
  std::uint32_t segment = 0;      // names are unique within one
  std::uint32_t instruction = 0;  // index of the next instruction
  bool is_closed = false;         // known within braces, which are parsed
};

struct Function {
  std::string_view name;
  bool is_entry = false;
  bool has_body = false;
  std::array<std::uint32_t, 3> cluster = {1, 1, 1};  // blocks of a cluster, by .reqnctapercluster
  int line = 0;
  std::vector<std::uint32_t> parameters;  // indices into Module::variables, in order
  std::vector<std::uint32_t> results;     // likewise
  std::vector<DataType> registers;
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<Operand> elements;
  std::vector<Label> labels;  // sorted by segment and name
  // `LABEL: .branchtargets A, B;` tables for brx.idx.
  struct BranchTargets {
    std::string_view name;
    std::vector<std::string_view> targets;
    std::uint32_t segment = 0;
  };
  std::vector<BranchTargets> branch_targets;
};

struct Module {
  std::string text;                   // what the string_views point into, but for these
  std::deque<std::string> own_names;  // of labels that are known in a part of a function alone
  std::string_view version;
  std::string_view target;
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

// Limits that keep memory bounded on hostile text; far above anything a compiler emits.
inline constexpr std::size_t kMaximumPtxBytes = 64u << 20;
inline constexpr std::size_t kMaximumRegisters = 1u << 20;
inline constexpr std::size_t kMaximumScopeDepth = 64;
inline constexpr std::uint64_t kMaximumVariableBytes = 1ULL << 30;

// Error: parse, with "PTX line N: ...". The Module owns a copy of the text at a stable address.
[[nodiscard]] Result<std::shared_ptr<const Module>> parse_module(std::string_view text);

}  // namespace regraph::ptx
