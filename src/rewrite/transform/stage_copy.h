// The code that fills a staged array: a loop over what a thread copies.
//
//   for (step) { item = thread + step * threads; row = ..., column = ...; tile[row][column] = a[...]; }
#pragma once

#include "kernel/launch_plan.h"
#include "rewrite/analysis/stage.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

class StageCopy {
 public:
  // `thread`: name of the thread's number within its block. The arguments must outlive it.
  StageCopy(const Kernel& kernel, const Dim3& block, std::string thread, Names& names)
      : kernel_(kernel), block_(block), thread_(std::move(thread)), names_(names) {}

  // How items are dealt to the threads of the block. Few are dealt round by round, in a loop that
  // is written out, so that their loads are in flight together.
  enum class Deal {
    items,         // one after the other
    rows_if_busy,  // by rows where these keep most threads busy: without divisions
    in_a_loop,     // one after the other, never written out
  };
  // Where the original does not access an element, it is zero. Vectors are always dealt as items.
  [[nodiscard]] StmtPtr copy(const Stage& stage, Deal deal);

 private:
  using Coordinates = std::vector<ExprPtr>;

  [[nodiscard]] bool are_rows_busy(const Stage& stage) const;
  [[nodiscard]] StmtPtr copy_rows(const Stage& stage);
  [[nodiscard]] Block element_code(const Stage& stage, const Coordinates& at);
  [[nodiscard]] Block vector_code(const Stage& stage, const Coordinates& at);
  // Declares where the first of the elements is, if that has a name; the place of one of them.
  [[nodiscard]] ExprPtr declare_index(const Stage& stage, const Coordinates& at, Block& out);
  [[nodiscard]] static ExprPtr place_of(const Stage& stage, const Coordinates& at,
                                        const ExprPtr& index);
  [[nodiscard]] ExprPtr is_whole(const Stage& stage, const Coordinates& at,
                                 const ExprPtr& index) const;
  [[nodiscard]] static ExprPtr value_of(const Stage& stage, const Coordinates& at,
                                        const ExprPtr& index);
  [[nodiscard]] std::int64_t threads() const { return static_cast<std::int64_t>(block_.count()); }

  const Kernel& kernel_;
  Dim3 block_;
  std::string thread_;
  Names& names_;
};

}  // namespace regraph::rewrite
