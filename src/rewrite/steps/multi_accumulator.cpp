// multi_accumulator: a reducing loop runs over groups of U iterations, each with an accumulator of
// its own, which are combined after it. Their operations do not wait for each other.
//
//   for (k = 0; k < n; ++k) s += a[k];
// becomes
//   s_part[U] = 0; for (k = 0; k < n / U * U; k += U) for (u < U) s_part[u] += a[k + u];
//   for (; k < n; ++k) s += a[k];  for (u < U) s += s_part[u];
//
// Loops that are written out come after the others: their chains are no shorter for that.
//
// Legal for innermost counted loops whose iterations depend on each other through accumulators only
// (the order of everything else is kept). Floating sums need the problem's leave.
#include "affine/block_geometry.h"
#include "rewrite/analysis/loop_choice.h"
#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/analysis/refusal_place.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <map>
#include <memory>

namespace regraph::rewrite {
namespace {

struct ReducingLoop {
  std::shared_ptr<const ForLoop> loop;
  CountedLoop counted;
  std::vector<Reduction> reductions;
  ScalarType compared = ScalarType::i32;  // the type that counter and limit are compared in
};

bool is_signed(ScalarType type) {
  return type == ScalarType::i32 || type == ScalarType::i64;
}

// The type that two integers are converted to where they are compared; nothing for narrow ones.
std::optional<ScalarType> compared_type(std::optional<ScalarType> a, std::optional<ScalarType> b) {
  const auto rank = [](ScalarType type) { return size_in_bytes(type) + (is_signed(type) ? 0 : 1); };
  const auto fits = [](std::optional<ScalarType> type) {
    return type && !is_floating(*type) && size_in_bytes(*type) >= size_in_bytes(ScalarType::i32);
  };
  if (!fits(a) || !fits(b)) return std::nullopt;
  return rank(*a) < rank(*b) ? b : a;
}

class Splitter {
 public:
  Splitter(const Kernel& kernel, const ReducingLoop& loop, int accumulators)
      : kernel_(kernel), loop_(loop), names_(kernel), count_(accumulators) {}

  Block run() {
    return rewrite_statements(kernel_.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      if (stmt != loop_.loop) return std::nullopt;
      return replacement();
    });
  }

 private:
  Block replacement() {
    const CountedLoop& counted = loop_.counted;
    const std::string part = names_.fresh("part");
    std::vector<std::string> arrays;
    Block result;
    Block clears;
    Block merges;
    for (const Reduction& reduction : loop_.reductions) {
      arrays.push_back(names_.fresh(reduction.variable + "_part"));
      result.push_back(declare(
          local_variable(arrays.back(), reduction.type, reduction.scalar, {count_}), nullptr));
      const ExprPtr own = reduction.value();
      const ExprPtr element =
          source::element(variable(arrays.back(), reduction.scalar), {variable(part)});
      const ExprPtr neutral = reduction.neutral();
      clears.push_back(assign(element, neutral ? neutral : own));
      merges.push_back(reduction.combine(own, element));
    }
    result.push_back(over_parts(part, std::move(clears)));
    const auto trips = counted.trip_count();
    const bool has_remainder = !trips || *trips % count_ != 0;
    const ExprPtr end = has_remainder ? declare_end(result) : counted.limit;
    result.push_back(main_loop(part, arrays, end));
    if (has_remainder) result.push_back(remainder_loop(end));
    result.push_back(over_parts(part, std::move(merges)));
    return result;
  }

  std::int64_t group() const { return loop_.counted.stride * count_; }

  // Where whole groups end, in the type that the counter is compared in.
  ExprPtr declare_end(Block& out) {
    const CountedLoop& counted = loop_.counted;
    const ScalarType type = loop_.compared;
    const std::string name = names_.fresh(counted.name + "_end");
    // Unsigned ones begin at zero, and are never negative.
    ExprPtr length = is_signed(type) ? subtract(counted.limit, counted.first) : counted.limit;
    if (type != ScalarType::i32) length = cast(std::string(cuda_name(type)), length);
    // An empty loop must stay empty.
    if (is_signed(type) && !counted.trip_count()) {
      const ExprPtr zero = type == ScalarType::i32 ? integer(0) : integer(0, "0LL", type);
      length = call("max", {length, zero});
    }
    ExprPtr whole = multiply(divide(length, integer(group())), integer(group()));
    if (is_signed(type)) whole = add(counted.first, whole);
    Variable end = local_variable(name, std::string(cuda_name(type)), type);
    end.is_const = true;
    out.push_back(declare(std::move(end), std::move(whole)));
    return variable(name, type);
  }

  StmtPtr over_parts(const std::string& part, Block body) const {
    return counted_loop(part, integer(0), integer(count_), 1, std::move(body), kUnrollFully);
  }

  StmtPtr main_loop(const std::string& part, const std::vector<std::string>& arrays,
                    const ExprPtr& end) {
    const CountedLoop& counted = loop_.counted;
    const Variable& counter = loop_.loop->declaration()->variable;
    const ExprPtr iteration = add(variable(counted.name, counter.scalar),
                                  multiply(variable(part), integer(counted.stride)));
    Block body =
        rewrite_expressions(loop_.loop->body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          if (is_named(expr, counted.name)) return iteration;
          for (std::size_t i = 0; i < arrays.size(); ++i) {
            if (!is_named(expr, loop_.reductions[i].variable)) continue;
            return source::element(variable(arrays[i], expr->type), {variable(part)});
          }
          return std::nullopt;
        });
    const int unroll = loop_.loop->unroll == kUnrollFully ? kUnrollFully : kNoUnrollPragma;
    const ExprPtr name = variable(counted.name, counter.scalar);
    const StmtPtr groups = source::loop(declare(counter, counted.first), less(name, end),
                                        assign(name, AssignmentOperator::add, integer(group())),
                                        {over_parts(part, std::move(body))}, unroll);
    return names_.renamed(Block{groups}).front();
  }

  StmtPtr remainder_loop(const ExprPtr& first) {
    auto loop = std::make_shared<ForLoop>(*loop_.loop);
    const Variable& counter = loop_.loop->declaration()->variable;
    loop->init =
        declare(counter, counter.scalar == first->type ? first : cast(counter.type, first));
    loop->unroll = kNeverUnroll;
    return names_.renamed(Block{loop}).front();
  }

  const Kernel& kernel_;
  const ReducingLoop& loop_;
  Names names_;
  int count_;
};

struct SplitPlace {
  ReducingLoop loop;
  int accumulators = 0;
};

class MultiAccumulator final : public PlacedStep<SplitPlace> {
 public:
  std::string_view id() const override { return "multi_accumulator"; }
  int position() const override { return 160; }

  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* loop : kLoopChoices) {
      for (const char* accumulators : {"2", "4", "8"}) {
        result.push_back({{"loop", loop}, {"accumulators", accumulators}});
      }
    }
    return result;
  }

 protected:
  Requirements requirements() const override { return {.one_launch = false}; }
  Result<SplitPlace> find(const KernelAnalysis& kernel,
                          const StepParameters& parameters) const override {
    auto accumulators = integer_parameter(parameters, "accumulators");
    if (!accumulators) return accumulators.error();
    auto wanted = integer_parameter(parameters, "loop");
    if (!wanted) return wanted.error();
    if (*accumulators < 2 || *wanted < 1) {
      return fail(ErrorCode::invalid_argument,
                  "'accumulators' must be at least 2 and 'loop' at least 1");
    }
    Error reason = refuse("the kernel has no innermost counted loop");
    int position = 0;
    std::vector<StmtPtr> loops = innermost_loops(kernel.kernel().body);
    const bool has_innermost = !loops.empty();
    const std::vector<StmtPtr> written_out = written_out_loops(kernel.kernel().body);
    loops.insert(loops.end(), written_out.begin(), written_out.end());
    for (const StmtPtr& loop : loops) {
      const auto* counting = as<ForLoop>(loop);
      auto reducing = reducing_loop(std::static_pointer_cast<const ForLoop>(loop),
                                    kernel.analysis(), *accumulators);
      if (!reducing) {
        if (!has_innermost || counting->unroll != kUnrollFully) reason = reducing.error();
        continue;
      }
      if (++position != *wanted) continue;
      if (Status status = permit_reordering(reducing->reductions, kernel.problem()); !status)
        return status.error();
      return SplitPlace{std::move(*reducing), *accumulators};
    }
    if (position > 0) {
      return refuse("the kernel has only " + std::to_string(position) + " reducing loops");
    }
    return reason;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const SplitPlace& place) const override {
    KernelState result = kernel.state();
    if (any_rounds(place.loop.reductions)) rely_on(result, kReordersSums);
    result.unit.kernel.body = Splitter(kernel.kernel(), place.loop, place.accumulators).run();
    return result;
  }

 private:
  static Result<ReducingLoop> reducing_loop(const std::shared_ptr<const ForLoop>& loop,
                                            const Analysis& analysis, int accumulators) {
    const std::string where = loop_named(*loop);
    const auto counted = counted_loop_of(*loop);
    if (!counted) return refuse(where + "not a loop that counts up to a limit");
    if (loop->unroll == kNeverUnroll) return refuse(where + "it is asked not to be unrolled");
    auto effects = effects_of(*loop, analysis);
    if (!effects) return effects.error();
    if (!effects->selections.empty()) {
      return refuse(where + "'" + effects->selections.front().value.variable +
                    "' is chosen together with other values");
    }
    if (effects->reductions.empty()) return refuse(where + "it accumulates nothing");
    const auto compared = compared_type(loop->declaration()->variable.scalar, counted->limit->type);
    if (!compared) return refuse(where + "its counter and bounds are no integers of 32 or 64 bits");
    const auto first = counted->first->type;
    if (!counted->starts_at_zero() && !(is_signed(*compared) && first && is_signed(*first)))
      return refuse(where + "it counts without sign and does not begin at 0");
    const auto trips = counted->trip_count();
    if (trips && *trips < 2 * accumulators) {
      return refuse(where + "it has only " + std::to_string(*trips) + " iterations");
    }
    // Iterations that are left over would be a loop, and arrays in registers could not stay there.
    if (loop->unroll == kUnrollFully && (!trips || *trips % accumulators != 0)) {
      return refuse(where + "it is written out, and " + std::to_string(accumulators) +
                    " does not divide its iterations");
    }
    return ReducingLoop{loop, *counted, effects->reductions, *compared};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_multi_accumulator() {
  return std::make_unique<MultiAccumulator>();
}

}  // namespace regraph::rewrite
