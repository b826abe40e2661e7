// double_buffer: the next strip's tiles are loaded while the current one's are used.
//
//   for (k0 ...) { tile[...] = a[k0 ...]; barrier; use tile; barrier; }
// becomes
//   fill tile[0] for the first strip; barrier;
//   for (k0 ...) {
//     next = a[k0 + D ...]; use tile[buffer]; tile[1 - buffer] = next; barrier; buffer = 1 - buffer;
//   }
//
// The loads are in flight while the strip is computed, and one barrier a strip is enough: what is
// written next was last read before the barrier of the strip before.
//
// Legal when the loop's copies read arrays that the kernel writes nowhere, and write tiles that
// nothing else in the kernel writes or reads but the strip's computation between the barriers,
// which writes neither. Where that is and what it needs: strip_loop.h.
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/analysis/strip_loop.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/alternate_tiles.h"

#include <memory>
#include <utility>

namespace regraph::rewrite {
namespace {

struct Alternation {
  StripLoop strips;
  StripCopies copies;
};

class DoubleBuffer final : public PlacedStep<Alternation> {
 public:
  std::string_view id() const override { return "double_buffer"; }
  std::vector<StepParameters> settings() const override { return {{}}; }

 protected:
  Result<Alternation> find(const KernelAnalysis& kernel, const StepParameters&) const override {
    auto launch = kernel.launch();
    if (!launch) return launch.error();
    if (!kernel.problem().assume.noalias) {
      return refuse(
          "the problem does not grant 'assume: {noalias: true}', so what is loaded early could "
          "change");
    }
    if (const Status& status = kernel.transparent(); !status) return status.error();
    if (!kernel.analysis().has_shared()) return refuse("the kernel has no shared tiles");
    if (!kernel.analysis().unknown_calls().empty()) {
      return refuse("the kernel calls '" + *kernel.analysis().unknown_calls().begin() +
                    "', which may read memory");
    }
    auto strips = find_strip_loop(kernel.kernel(), kernel.analysis());
    if (!strips) return strips.error();
    auto copies = split_copies(*strips, kernel.analysis());
    if (!copies) return copies.error();
    if (const std::int64_t held = held_elements(*copies); held > kMostHeldElements) {
      return refuse("a thread would hold " + std::to_string(held) + " elements of the next tiles");
    }
    std::int64_t bytes = shared_bytes(kernel.kernel());
    for (const Variable& tile : strips->tiles)
      bytes += bytes_of(tile);
    if (Status status = require_shared_bytes(bytes, kernel, "two copies of the tiles need");
        !status) {
      return status.error();
    }
    return Alternation{std::move(*strips), std::move(*copies)};
  }

  KernelState rewrite(const KernelAnalysis& kernel, const Alternation& alternation) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body =
        alternate_tiles(kernel.kernel(), alternation.strips, alternation.copies);
    rely_on(result, kNeedsDistinctBuffers);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_double_buffer() {
  return std::make_unique<DoubleBuffer>();
}

}  // namespace regraph::rewrite
