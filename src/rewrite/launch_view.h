// One launch out of several, as the steps see it: a problem with one launch whose arguments are the
// parameters of the kernel that is optimised.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "kernel/problem.h"
#include "rewrite/forms/ir.h"

#include <map>
#include <string>

namespace regraph::rewrite {

class LaunchView {
 public:
  explicit LaunchView(const Problem& problem);

  // What the steps work on: the problem itself where it has one launch with all its arguments, else
  // one whose sizes also hold the integers that are passed under other names. Valid as long as this
  // object and the problem.
  [[nodiscard]] const Problem& problem() const { return is_same_ ? original_ : view_; }

  // The one launch of `plan` that is optimised, in terms of the kernel's parameters. Refuses plans
  // that launch the kernel several times, with the reason.
  [[nodiscard]] Result<LaunchPlan> out_of(const LaunchPlan& plan) const;
  // `plan` with its launch replaced by that of `changed`, which out_of gave and a step changed.
  [[nodiscard]] LaunchPlan back_into(const LaunchPlan& plan, const LaunchPlan& changed) const;

 private:
  using Replacements = std::map<std::string, IntegerExpression, std::less<>>;

  void bind(const Launch& launch);

  const Problem& original_;
  bool is_same_ = false;
  std::string refusal_;  // empty: the launch can be looked at alone
  Problem view_;
  Replacements to_parameters_;  // a size -> the parameter it is passed for
  Replacements to_sizes_;       // a parameter -> what is passed for it
};

}  // namespace regraph::rewrite
