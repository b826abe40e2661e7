// What differs between the threads of a block, and what is the same for all of them. Used by
// thread_serialisation.
#pragma once

#include "source/analysis.h"
#include "source/ir.h"

#include <set>
#include <string>

namespace regraph::rewrite {

// For kernels without opaque code, calls that write memory, and races between barriers: then what
// all threads read at one place between two barriers is the same.
class ThreadValues {
 public:
  // Both must outlive it.
  ThreadValues(const source::Kernel& kernel, const source::Analysis& analysis);

  // Whether a variable may have different values in the threads of a block.
  [[nodiscard]] bool differs(const std::string& name) const { return differing_.contains(name); }
  [[nodiscard]] bool differs(const source::ExprPtr& expr) const;
  // Whether threads may go different ways through the statement: its condition, or a loop's bounds.
  [[nodiscard]] bool header_differs(const source::Stmt& stmt) const;

  // Whether all names in the expression keep their value from their declaration on.
  [[nodiscard]] bool is_steady(const source::ExprPtr& expr) const;
  // Whether all that it reads from memory is elements of buffers that the kernel does not write.
  [[nodiscard]] bool reads_only_inputs(const source::ExprPtr& expr) const;
  // The value that a variable with a single definition is declared with.
  [[nodiscard]] source::ExprPtr definition(const std::string& name) const;

 private:
  // Returns whether more was found to differ.
  bool find(const source::Block& block, bool is_apart);
  bool note(const std::string& name);

  const source::Kernel& kernel_;
  const source::Analysis& analysis_;
  std::set<std::string> differing_;
};

}  // namespace regraph::rewrite
