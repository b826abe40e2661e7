// The code that fills a staged array: a loop over what a thread copies.
//
//   for (step) { item = thread + step * threads; row = ..., column = ...; tile[row][column] = a[...]; }
#pragma once

#include "affine/block_geometry.h"
#include "kernel/launch_plan.h"
#include "rewrite/analysis/stage.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "source/build.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regraph::rewrite {

class StageCopy {
 public:
  // The arguments must outlive it.
  StageCopy(const Kernel& kernel, const Dim3& block, Names& names)
      : kernel_(kernel), block_(block), names_(names), thread_(names.fresh("thread")) {}

  // The tiles, and the thread's number within its block: what stands in front of the copies.
  template <typename Stages>
  [[nodiscard]] Block declarations(const Stages& stages) const {
    Block result;
    for (const Stage& stage : stages)
      result.push_back(source::declare(stage.variable(), nullptr));
    result.push_back(source::declare_integer(thread_, linear_thread(block_)));
    return result;
  }

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
  Names& names_;
  std::string thread_;  // name of its number within the block
};

}  // namespace regraph::rewrite
