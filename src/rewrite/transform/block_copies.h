// What of a kernel differs between blocks that are merged, and so is done or kept once a copy. Used
// by merge_blocks and thread_coarsen.
#pragma once

#include "rewrite/forms/ir.h"
#include "rewrite/transform/merge_blocks.h"
#include "source/analysis.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// A loop over copies.
struct CopyLoop {
  std::string counter;
  int count;
};

class BlockCopies {
 public:
  explicit BlockCopies(const BlockMerge& merge);

  // The loops over copies: two, where they lie in groups; outermost first.
  [[nodiscard]] const std::vector<CopyLoop>& loops() const { return loops_; }

  // Whether the variable or array takes a value for each copy.
  [[nodiscard]] bool is_varying(const std::string& name) const { return varying_.contains(name); }
  // Whether it is cheaper to compute the variable again for every copy than to keep it, as for
  // index arithmetic.
  [[nodiscard]] bool is_recomputed(const std::string& name) const {
    return recomputed_.contains(name);
  }
  // The declaration of such a variable.
  [[nodiscard]] const StmtPtr& recomputed(const std::string& name) const {
    return recomputed_.at(name);
  }

  // Whether the value is different for different copies.
  [[nodiscard]] bool varies(const ExprPtr& expr) const;
  // Whether the statement, or anything below it, is. What other blocks can see happens once per
  // merged block.
  [[nodiscard]] bool varies(const StmtPtr& stmt) const;
  // Whether the loop over copies goes inside the statement.
  [[nodiscard]] bool is_opened(const Stmt& stmt) const;
  // Whether it is a register or shared memory; the variable may be null.
  [[nodiscard]] bool is_local(const VariableReference* variable) const;

  // The variable as an array of its copies.
  [[nodiscard]] Variable copies_of(Variable variable) const;

  // Calls `visit` with the variables and arrays that the block changes, or lets others change; not
  // what lies behind pointers.
  void for_each_changed(const Block& block,
                        const std::function<void(const std::string&)>& visit) const;

 private:
  // In groups, the copies of a thread do the work of several threads of the original block.
  [[nodiscard]] std::set<std::string> of_thread(const BlockMerge& merge) const;
  // Adds to the varying names what statements change that every copy repeats as a whole: the next
  // copy has to start from what was there before, even where all of them go through the same
  // values. Returns whether there was any.
  bool collect_restarted(const Block& block);
  // Those inside a branch stay where they are: the branch as a whole is repeated.
  void collect_recomputed(const Block& block);
  [[nodiscard]] bool has_uniform_header(const ForLoop& loop) const;

  const Kernel& kernel_;
  const Analysis& analysis_;
  std::string builtin_;
  std::vector<CopyLoop> loops_;
  std::set<std::string> varying_;
  std::map<std::string, StmtPtr> recomputed_;
};

// What gives a flat array the values of its list; nothing for any other.
[[nodiscard]] std::optional<Block> assignments_of(const Variable& variable, const ExprPtr& value);

}  // namespace regraph::rewrite
