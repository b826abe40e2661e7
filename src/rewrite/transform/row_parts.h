// What each thread of a block has added up or chosen so far, and the trees that put it together.
// Used by row_serialisation.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/block_row.h"
#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/analysis/reduction_tree.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "source/analysis.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// The variables that hold what trees left in shared arrays, by array.
using TreeTotals = std::map<std::string, std::string>;

// The variable in the place of an element that a tree left its total in, the first one of the
// array; null for anything else.
[[nodiscard]] ExprPtr total_at(const ExprPtr& place, const TreeTotals& totals, const BlockRow& row);

// The tree of array[threadIdx.x] = value; barrier; a tree over the array: three statements from
// `position` on. Error: refused, where they are anything else.
[[nodiscard]] Result<ReductionTree> match_filled_tree(const Block& block, std::size_t position,
                                                      const Analysis& analysis,
                                                      const Dim3& threads);

class RowParts {
 public:
  // The analysis must outlive it.
  RowParts(const Kernel& kernel, const Analysis& analysis, const Dim3& block)
      : analysis_(analysis), block_(block), names_(kernel) {}

  // What is known at a place, to go back to.
  struct Known {
    std::map<std::string, Reduction> parts;
    TreeTotals totals;
    std::map<std::string, double> numbers;
  };
  [[nodiscard]] const Known& known() const { return known_; }
  // For what stands on the other side of a branch.
  void start_otherwise(const Known& before);
  // Behind a branch: what may be a part is taken for one. `side`: as it was left behind the first
  // side.
  void join(const Known& before, const Known& side);

  // Whether the variable holds a part of each thread's own.
  [[nodiscard]] bool is_part(const std::string& name) const { return known_.parts.contains(name); }
  void name_part(const std::string& part, const std::string& name);
  void forget_part(const std::string& name) { known_.parts.erase(name); }
  // Notes that the variable holds the value, or what is not known (null).
  void note_number(const std::string& name, const ExprPtr& value);
  void forget_numbers() { known_.numbers.clear(); }

  // From a loop on that is dealt out, each thread's accumulator holds a part.
  [[nodiscard]] Status note_part(const Reduction& reduction, const Stmt& stmt);
  // The pair holds the best of a part. A part may begin with what all threads begin with: of equal
  // pairs it does not matter which one stays.
  [[nodiscard]] Status note_choice(const Selection& selection, const std::string& counter,
                                   const Stmt& stmt);

  // sh[threadIdx.x] = part; barrier; a tree over sh: three statements from `position` on. Adds the
  // total to `out`.
  [[nodiscard]] Status take_tree(const Block& block, std::size_t position, Block& out);
  // values[threadIdx.x] = best; places[threadIdx.x] = place; barrier; a tree over both: four.
  [[nodiscard]] Status take_pair_tree(const Block& block, std::size_t position, Block& out);

  [[nodiscard]] const std::vector<Reduction>& reductions() const { return reductions_; }

 private:
  // Totals that were taken inside a branch are known there only.
  void forget_changed(const TreeTotals& before);

  const Analysis& analysis_;
  Dim3 block_;
  Names names_;
  Known known_;
  // Values of which each thread has chosen one of a part, and all names that belong to them. Once
  // there, a choice stays the only one of its name.
  std::map<std::string, Selection> choices_;
  std::set<std::string> chosen_;
  std::vector<Reduction> reductions_;
};

}  // namespace regraph::rewrite
