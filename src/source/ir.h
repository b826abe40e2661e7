// The kernel IR: what steps rewrite. A small tree of typed expressions and statements, independent
// of the front end that made it and printed back to CUDA C++ by printer.h.
//
//   Unit    = text before the kernel | Kernel | text after it      (the texts are carried verbatim)
//   Kernel  = signature, attributes, body
//   body    = Block = [Stmt]; a Stmt holds Exprs and Blocks
//
// Nodes are immutable and shared: a rewrite builds new nodes along the path to the root and shares
// the rest. Names are unique within a kernel, except that a name may be declared again in a
// disjoint scope with the same type and the same initial value, so a name still has one meaning.
// What the IR has no node for is kept as opaque text; most steps refuse to look through it.
//
// Expressions are in expressions.h, statements in statements.h; visitor.h goes through them,
// mutator.h rebuilds them, match.h recognises shapes, build.h makes nodes.
#pragma once

#include "kernel/candidate.h"
#include "source/expressions.h"
#include "source/statements.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph::source {

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
  bool is_static = false;
  std::optional<int> launch_bounds_threads;  // __launch_bounds__(threads, min_blocks)
  std::optional<int> launch_bounds_min_blocks;
  Block body;
  int line = 0;

  // Null when there is none of that name. Valid as long as the kernel.
  [[nodiscard]] const KernelParameter* parameter(const std::string& parameter_name) const {
    for (const KernelParameter& candidate : parameters) {
      if (candidate.name == parameter_name) return &candidate;
    }
    return nullptr;
  }
};

// A kernel's body in which the user's own functions stand in the place of their calls.
struct OpenedBody {
  Block of;    // the body that it was made of
  Block body;  // means the same
};

struct Unit {
  std::string before;  // source text in front of the kernel, verbatim
  Kernel kernel;
  std::string after;
  // Of the kernel as it was read; of no use once it has another body.
  std::shared_ptr<const OpenedBody> opened = nullptr;
  // What has no form even there, "line 7: 'text'", where the body holds opaque code.
  std::string not_opened = {};

  // The kernel, with calls opened where that is possible.
  [[nodiscard]] Kernel opened_kernel() const {
    Kernel result = kernel;
    if (opened != nullptr && opened->of == kernel.body) result.body = opened->body;
    return result;
  }
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
