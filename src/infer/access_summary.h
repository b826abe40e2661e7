// How a kernel uses its buffers: read, written, and how far.
#pragma once

#include "base/result.h"
#include "infer/index_bounds.h"
#include "kernel/expression.h"
#include "kernel/problem.h"
#include "source/analysis.h"
#include "source/ir.h"
#include "source/view.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regraph::infer {

class AccessSummary {
 public:
  // `kernel` must outlive this.
  AccessSummary(const source::Kernel& kernel, const Dim3& block);

  // The grid bounds blockIdx where no guard does.
  void set_grid(const Launch& launch);

  // Parameters that have these values, in terms of sizes, in lengths.
  void set_values(std::map<std::string, source::Polynomial> values) { values_ = std::move(values); }

  // in, out or inout. A buffer that is only written is out, even if only in part: what the original
  // leaves alone is compared too.
  [[nodiscard]] Direction direction(const std::string& parameter) const;
  // 1 + the largest index of any access. Error (not_found): why it is not known, with the line.
  [[nodiscard]] Result<IntegerExpression> length(const std::string& parameter) const;

  // The index of every access to a parameter's own elements, with its guards.
  void for_each_index(const std::function<void(const source::ExprPtr&,
                                               const std::vector<source::ExprPtr>&)>& visit) const;

  // Every inequality that guards an access, loop conditions included.
  [[nodiscard]] const std::vector<Inequality>& inequalities() const { return inequalities_; }
  [[nodiscard]] const IndexBounds& bounds() const { return bounds_; }
  [[nodiscard]] const source::Analysis& analysis() const { return analysis_; }
  [[nodiscard]] const source::Kernel& kernel() const { return kernel_; }  // without early returns

 private:
  struct Access {
    source::ExprPtr index;
    std::vector<source::ExprPtr> guards;
    int line = 0;
  };
  struct Use {
    std::vector<Access> accesses;
    bool read = false;
    bool written = false;
    bool escapes = false;  // used other than by indexing: its extent cannot be seen
  };
  void collect();
  // The view of a parameter's own elements that is accessed, nothing for other accesses.
  [[nodiscard]] std::optional<source::View> seen(const source::Expr& access) const;
  [[nodiscard]] std::optional<std::string> opaque_use(const std::string& parameter) const;

  source::Kernel kernel_;  // early returns turned to guards
  source::Analysis analysis_;
  IndexBounds bounds_;
  std::map<std::string, Use> uses_;
  std::map<std::string, source::Polynomial> values_;
  std::vector<Inequality> inequalities_;
};

// The bound without what is subtracted from its leading term: a stencil that leaves out the border
// of a field is given the whole field.
[[nodiscard]] source::Polynomial rounded_up(const source::Polynomial& bound);

// Parameters that bound a loop which one thread walks through by itself.
[[nodiscard]] std::vector<std::string> loop_limits(const source::Kernel& kernel);

}  // namespace regraph::infer
