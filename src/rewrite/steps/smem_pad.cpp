// smem_pad: lengthens the rows of two- and higher-dimensional shared arrays, so that walking down a
// column visits different banks. Legal when every use indexes the array completely, so that no
// address arithmetic knows the row's length, and the block still has the shared memory.
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/walk.h"

#include <memory>

namespace regraph::rewrite {
namespace {

// Rows whose length is a multiple of this many elements put columns into few banks; others are
// taken as padded already.
constexpr std::int64_t kUnpaddedMultiple = 8;

bool is_fully_indexed(const source::Kernel& kernel, const source::Variable& array) {
  bool complete = true;
  std::function<void(const source::ExprPtr&, std::size_t)> check = [&](const source::ExprPtr& expr,
                                                                       std::size_t indices_above) {
    if (!expr) return;
    if (expr->kind == source::ExprKind::variable && expr->text == array.name &&
        indices_above != array.extents.size()) {
      complete = false;
    }
    if (expr->kind == source::ExprKind::index) {
      check(expr->operands[0], indices_above + 1);
      check(expr->operands[1], 0);
      return;
    }
    for (const source::ExprPtr& operand : expr->operands)
      check(operand, 0);
  };
  source::walk(kernel.body, [&](const source::Stmt& stmt) {
    check(stmt.target, 0);
    check(stmt.value, 0);
  });
  return complete;
}

struct PadPlace {
  int pad = 0;
  std::set<const source::Stmt*> declarations;
};

class SmemPad final : public PlacedStep<PadPlace> {
 public:
  std::string_view id() const override { return "smem_pad"; }
  int position() const override { return 60; }
  std::vector<StepParameters> settings() const override { return {{{"pad", "1"}}, {{"pad", "4"}}}; }

 protected:
  Result<PadPlace> find(const KernelAnalysis& kernel,
                        const StepParameters& parameters) const override {
    auto pad = integer_parameter(parameters, "pad");
    if (!pad) return pad.error();
    if (*pad < 1 || *pad >= kUnpaddedMultiple) {
      return fail(ErrorCode::invalid_argument, "'pad' must be 1 to 7 elements");
    }
    const source::Analysis& analysis = kernel.analysis();
    if (const auto opaque = analysis.opaque()) return refuse("uses cannot be told, " + *opaque);
    if (!analysis.unknown_calls().empty()) {
      return refuse("'" + *analysis.unknown_calls().begin() + "' may use a shared array");
    }
    PadPlace place{*pad, {}};
    std::int64_t bytes = shared_bytes(kernel.kernel());
    source::walk(kernel.kernel().body, [&](const source::Stmt& stmt) {
      if (!can_pad(stmt, kernel.kernel())) return;
      place.declarations.insert(&stmt);
      bytes += bytes_of(padded(stmt.variable, *pad)) - bytes_of(stmt.variable);
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
    result.unit.kernel.body = source::rewrite_statements(
        kernel.kernel().body, [&](const source::StmtPtr& stmt) -> std::optional<source::Block> {
          if (!place.declarations.contains(stmt.get())) return std::nullopt;
          auto longer = std::make_shared<source::Stmt>(*stmt);
          longer->variable = padded(stmt->variable, place.pad);
          return source::Block{longer};
        });
    return result;
  }

 private:
  static bool can_pad(const source::Stmt& stmt, const source::Kernel& kernel) {
    const source::Variable& array = stmt.variable;
    return stmt.kind == source::StmtKind::declare && array.storage == source::Storage::shared &&
           array.extents.size() >= 2 && array.extents.back() % kUnpaddedMultiple == 0 &&
           is_fully_indexed(kernel, array);
  }

  static source::Variable padded(source::Variable array, int pad) {
    array.extents.back() += pad;
    return array;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_smem_pad() {
  return std::make_unique<SmemPad>();
}

}  // namespace regraph::rewrite
