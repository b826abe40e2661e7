// Whether memory may be read where the guards around it fail.
#pragma once

#include "source/analysis.h"
#include "source/ir.h"

#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

class GuardedReads {
 public:
  // `analysis` is of the kernel and must outlive this.
  GuardedReads(const source::Kernel& kernel, const source::Analysis& analysis);

  // Whether the value may be computed where the guards fail. Memory may only be read at places that
  // do not follow what the guards ask about: the threads that meet the guards read them as well.
  [[nodiscard]] bool are_safe_without(const std::vector<source::ExprPtr>& guards,
                                      const source::ExprPtr& value) const;

 private:
  // The symbols in the guards that are no parameters; false for guards that are not understood, or
  // that do not ask about the thread.
  bool find_asked(const std::vector<source::ExprPtr>& guards, std::set<std::string>& asked) const;
  // Whether all that the expression reads is elements of buffers at places that follow none of the
  // symbols.
  [[nodiscard]] bool reads_nothing_asked(const source::ExprPtr& expr,
                                         const std::set<std::string>& asked) const;
  // Whether the symbol is a counter of a loop that begins or ends where one of the asked says.
  [[nodiscard]] bool counts_by(const std::string& symbol, const std::set<std::string>& asked) const;
  // Whether the value may depend on one of the asked.
  [[nodiscard]] bool follows(const source::ExprPtr& value,
                             const std::set<std::string>& asked) const;

  const source::Analysis& analysis_;
  std::set<std::string> parameters_;
};

}  // namespace regraph::rewrite
