// Statements of the kernel IR, one class a kind. Nodes are immutable once they are in a StmtPtr,
// and none is made of a null operand that is not optional (missing_operand.h).
#pragma once

#include "source/expressions.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph::source {

enum class Storage : std::uint8_t { automatic, shared, dynamic_shared };

struct Variable {
  std::string name;
  std::string type;                   // CUDA spelling without extents
  std::optional<ScalarType> scalar;   // of the element
  std::vector<std::int64_t> extents;  // outermost first; empty: a scalar. dynamic_shared: one 0
  Storage storage = Storage::automatic;
  bool is_const = false;
  bool is_pointer = false;
  int alignment = 0;  // bytes, where the declaration asks for more than its type
};

enum class StmtKind : std::uint8_t {
  declaration,
  assignment,
  evaluation,
  branch,
  for_loop,
  while_loop,
  return_,
  jump,
  barrier,
  scope,
  opaque,
};

class Stmt {
 public:
  virtual ~Stmt() = default;
  [[nodiscard]] StmtKind kind() const { return kind_; }

  int line = 0;  // in the user's file, 0 for what a step made

 protected:
  explicit Stmt(StmtKind kind) : kind_(kind) {}
  Stmt(const Stmt&) = default;
  Stmt& operator=(const Stmt&) = default;

 private:
  StmtKind kind_;
};

using StmtPtr = std::shared_ptr<const Stmt>;
using Block = std::vector<StmtPtr>;

inline constexpr int kNoUnrollPragma = -1;
inline constexpr int kUnrollFully = 0;

struct Declaration final : Stmt {
  static constexpr StmtKind kKind = StmtKind::declaration;
  Declaration(Variable declared, ExprPtr initial)
      : Stmt(kKind), variable(std::move(declared)), value(std::move(initial)) {}
  Variable variable;
  ExprPtr value;  // initial value or null
};

// target op value
struct Assignment final : Stmt {
  static constexpr StmtKind kKind = StmtKind::assignment;
  Assignment(ExprPtr assigned, AssignmentOperator assignment, ExprPtr from)
      : Stmt(kKind),
        target(required(std::move(assigned), "an assignment")),
        op(assignment),
        value(required(std::move(from), "an assignment")) {}
  ExprPtr target;
  AssignmentOperator op;
  ExprPtr value;
};

// A call for its effect.
struct Evaluation final : Stmt {
  static constexpr StmtKind kKind = StmtKind::evaluation;
  explicit Evaluation(ExprPtr expr) : Stmt(kKind), value(required(std::move(expr), "a call")) {}
  ExprPtr value;  // a Call
  [[nodiscard]] const Call& call() const { return to<Call>(value); }
};

// if (condition) body else otherwise
struct Branch final : Stmt {
  static constexpr StmtKind kKind = StmtKind::branch;
  Branch(ExprPtr asked, Block yes, Block no)
      : Stmt(kKind),
        condition(required(std::move(asked), "a branch")),
        body(all_required(std::move(yes), "a branch")),
        otherwise(all_required(std::move(no), "a branch")) {}
  ExprPtr condition;
  Block body;
  Block otherwise;
};

// for (init; condition; step) body
struct ForLoop final : Stmt {
  static constexpr StmtKind kKind = StmtKind::for_loop;
  ForLoop(StmtPtr first, ExprPtr asked, StmtPtr advance, Block repeated)
      : Stmt(kKind),
        init(std::move(first)),
        condition(std::move(asked)),
        step(std::move(advance)),
        body(all_required(std::move(repeated), "a loop")) {}
  StmtPtr init;       // a Declaration or Assignment, or null
  ExprPtr condition;  // or null
  StmtPtr step;       // an Assignment, or null
  Block body;
  int unroll = kNoUnrollPragma;  // #pragma unroll, kUnrollFully without a number

  // The declaration or assignment of the header; null where there is none or it is the other.
  [[nodiscard]] const Declaration* declaration() const { return as<Declaration>(init); }
  [[nodiscard]] const Assignment* advance() const { return as<Assignment>(step); }
};

// while (condition) body, or do body while (condition)
struct WhileLoop final : Stmt {
  static constexpr StmtKind kKind = StmtKind::while_loop;
  WhileLoop(ExprPtr asked, Block repeated)
      : Stmt(kKind),
        condition(required(std::move(asked), "a loop")),
        body(all_required(std::move(repeated), "a loop")) {}
  ExprPtr condition;
  Block body;
  bool asks_last = false;  // do ... while
};

struct Return final : Stmt {
  static constexpr StmtKind kKind = StmtKind::return_;
  Return() : Stmt(kKind) {}
};

enum class JumpKind : std::uint8_t { break_loop, continue_loop };

struct Jump final : Stmt {
  static constexpr StmtKind kKind = StmtKind::jump;
  explicit Jump(JumpKind to) : Stmt(kKind), jump(to) {}
  JumpKind jump;
};

// __syncthreads()
struct Barrier final : Stmt {
  static constexpr StmtKind kKind = StmtKind::barrier;
  Barrier() : Stmt(kKind) {}
};

// { body }
struct Scope final : Stmt {
  static constexpr StmtKind kKind = StmtKind::scope;
  explicit Scope(Block inner) : Stmt(kKind), body(all_required(std::move(inner), "a scope")) {}
  Block body;
};

// Source text that the IR has no node for.
struct OpaqueStatement final : Stmt {
  static constexpr StmtKind kKind = StmtKind::opaque;
  explicit OpaqueStatement(std::string source) : Stmt(kKind), text(std::move(source)) {}
  std::string text;
};

// The statement's block (of a branch: where the condition holds); empty for those without one.
[[nodiscard]] const Block& body_of(const Stmt& stmt);
// The else part of a branch; empty for everything else.
[[nodiscard]] const Block& otherwise_of(const Stmt& stmt);
// The value of a declaration, assignment or evaluation, or the condition of a branch or loop; null
// for those without one.
[[nodiscard]] const ExprPtr& value_of(const Stmt& stmt);
// The target of an assignment; null for everything else.
[[nodiscard]] const ExprPtr& target_of(const Stmt& stmt);

// The statement with other blocks; itself where they are the same statements.
[[nodiscard]] StmtPtr with_blocks(const StmtPtr& stmt, Block body, Block otherwise);

}  // namespace regraph::source
