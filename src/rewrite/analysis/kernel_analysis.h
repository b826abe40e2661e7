// All that the steps ask about one state, worked out once: they share it while a state's steps are
// found.
//
//   kernel()        in plain form: no step asks how it was said    (forms/plain_form.h)
//   direct()        without local pointers into buffers       (forms/local_pointers.h)
//   single_exit()   direct(), without early returns and names of conditions
//   normal()        one way out, guards around single statements    (forms/normal_form.h)
//   direct_normal() normal(), of direct()
#pragma once

#include "base/result.h"
#include "kernel/device_limits.h"
#include "kernel/problem.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/plain_form.h"
#include "source/analysis.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace regraph::rewrite {

// A kernel with its analysis, which points into it.
struct KernelForm {
  explicit KernelForm(Kernel form) : kernel(std::move(form)), analysis(kernel) {}
  KernelForm(const KernelForm&) = delete;
  KernelForm& operator=(const KernelForm&) = delete;

  const Kernel kernel;
  const Analysis analysis;
};

// Every part is computed when it is first asked for. Not thread-safe: one object serves one thread.
// The arguments must outlive it, and it must outlive what it returns.
class KernelAnalysis {
 public:
  KernelAnalysis(const KernelState& state, const Problem& problem, const DeviceLimits& limits)
      : state_(state), problem_(problem), limits_(limits) {}
  KernelAnalysis(const KernelAnalysis&) = delete;
  KernelAnalysis& operator=(const KernelAnalysis&) = delete;

  [[nodiscard]] const KernelState& state() const { return state_; }
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const DeviceLimits& limits() const { return limits_; }
  // The state's own is as it was written, in state(). What a block's extents are called follows
  // the launch (forms/block_extents.h).
  [[nodiscard]] const Kernel& kernel() const { return plain().kernel; }
  // Of kernel().
  [[nodiscard]] const Analysis& analysis() const;
  // Notes in a state that was made from a form of the kernel what the form relies on.
  void note_reliance(KernelState& made) const;

  // The one launch of the plan. Error: refused, where there are several.
  [[nodiscard]] Result<const Launch*> launch() const;
  // Refuses kernels the analyses cannot see through: opaque statements, calls to functions of the
  // file that read thread indices.
  [[nodiscard]] const Status& transparent() const;

  // The kernel in other forms; none is null. Errors: refused, where the kernel has no such form.
  [[nodiscard]] const KernelForm* direct() const;
  [[nodiscard]] Result<const KernelForm*> single_exit() const;
  [[nodiscard]] Result<const KernelForm*> normal() const;
  [[nodiscard]] Result<const KernelForm*> direct_normal() const;
  // The body with early returns as guards, local pointers kept. Error: refused.
  [[nodiscard]] const Result<Block>& body_without_returns() const;

  // What is to be known of the kernel that the step `step`, of no parameters, makes of this one by
  // `apply`, which is asked once. Error: the step's.
  [[nodiscard]] Result<const KernelAnalysis*> after(
      std::string_view step,
      const std::function<Result<KernelState>(const KernelAnalysis&)>& apply) const;

 private:
  using Form = std::unique_ptr<const KernelForm>;
  struct Changed;

  const PlainForm& plain() const;

  const KernelState& state_;
  const Problem& problem_;
  const DeviceLimits& limits_;
  mutable std::optional<PlainForm> plain_;
  mutable std::optional<Analysis> analysis_;
  mutable std::optional<Status> transparent_;
  mutable Form direct_;
  mutable std::optional<Result<Form>> single_exit_;
  mutable std::optional<Result<Form>> normal_;
  mutable std::optional<Result<Form>> direct_normal_;
  mutable std::optional<Result<Block>> body_without_returns_;
  mutable std::map<std::string, Result<std::shared_ptr<const Changed>>, std::less<>> changed_;
};

}  // namespace regraph::rewrite
