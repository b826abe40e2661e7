// The kernel IR: what steps rewrite. A small tree of expressions and statements, independent of the
// front end that made it and printed back to CUDA C++ by printer.h.
//
//   Unit    = text before the kernel | Kernel | text after it      (the texts are carried verbatim)
//   Kernel  = signature, attributes, body
//   body    = Block = [Stmt]; a Stmt holds Exprs and Blocks
//
// Nodes are immutable and shared: a rewrite builds new nodes along the path to the root and shares
// the rest. Names are unique within a kernel, except that a name may be declared again in a
// disjoint scope with the same type and the same initial value, so a name still has one meaning
// (see uniquify.h). What the IR has no node for is kept as `opaque` text; most steps refuse to look
// through it.
#pragma once

#include "kernel/candidate.h"
#include "kernel/problem.h"
#include "kernel/scalar_type.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph::source {

enum class ExprKind : std::uint8_t {
  integer,      // text: literal as written, value in `number`
  floating,     // text: literal as written
  variable,     // text: name
  builtin,      // text: "threadIdx.x", ..., "gridDim.z"
  unary,        // text: operator; operands: 1
  binary,       // text: operator; operands: 2
  conditional,  // operands: condition, then, else
  index,        // operands: base, index
  call,         // text: function name as printed; operands: arguments
  cast,         // text: type; operands: 1
  member,       // text: member name; operands: 1
  opaque,       // text: source
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

struct Expr {
  ExprKind kind = ExprKind::opaque;
  std::string text;
  std::vector<ExprPtr> operands;
  std::int64_t number = 0;         // integer literals
  std::optional<ScalarType> type;  // when it is a scalar the project knows
};

enum class Storage : std::uint8_t { automatic, shared, dynamic_shared };

struct Variable {
  std::string name;
  std::string type;                   // CUDA spelling without extents
  std::optional<ScalarType> scalar;   // of the element
  std::vector<std::int64_t> extents;  // outermost first; empty: a scalar. dynamic_shared: one 0
  Storage storage = Storage::automatic;
  bool is_const = false;
  bool is_pointer = false;
};

enum class StmtKind : std::uint8_t {
  declare,   // variable; value: initial value or null
  assign,    // target op value; ++ and -- arrive as += 1 and -= 1
  evaluate,  // value for its effect (a call)
  branch,    // if (value) body else otherwise
  loop,      // for (init; value; step) body
  repeat,    // while (value) body
  leave,     // return
  jump,      // break or continue: text
  barrier,   // __syncthreads()
  scope,     // { body }
  opaque,    // text
};

struct Stmt;
using StmtPtr = std::shared_ptr<const Stmt>;
using Block = std::vector<StmtPtr>;

inline constexpr int kNoUnrollPragma = -1;
inline constexpr int kUnrollFully = 0;

struct Stmt {
  StmtKind kind = StmtKind::opaque;
  Variable variable;
  ExprPtr target;
  ExprPtr value;
  std::string text;  // assign: "=", "+=", ...; jump; opaque
  StmtPtr init;      // loop: a declare or assign, or null
  StmtPtr step;      // loop: an assign, or null
  Block body;
  Block otherwise;
  int unroll = kNoUnrollPragma;  // loops: #pragma unroll, kUnrollFully without a number
  int line = 0;                  // in the user's file, 0 for what a step made
};

struct KernelParameter {
  std::string name;
  std::string type;  // spelling of the pointee for pointers, without const
  std::optional<ScalarType> scalar;
  bool is_pointer = false;
  bool points_to_const = false;
  bool is_restrict = false;
};

struct Kernel {
  std::string name;
  std::vector<KernelParameter> parameters;
  bool extern_c = false;
  std::optional<int> launch_bounds_threads;  // __launch_bounds__(threads, min_blocks)
  std::optional<int> launch_bounds_min_blocks;
  Block body;
  int line = 0;

  [[nodiscard]] const KernelParameter* parameter(const std::string& parameter_name) const;
};

struct Unit {
  std::string before;  // source text in front of the kernel, verbatim
  Kernel kernel;
  std::string after;
};

// What a candidate carries so that the rewriter needs no second parse.
class UnitForm final : public CandidateForm {
 public:
  explicit UnitForm(Unit unit) : unit_(std::move(unit)) {}
  [[nodiscard]] const Unit& unit() const { return unit_; }

 private:
  Unit unit_;
};

}  // namespace regraph::source
