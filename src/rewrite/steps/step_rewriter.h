// One optimization step: where it applies, and what it makes of a kernel there.
#pragma once

#include "base/result.h"
#include "regraph/expander.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/requirements.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph::rewrite {

// Implementations are stateless. A step proves its legality from the code, the launch plan, the
// device's limits and what the problem permits, or refuses (ErrorCode::refused) with a reason a
// person can act on.
class StepRewriter {
 public:
  virtual ~StepRewriter() = default;
  // Id in the ReGraph; also the name of the file.
  [[nodiscard]] virtual std::string_view id() const = 0;
  // Place among the proposals: steps with smaller numbers are offered first, equal ones by their
  // ids.
  [[nodiscard]] virtual int position() const { return kLast; }
  // Every parameter setting worth trying, in a fixed order; one empty setting for none.
  [[nodiscard]] virtual std::vector<StepParameters> settings() const = 0;
  // Whether the step applies with this setting: exactly where `apply` succeeds, with the same
  // errors. Builds no kernel. Errors: refused; invalid_argument for parameters that are not among
  // the step's.
  [[nodiscard]] virtual Status match(const KernelAnalysis& kernel,
                                     const StepParameters& parameters) const = 0;
  // Returns the rewritten state.
  [[nodiscard]] virtual Result<KernelState> apply(const KernelAnalysis& kernel,
                                                  const StepParameters& parameters) const = 0;

 protected:
  static constexpr int kLast = 1000;
};

// A step that finds its place in a kernel first, and then rewrites it. Because both ways lead
// through `find`, what is matched is applied, and `rewrite` cannot fail.
template <typename Place>
class PlacedStep : public StepRewriter {
 public:
  [[nodiscard]] Status match(const KernelAnalysis& kernel,
                             const StepParameters& parameters) const final {
    const Result<Place> place = place_in(kernel, parameters);
    return place ? Status() : Status(place.error());
  }

  [[nodiscard]] Result<KernelState> apply(const KernelAnalysis& kernel,
                                          const StepParameters& parameters) const final {
    const Result<Place> place = place_in(kernel, parameters);
    if (!place) return place.error();
    KernelState result = rewrite(kernel, *place);
    kernel.note_reliance(result);
    return result;
  }

 protected:
  // What the kernel has to meet for `find` to be asked.
  [[nodiscard]] virtual Requirements requirements() const { return {}; }
  // What `rewrite` needs to know of the place; valid as long as `kernel`. Errors as of match.
  [[nodiscard]] virtual Result<Place> find(const KernelAnalysis& kernel,
                                           const StepParameters& parameters) const = 0;
  [[nodiscard]] virtual KernelState rewrite(const KernelAnalysis& kernel,
                                            const Place& place) const = 0;

 private:
  [[nodiscard]] Result<Place> place_in(const KernelAnalysis& kernel,
                                       const StepParameters& parameters) const {
    if (Status status = require(requirements(), kernel); !status) return status.error();
    return find(kernel, parameters);
  }
};

// A step that rewrites while it looks: whether it applies is not known before it has.
class TriedStep : public StepRewriter {
 public:
  [[nodiscard]] Status match(const KernelAnalysis& kernel,
                             const StepParameters& parameters) const final {
    const auto state = apply(kernel, parameters);
    return state ? Status() : Status(state.error());
  }
};

// Reads an integer parameter; invalid_argument when it is missing, malformed or below `least`.
[[nodiscard]] Result<int> integer_parameter(const StepParameters& parameters,
                                            const std::string& name, int least = 0);
// Reads a parameter; invalid_argument when it is missing.
[[nodiscard]] Result<std::string> text_parameter(const StepParameters& parameters,
                                                 const std::string& name);

// Refuses launches that CUDA or the device would not do at one of the problem's bench sizes; `what`
// starts the reason.
[[nodiscard]] Status require_possible(const Launch& launch, const KernelAnalysis& kernel,
                                      const std::string& what = "the launch would not be valid: ");
// Refuses `bytes` of static shared memory beyond what a block may declare; `what` starts the
// reason: "the tiles need".
[[nodiscard]] Status require_shared_bytes(std::int64_t bytes, const KernelAnalysis& kernel,
                                          const std::string& what);

// All built-in steps, in the order in which they are proposed. The list is made by CMake from the
// files of this folder that define a step.
[[nodiscard]] const std::vector<const StepRewriter*>& built_in_steps();
// The built-in step, null when there is none of that id.
[[nodiscard]] const StepRewriter* find_built_in_step(std::string_view id);

}  // namespace regraph::rewrite
