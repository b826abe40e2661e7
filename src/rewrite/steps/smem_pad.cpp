// smem_pad: lengthens the rows of two- and higher-dimensional shared arrays, so that walking down a
// column visits different banks. Legal when every use indexes the array completely, so that no
// address arithmetic knows the row's length, and the block still has the shared memory.
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/build.h"
#include "source/walk.h"

#include <memory>

namespace regraph::rewrite {
namespace {

struct PadPlace {
  int pad = 0;
  std::set<const Stmt*> declarations;
};

class SmemPad final : public PlacedStep<PadPlace> {
 public:
  std::string_view id() const override { return "smem_pad"; }
  int position() const override { return 60; }
  std::vector<StepParameters> settings() const override { return {{{"pad", "1"}}, {{"pad", "4"}}}; }

 protected:
  Requirements requirements() const override { return {.one_launch = false, .transparent = false}; }
  Result<PadPlace> find(const KernelAnalysis& kernel,
                        const StepParameters& parameters) const override {
    auto pad = integer_parameter(parameters, "pad");
    if (!pad) return pad.error();
    if (*pad < 1 || *pad >= kUnpaddedRowMultiple) {
      return fail(ErrorCode::invalid_argument, "'pad' must be 1 to 7 elements");
    }
    const Analysis& analysis = kernel.analysis();
    if (const auto opaque = analysis.opaque()) return refuse("uses cannot be told, " + *opaque);
    if (!analysis.unknown_calls().empty()) {
      return refuse("'" + *analysis.unknown_calls().begin() + "' may use a shared array");
    }
    PadPlace place{*pad, {}};
    std::int64_t bytes = shared_bytes(kernel.kernel());
    walk(kernel.kernel().body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr || !can_pad(declaration->variable, kernel.kernel())) return;
      place.declarations.insert(&stmt);
      bytes += bytes_of(padded(declaration->variable, *pad)) - bytes_of(declaration->variable);
    });
    if (place.declarations.empty()) {
      return refuse("no shared array with unpadded rows that is always fully indexed");
    }
    if (Status status = require_shared_bytes(bytes, kernel, "padded, the shared arrays need");
        !status) {
      return status.error();
    }
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const PadPlace& place) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body =
        rewrite_statements(kernel.kernel().body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          if (!place.declarations.contains(stmt.get())) return std::nullopt;
          const auto& declaration = to<Declaration>(stmt);
          return Block{declare(padded(declaration.variable, place.pad), declaration.value)};
        });
    return result;
  }

 private:
  static bool can_pad(const Variable& array, const Kernel& kernel) {
    return array.storage == Storage::shared && array.extents.size() >= 2 &&
           array.extents.back() % kUnpaddedRowMultiple == 0 && is_fully_indexed(kernel, array);
  }

  static Variable padded(Variable array, int pad) {
    array.extents.back() += pad;
    return array;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_smem_pad() {
  return std::make_unique<SmemPad>();
}

}  // namespace regraph::rewrite
