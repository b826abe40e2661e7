// smem_pad: lengthens the rows of two- and higher-dimensional shared arrays, so that walking down a
// column visits different banks. Legal when every use indexes the array completely, so that no
// address arithmetic knows the row's length, and the block still has the shared memory.
#include "rewrite/analysis/legality.h"
#include "rewrite/steps/steps.h"
#include "source/walk.h"

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

class SmemPad final : public StepRewriter {
 public:
  std::string_view id() const override { return "smem_pad"; }
  std::vector<StepParameters> choices() const override { return {{{"pad", "1"}}, {{"pad", "4"}}}; }

  Result<KernelState> apply(const KernelState& state, const StepParameters& parameters,
                            const Problem&) const override {
    auto pad = integer_parameter(parameters, "pad");
    if (!pad) return pad.error();
    if (*pad < 1 || *pad >= kUnpaddedMultiple) {
      return fail(ErrorCode::invalid_argument, "'pad' must be 1 to 7 elements");
    }
    const source::Analysis analysis(state.unit.kernel);
    if (const auto opaque = analysis.opaque()) return refuse("uses cannot be told, " + *opaque);
    if (!analysis.unknown_calls().empty()) {
      return refuse("'" + *analysis.unknown_calls().begin() + "' may use a shared array");
    }
    KernelState result = state;
    bool changed = false;
    result.unit.kernel.body = source::rewrite_statements(
        state.unit.kernel.body, [&](const source::StmtPtr& stmt) -> std::optional<source::Block> {
          const source::Variable& array = stmt->variable;
          if (stmt->kind != source::StmtKind::declare || array.storage != source::Storage::shared ||
              array.extents.size() < 2 || array.extents.back() % kUnpaddedMultiple != 0 ||
              !is_fully_indexed(state.unit.kernel, array)) {
            return std::nullopt;
          }
          auto padded = std::make_shared<source::Stmt>(*stmt);
          padded->variable.extents.back() += *pad;
          changed = true;
          return source::Block{padded};
        });
    if (!changed) return refuse("no shared array with unpadded rows that is always fully indexed");
    if (shared_bytes(result.unit.kernel) > kStaticSharedLimitBytes) {
      return refuse("padded, the shared arrays need " +
                    std::to_string(shared_bytes(result.unit.kernel)) + " bytes of the " +
                    std::to_string(kStaticSharedLimitBytes) + " a block may declare");
    }
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_smem_pad() {
  return std::make_unique<SmemPad>();
}

}  // namespace regraph::rewrite
