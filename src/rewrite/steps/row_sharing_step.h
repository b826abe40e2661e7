// Steps that let several threads share the row that one thread had.
#pragma once

#include "rewrite/analysis/row_sharing.h"
#include "rewrite/analysis/row_vectors.h"
#include "rewrite/steps/macro_step.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/share_rows.h"

#include <memory>
#include <optional>

namespace regraph::rewrite {

// How rows are to be shared.
struct RowSharing {
  RowTeam team;
  // Whether the kernel must have loops that use what they have accumulated so far.
  bool has_scans = false;
  // Neighbouring elements that a thread must be able to move as a vector; 1: as they come. Those of
  // scans, team.items, are moved so where that is possible.
  int width = 1;
};

// Valid as long as the kernel in which it was found.
struct SharedRows {
  RowTeam team;
  std::shared_ptr<const OpenedKernel> opened;  // owns `kernel`, where that was made by a step
  const KernelAnalysis* kernel = nullptr;      // whose rows they are
  RowPlan plan;
  std::optional<RowVectors> vectors;
  Launch launch;  // afterwards
};

// A step that deals out the loops over rows (row_sharing.h).
//
// Legal when a thread is known by its global index alone, so that all threads of a row can do the
// rest of the kernel alike (stores by the first of them only), and each shared loop has no other
// dependence between iterations than accumulators. Sums need the problem's leave to be reordered.
// Threads of a row that are neighbours along y share barriers with those of other rows: then the
// kernel is taken in a form in which all of them reach each loop.
class RowSharingStep : public PlacedStep<SharedRows> {
 protected:
  // Error: invalid_argument.
  [[nodiscard]] virtual Result<RowSharing> sharing_of(const StepParameters& parameters) const = 0;
  // Sets the kernel to be asked in `rows`: `kernel`, or what a step makes of it. Error: refused.
  [[nodiscard]] virtual Status choose_kernel(const KernelAnalysis& kernel, SharedRows& rows) const;

  // Teams of neighbours along x, as the parameters threads_per_row and rows_per_block say; of
  // parts of warps, too, where rows `share_warps`. Error: invalid_argument.
  [[nodiscard]] static Result<RowTeam> team_along(const StepParameters& parameters,
                                                  bool share_warps = false);
  // Teams of neighbours along y, as the parameter slices says. Error: invalid_argument.
  [[nodiscard]] static Result<RowTeam> team_across(const StepParameters& parameters);

 private:
  [[nodiscard]] Result<SharedRows> find(const KernelAnalysis& kernel,
                                        const StepParameters& parameters) const final;
  [[nodiscard]] KernelState rewrite(const KernelAnalysis& kernel,
                                    const SharedRows& rows) const final;
};

}  // namespace regraph::rewrite
