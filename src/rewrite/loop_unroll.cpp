// loop_unroll: #pragma unroll on the innermost counted loops that have none. A request to the
// compiler, which keeps the semantics; refused where there is nothing to unroll.
#include "rewrite/legality.h"
#include "rewrite/steps.h"
#include "source/walk.h"

namespace regraph::rewrite {
namespace {

// Longest loop unrolled completely: beyond it code size hurts more than branches do.
constexpr std::int64_t kLongestFullUnroll = 64;

bool is_innermost(const source::Stmt& loop) {
  bool holds_loop = false;
  source::walk(loop.body, [&](const source::Stmt& stmt) {
    // Loops that are unrolled completely vanish and do not count.
    holds_loop = holds_loop ||
                 (stmt.kind == source::StmtKind::loop && stmt.unroll != source::kUnrollFully) ||
                 stmt.kind == source::StmtKind::repeat;
  });
  return !holds_loop;
}

class LoopUnroll final : public StepRewriter {
 public:
  std::string_view id() const override { return "loop_unroll"; }
  std::vector<StepParameters> choices() const override {
    return {{{"factor", "2"}},
            {{"factor", "4"}},
            {{"factor", "8"}},
            {{"factor", "16"}},
            {{"factor", "full"}}};
  }

  Result<KernelState> apply(const KernelState& state, const StepParameters& parameters,
                            const Problem&) const override {
    const auto found = parameters.find("factor");
    if (found == parameters.end())
      return fail(ErrorCode::invalid_argument, "the step needs 'factor'");
    int factor = source::kUnrollFully;
    if (found->second != "full") {
      auto number = integer_parameter(parameters, "factor");
      if (!number) return number.error();
      if (*number < 2) return fail(ErrorCode::invalid_argument, "'factor' must be at least 2");
      factor = *number;
    }
    KernelState result = state;
    bool changed = false;
    result.unit.kernel.body = unrolled(state.unit.kernel.body, factor, changed);
    if (!changed) {
      return refuse(factor == source::kUnrollFully
                        ? "no innermost loop with a short constant trip count is without a pragma"
                        : "no innermost counted loop longer than " + found->second +
                              " iterations is without a pragma");
    }
    return result;
  }

 private:
  static bool suits(const source::Stmt& loop, int factor) {
    if (loop.unroll != source::kNoUnrollPragma || !is_innermost(loop)) return false;
    const auto counted = source::counted_loop_of(loop);
    if (!counted) return false;
    const auto trips = counted->trip_count();
    if (factor == source::kUnrollFully) return trips && *trips > 1 && *trips <= kLongestFullUnroll;
    return !trips || *trips > factor;
  }

  static source::Block unrolled(const source::Block& block, int factor, bool& changed) {
    source::Block result;
    for (const source::StmtPtr& stmt : block) {
      auto copy = std::make_shared<source::Stmt>(*stmt);
      copy->body = unrolled(stmt->body, factor, changed);
      copy->otherwise = unrolled(stmt->otherwise, factor, changed);
      if (stmt->kind == source::StmtKind::loop && suits(*stmt, factor)) {
        copy->unroll = factor;
        changed = true;
      }
      result.push_back(std::move(copy));
    }
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_loop_unroll() {
  return std::make_unique<LoopUnroll>();
}

}  // namespace regraph::rewrite
