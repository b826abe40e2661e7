// branch_hoist: blocks that lie inside run without guards.
//
//   if (x > 0 && x < n - 1) ...
// becomes
//   if (the block's first x > 0 && its last x < n - 1) { ... } else { if (x > 0 && x < n - 1) ... }
//
// Legal when the block's condition implies each guard that is dropped, for every thread and
// iteration (interior.h). It is the same for all threads of a block, so that barriers may stand
// inside. Guards that it does not imply stay.
#include "rewrite/analysis/interior.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/guard_removal.h"
#include "rewrite/transform/inside_first.h"
#include "source/build.h"
#include "source/walk.h"

#include <memory>
#include <utility>

namespace regraph::rewrite {
namespace {

// Statements of a kernel that is written twice, at most: beyond, instructions no longer stay in the
// cache near the multiprocessor.
constexpr int kMostStatements = 400;

// The form that is split, and where.
struct HoistPlace {
  std::shared_ptr<const KernelForm> form;
  Interior interior;
};

class BranchHoist final : public PlacedStep<HoistPlace> {
 public:
  std::string_view id() const override { return "branch_hoist"; }
  std::vector<StepParameters> settings() const override { return {{{"form", "split"}}}; }

 protected:
  Result<HoistPlace> find(const KernelAnalysis& kernel,
                          const StepParameters& parameters) const override {
    auto wanted = text_parameter(parameters, "form");
    if (!wanted) return wanted.error();
    if (*wanted != "split") return fail(ErrorCode::invalid_argument, "'form' must be split");
    auto form = kernel.single_exit();
    if (!form) return form.error();
    const Kernel& code = (*form)->kernel;
    if (has_interior_version(code.body)) return refuse("the kernel asks for blocks inside already");
    int statements = 0;
    walk(code.body, [&](const Stmt&) { ++statements; });
    if (statements > kMostStatements) {
      return refuse("the kernel has " + std::to_string(statements) +
                    " statements, too many to be there twice");
    }
    Kernel turned = code;
    turned.body = with_inside_first(code.body);
    HoistPlace place{std::make_shared<const KernelForm>(std::move(turned)), {}};
    auto interior =
        interior_of(place.form->kernel, place.form->analysis, (*kernel.launch())->block);
    if (!interior) return interior.error();
    place.interior = std::move(*interior);
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const HoistPlace& place) const override {
    const Kernel& form = place.form->kernel;
    const Interior& interior = place.interior;
    KernelState result = kernel.state();
    result.unit.kernel = form;
    const auto [shared, code] = parts(form.body);
    Block inside = without_guards(code, interior);
    Block body = shared;
    body.push_back(branch(conjunction(interior.conditions), std::move(inside),
                          seldom_run(Names(form).renamed(code))));
    result.unit.kernel.body = std::move(body);
    return result;
  }

 private:
  // Shared arrays, and everything else.
  static std::pair<Block, Block> parts(const Block& body) {
    Block shared;
    Block code;
    for (const StmtPtr& stmt : body) {
      const auto* declaration = as<Declaration>(stmt);
      const bool is_shared =
          declaration != nullptr && declaration->variable.storage != Storage::automatic;
      (is_shared ? shared : code).push_back(stmt);
    }
    return {std::move(shared), std::move(code)};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_branch_hoist() {
  return std::make_unique<BranchHoist>();
}

}  // namespace regraph::rewrite
