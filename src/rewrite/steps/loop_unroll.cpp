// loop_unroll: #pragma unroll on innermost counted loops that have none; "loop" chooses one of them
// or all. Complete unrolling takes the enclosing loops of constant length along while that is not
// too much code. A request to the compiler, which keeps the semantics; refused where there is
// nothing to unroll.
#include "affine/block_geometry.h"
#include "rewrite/analysis/loop_choice.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <set>

namespace regraph::rewrite {
namespace {

// Longest loop unrolled completely: beyond it code size hurts more than branches do.
constexpr std::int64_t kLongestFullUnroll = 64;
// Most copies of a body that a nest of loops unrolled completely may give.
constexpr std::int64_t kMostCopies = 256;
constexpr const char* kAllLoops = "all";

// Copies of the innermost body that loops unrolled completely below the block make.
std::int64_t copies_below(const Block& block) {
  std::int64_t most = 1;
  for (const StmtPtr& stmt : block) {
    std::int64_t copies = std::max(copies_below(body_of(*stmt)), copies_below(otherwise_of(*stmt)));
    const auto* loop = as<ForLoop>(stmt);
    const auto counted = counted_loop_of(*stmt);
    const auto trips = counted ? counted->trip_count() : std::nullopt;
    if (trips && loop->unroll == kUnrollFully) copies *= std::max<std::int64_t>(1, *trips);
    most = std::max(most, copies);
  }
  return most;
}

bool suits(const ForLoop& loop, int factor) {
  if (loop.unroll != kNoUnrollPragma) return false;
  const auto counted = counted_loop_of(loop);
  if (!counted) return false;
  const auto trips = counted->trip_count();
  if (factor == kUnrollFully) return trips && *trips > 1 && *trips <= kLongestFullUnroll;
  return !trips || *trips > factor;
}

bool fits(const ForLoop& loop, const Block& body) {
  const auto counted = counted_loop_of(loop);
  const auto trips = counted ? counted->trip_count() : std::nullopt;
  return trips && *trips * copies_below(body) <= kMostCopies;
}

struct UnrollPlace {
  int factor = kUnrollFully;
  std::set<const Stmt*> loops;
};

class LoopUnroll final : public PlacedStep<UnrollPlace> {
 public:
  std::string_view id() const override { return "loop_unroll"; }
  int position() const override { return 70; }

  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* factor : {"2", "4", "8", "16", "full"}) {
      result.push_back({{"factor", factor}, {"loop", kAllLoops}});
      for (const char* loop : kLoopChoices)
        result.push_back({{"factor", factor}, {"loop", loop}});
    }
    return result;
  }

 protected:
  Requirements requirements() const override { return {.one_launch = false, .transparent = false}; }
  Result<UnrollPlace> find(const KernelAnalysis& kernel,
                           const StepParameters& parameters) const override {
    UnrollPlace place;
    auto factor = text_parameter(parameters, "factor");
    if (!factor) return factor.error();
    auto which = text_parameter(parameters, "loop");
    if (!which) return which.error();
    if (*factor != "full") {
      auto number = integer_parameter(parameters, "factor", 2);
      if (!number) return number.error();
      place.factor = *number;
    }
    std::vector<const Stmt*> loops;
    for (const StmtPtr& loop : innermost_loops(kernel.kernel().body)) {
      if (suits(to<ForLoop>(loop), place.factor)) loops.push_back(loop.get());
    }
    if (loops.empty()) {
      return refuse(place.factor == kUnrollFully
                        ? "no innermost loop with a short constant trip count is without a pragma"
                        : "no innermost counted loop longer than " + *factor +
                              " iterations is without a pragma");
    }
    if (*which == kAllLoops) {
      place.loops.insert(loops.begin(), loops.end());
      return place;
    }
    auto position = integer_parameter(parameters, "loop", 1);
    if (!position) return position.error();
    if (loops.size() < 2) return refuse("only one loop suits, which 'all' unrolls as well");
    if (static_cast<std::size_t>(*position) > loops.size()) {
      return refuse("only " + std::to_string(loops.size()) + " loops suit");
    }
    place.loops.insert(loops[static_cast<std::size_t>(*position) - 1]);
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const UnrollPlace& place) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body = unrolled(kernel.kernel().body, place).block;
    return result;
  }

 private:
  struct Unrolled {
    Block block;
    bool changed = false;
  };

  static Unrolled unrolled(const Block& block, const UnrollPlace& place) {
    Unrolled result;
    for (const StmtPtr& stmt : block) {
      Unrolled body = unrolled(body_of(*stmt), place);
      Unrolled otherwise = unrolled(otherwise_of(*stmt), place);
      const auto* loop = as<ForLoop>(stmt);
      const bool encloses = loop != nullptr && body.changed && place.factor == kUnrollFully &&
                            suits(*loop, place.factor) && !holds_loop(body.block) &&
                            fits(*loop, body.block);
      const bool is_unrolled = place.loops.contains(stmt.get()) || encloses;
      result.changed = result.changed || body.changed || otherwise.changed || is_unrolled;
      if (is_unrolled) {
        auto copy = std::make_shared<ForLoop>(*loop);
        copy->body = std::move(body.block);
        copy->unroll = place.factor;
        result.block.push_back(std::move(copy));
      } else {
        result.block.push_back(
            with_blocks(stmt, std::move(body.block), std::move(otherwise.block)));
      }
    }
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_loop_unroll() {
  return std::make_unique<LoopUnroll>();
}

}  // namespace regraph::rewrite
