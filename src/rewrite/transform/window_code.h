// The code that window_tile makes of a nest of loops over a window.
#pragma once

#include "rewrite/analysis/window_plan.h"
#include "rewrite/forms/ir.h"
#include "rewrite/transform/names.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace regraph::rewrite {

// The arguments must outlive it.
class WindowCode {
 public:
  // `form` is what `plan` was made for.
  WindowCode(const KernelForm& form, const Dim3& block, const WindowPlan& plan);

  // The kernel's body with the nest on tiles.
  [[nodiscard]] Block run();

 private:
  [[nodiscard]] Block nest();
  [[nodiscard]] Block copies();
  [[nodiscard]] StmtPtr copy_box(const WindowArray& array);
  [[nodiscard]] StmtPtr copy_filter(const WindowArray& array);
  [[nodiscard]] Block copy_element(const WindowArray& array,
                                   const std::vector<std::string>& coordinates);
  [[nodiscard]] bool goes_by_rows(const WindowArray& array) const;
  [[nodiscard]] Block sums();
  [[nodiscard]] Block updates() const;
  [[nodiscard]] ExprPtr on_tiles(const ExprPtr& expr) const;
  [[nodiscard]] Block keep_beginnings();
  [[nodiscard]] Block add_again();
  [[nodiscard]] Block in_copies(Block body) const;
  [[nodiscard]] std::int64_t threads() const { return static_cast<std::int64_t>(block_.count()); }

  const Kernel& kernel_;
  const Analysis& analysis_;
  Dim3 block_;
  const WindowPlan& plan_;
  Names names_;
  NeighbourhoodFinder finder_;
  std::string thread_;                             // name of the thread's number within its block
  std::string outer_;                              // first iteration of the strip
  std::string inner_;                              // iteration within the strip
  std::map<std::string, std::string> beginnings_;  // by sum: what it was before the loops
};

}  // namespace regraph::rewrite
