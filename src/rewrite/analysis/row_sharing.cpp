#include "rewrite/analysis/row_sharing.h"

#include "affine/guarded_access.h"
#include "rewrite/analysis/loop_choice.h"
#include "rewrite/analysis/online_updates.h"
#include "rewrite/analysis/refusal_place.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <optional>
#include <set>

namespace regraph::rewrite {

namespace {

// Stands for the variable of whichever shared loop an access is in.
constexpr const char* kIteration = "#iteration";

class SharingPlanner {
 public:
  SharingPlanner(const Kernel& kernel, const Analysis& analysis, int threads, bool has_barriers,
                 const Problem& problem, RunningValues running)
      : kernel_(kernel),
        analysis_(analysis),
        threads_(threads),
        has_barriers_(has_barriers),
        problem_(problem),
        running_(running) {}

  Result<RowPlan> plan() {
    if (Status status = visit(kernel_.body, false); !status) return status.error();
    if (plan_.empty()) return reason_;
    for (const auto& [array, use] : uses_) {
      if (use.stored && !use.obstacle.empty()) return refuse("'" + array + "' " + use.obstacle);
    }
    return plan_;
  }

 private:
  // What is known about one array's accesses so far.
  struct Use {
    bool stored = false;
    std::string obstacle;              // why it may not be stored to, if it is
    std::optional<Polynomial> shared;  // index in shared loops
    std::optional<Polynomial> first;   // of the loops it is accessed in
    std::int64_t stride = 0;
    bool in_scans = false;  // by neighbouring iterations a thread
    // Indices outside shared loops; nothing for what is no polynomial.
    std::vector<std::optional<Polynomial>> alone;
    bool stored_alone = false;
    // Read outside shared loops, after so many of them had been added up.
    std::optional<int> read_alone_after;
  };

  // The first obstacle is the one to report.
  static void obstruct(Use& use, const char* why) {
    if (use.obstacle.empty()) use.obstacle = why;
  }

  Status visit(const Block& block, bool repeats) {
    for (const StmtPtr& stmt : block) {
      if (Status status = visit(stmt, repeats); !status) return status;
    }
    return {};
  }

  Status visit(const StmtPtr& statement, bool repeats) {
    const Stmt& stmt = *statement;
    switch (stmt.kind()) {
      case StmtKind::for_loop:
        if (try_share(to<ForLoop>(stmt), repeats)) return {};
        note_alone(statement, true);
        return visit(body_of(stmt), true);
      case StmtKind::while_loop:
        note_alone(statement, true);
        return visit(body_of(stmt), true);
      case StmtKind::branch:
      case StmtKind::scope:
        note_alone(statement, repeats);
        if (Status status = visit(body_of(stmt), repeats); !status) return status;
        return visit(otherwise_of(stmt), repeats);
      case StmtKind::evaluation: {
        // Done by one lane, unless the call has a result somebody uses.
        const std::string& function = to<Evaluation>(stmt).call().function;
        if (!is_atomic(function)) {
          return refuse(line_named(stmt) + "'" + function +
                        "' would be called by every thread of a row");
        }
        note_alone(statement, repeats);
        return {};
      }
      case StmtKind::return_:
      case StmtKind::opaque:
      case StmtKind::barrier:
        return refuse(line_named(stmt) +
                      "a return, barrier or statement the rewriter cannot follow");
      case StmtKind::assignment:
        if (!is_plain(*target_of(stmt))) {
          return refuse(line_named(stmt) +
                        "it assigns to something that is no variable or array element");
        }
        note_alone(statement, repeats);
        return {};
      default:
        note_alone(statement, repeats);
        return {};
    }
  }

  // A variable or element, or a part of a variable; not of memory seen as another type, nor behind
  // a local pointer.
  bool is_plain(const Expr& target) const {
    const auto* base = place_variable(target);
    const Variable* local = base != nullptr ? analysis_.local(base->name) : nullptr;
    if (local != nullptr) return !local->is_pointer || source::is<VariableReference>(target);
    return base_variable(target) != nullptr;
  }

  // The loop's iterations at the largest bench size, when sizes alone decide them.
  std::optional<std::int64_t> most_iterations(const CountedLoop& loop) const {
    const auto first = analysis_.polynomial(loop.first);
    const auto limit = analysis_.polynomial(loop.limit);
    const auto most = first && limit ? largest_at_bench_sizes(*limit - *first, problem_)
                                     : std::optional<std::int64_t>();
    return most ? std::optional((*most + loop.stride - 1) / loop.stride) : std::nullopt;
  }

  bool try_share(const ForLoop& loop, bool repeats) {
    auto planned = shared_loop(loop, repeats);
    if (!planned) {
      reason_ = std::move(planned).error();
      return false;
    }
    // A scan without a single round has no barrier.
    combined_ += planned->combines() && !planned->scan ? 1 : 0;
    plan_.emplace(&loop, std::move(*planned));
    return true;
  }

  // What sharing the loop takes, noted in `uses_`. Error: refused, with `uses_` as it was.
  Result<SharedLoop> shared_loop(const ForLoop& loop, bool repeats) {
    const auto counted = counted_loop_of(loop);
    if (!counted) return refuse(line_named(loop) + "not a loop that counts up to a limit");
    auto found = effects_with_sums(loop);
    if (!found) return found.error();
    LoopEffects* const effects = &found->effects;
    std::optional<ScanLoop> scan;
    if (!effects->running.empty()) {
      if (Status status = require_steady_bounds(loop, *counted); !status) return status.error();
      auto planned = scan_of(loop, *effects, kernel_, analysis_);
      if (!planned) return planned.error();
      scan = std::move(*planned);
    }
    if (Status status = require_worth(loop, *counted, *effects); !status) return status.error();
    if (scan && size_in_bytes(*loop.declaration()->variable.scalar) == sizeof(std::int64_t))
      return refuse(line_named(loop) + "it is a scan, and its counter is no 32-bit integer");
    const auto first = analysis_.polynomial(counted->first);
    std::map<std::string, Use> before = uses_;
    for_each_guarded_access(loop.body, [&](const GuardedAccess& access) {
      const auto* base = base_variable(*access.access);
      if (base == nullptr || !analysis_.is_global_pointer(base->name)) return;
      note_shared(base->name, access, loop, *counted, first, scan.has_value());
    });
    // An outer loop may be unsuitable where one inside it is not.
    for (const std::string& array : effects->stored) {
      if (uses_[array].obstacle.empty()) continue;
      const Error reason = refuse(line_named(loop) + "'" + array + "' " + uses_[array].obstacle);
      uses_ = std::move(before);
      return reason;
    }
    return SharedLoop{
        *counted, std::move(effects->reductions), std::move(effects->selections), std::move(scan),
        repeats,  std::move(found->growth)};
  }

  struct EffectsWithSums {
    LoopEffects effects;  // sums that are scaled when a maximum grows stand behind it
    std::optional<SharedLoop::Growth> growth;
  };

  Result<EffectsWithSums> effects_with_sums(const ForLoop& loop) const {
    auto online = online_updates(loop.body, analysis_);
    if (!online) return refuse(loop_named(loop) + online.error().message);
    ForLoop rest(loop);
    rest.body = online->maximum.empty() ? loop.body : online->rest;
    auto effects = running_ == RunningValues::allowed ? running_effects_of(rest, analysis_)
                                                      : effects_of(rest, analysis_);
    if (!effects) return effects.error();
    EffectsWithSums result{std::move(*effects), std::nullopt};
    if (online->maximum.empty()) return result;
    if (!result.effects.running.empty()) {
      return refuse(loop_named(loop) + "it uses what '" + *result.effects.running.begin() +
                    "' has accumulated so far, and scales sums by '" + online->maximum + "'");
    }
    for (Reduction& sum : scaled_sums(*online)) {
      if (!analysis_.local(sum.variable)->extents.empty())
        return refuse(loop_named(loop) + "'" + sum.variable + "' is an array of sums");
      result.effects.reductions.push_back(std::move(sum));
    }
    if (online->growth)
      result.growth = SharedLoop::Growth{*online->growth, online->value, online->maximum};
    return result;
  }

  // Rounds ask for the bounds when elements of the rounds before have been stored.
  Status require_steady_bounds(const ForLoop& loop, const CountedLoop& counted) const {
    for (const ExprPtr& bound : {counted.first, counted.limit}) {
      for (const std::string& name : variables_of(bound)) {
        if (analysis_.is_global_pointer(name) && analysis_.is_written(name))
          return refuse(loop_named(loop) + "its bounds are read from '" + name +
                        "', which is written");
      }
    }
    return {};
  }

  Status require_worth(const ForLoop& loop, const CountedLoop& counted,
                       const LoopEffects& effects) const {
    if (loop.unroll == kNeverUnroll)
      return refuse(line_named(loop) + "the remainder of another loop is not worth sharing");
    if (const auto trips = most_iterations(counted); trips && *trips < threads_) {
      return refuse(line_named(loop) + "it has only " + std::to_string(*trips) +
                    " iterations for " + std::to_string(threads_) + " threads");
    }
    const auto& counter = loop.declaration()->variable.scalar;
    const bool is_wide = counter == ScalarType::i64 || counter == ScalarType::u64;
    if (!is_wide && counter != ScalarType::i32 && counter != ScalarType::u32)
      return refuse(line_named(loop) + "its counter is no integer of 32 or 64 bits");
    // When something was chosen is noted in 32 bits.
    if (is_wide && !effects.selections.empty())
      return refuse(line_named(loop) +
                    "it chooses an element, and its counter is no 32-bit integer");
    if (effects.stored.empty() && effects.reductions.empty() && effects.selections.empty())
      return refuse(line_named(loop) + "it neither stores nor accumulates anything");
    return {};
  }

  void note_shared(const std::string& array, const GuardedAccess& access, const ForLoop& loop,
                   const CountedLoop& counted, const std::optional<Polynomial>& first,
                   bool in_scan) {
    Use& use = uses_[array];
    use.stored = use.stored || access.is_store;
    if (analysis_.is_viewed(array)) obstruct(use, "is accessed as another type too");
    const auto index = analysis_.polynomial(access.access->index);
    const auto pitch = index ? index->coefficient(counted.name) : std::nullopt;
    const bool is_flat = source::is<VariableReference>(access.access->base);
    if (!is_flat || !pitch || pitch->is_zero() || !first) {
      obstruct(use, "is written at an index that does not follow the loop over the row");
      return;
    }
    for (const std::string& inner : declared_names(loop.body)) {
      if (index->mentions(inner)) {
        obstruct(use, "is written at an index that follows an inner loop");
        return;
      }
    }
    const Polynomial general = index->substitute(counted.name, Polynomial::symbol(kIteration));
    if (!use.shared) {
      use.shared = general;
      use.first = first;
      use.stride = counted.stride;
      use.in_scans = in_scan;
    }
    // Then one lane does all that happens to an element.
    if (!(*use.shared == general) || !(*use.first == *first) || use.stride != counted.stride ||
        use.in_scans != in_scan) {
      obstruct(use, "is written and accessed by different threads of a row");
    }
    if (std::all_of(use.alone.begin(), use.alone.end(),
                    [&](const auto& place) { return is_before_loops(use, place); })) {
      return;
    }
    if (use.stored_alone) obstruct(use, "is written once a row and in a loop over the row");
    if (use.read_alone_after) obstruct(use, kReadByAll);
  }

  // Whether the element is none that the shared loops access, but would be one had they begun
  // earlier: `y[0]` where they begin at 1.
  bool is_before_loops(const Use& use, const std::optional<Polynomial>& place) const {
    if (!place || !use.shared) return false;
    // Of a loop around them, another iteration may access it.
    for (const std::string& symbol : place->symbols()) {
      if (analysis_.loop(symbol) != nullptr) return false;
    }
    const auto pitch = use.shared->coefficient(kIteration);
    const Polynomial step = pitch ? *pitch * Polynomial(use.stride) : Polynomial();
    if (step.is_zero()) return false;
    const Polynomial distance = use.shared->substitute(kIteration, *use.first) - *place;
    // A multiple of the distance of neighbours, of which the first term tells the number.
    const auto& [monomial, coefficient] = *step.terms().begin();
    const auto found = distance.terms().find(monomial);
    if (found == distance.terms().end()) return false;
    const std::int64_t count = found->second / coefficient;
    return count > 0 && distance == step * Polynomial(count);
  }

  // Whether a barrier stands between the read by all threads of the row and what comes now.
  bool is_read_before(const Use& use) const {
    return has_barriers_ && *use.read_alone_after < combined_;
  }

  // Accesses in what all lanes execute: the statement's own expressions.
  void note_alone(const StmtPtr& stmt, bool repeats) {
    for_each_guarded_access({with_blocks(stmt, {}, {})}, [&](const GuardedAccess& access) {
      const auto* base = base_variable(*access.access);
      if (base == nullptr || !analysis_.is_global_pointer(base->name)) return;
      Use& use = uses_[base->name];
      const bool is_flat = is<VariableReference>(access.access->base);
      use.alone.push_back(is_flat ? analysis_.polynomial(access.access->index) : std::nullopt);
      const bool is_shared = use.shared && !is_before_loops(use, use.alone.back());
      if (access.is_store || is<Evaluation>(stmt)) {
        use.stored = true;
        use.stored_alone = true;
        if (is_shared) obstruct(use, "is written once a row and in a loop over the row");
        if (use.read_alone_after && !is_read_before(use)) obstruct(use, kReadByAll);
      } else {
        // A compound assignment reads its own target in the same lane.
        const bool own_target = target_of(*stmt).get() == access.access;
        if (own_target) return;
        if (repeats || use.stored_alone || is_shared) obstruct(use, kReadByAll);
        use.read_alone_after = combined_;
      }
    });
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  static constexpr const char* kReadByAll = "is written, and read by every thread of a row";

  int threads_;
  bool has_barriers_;
  const Problem& problem_;
  RunningValues running_;
  int combined_ = 0;  // shared loops so far whose results were added up
  std::map<std::string, Use> uses_;
  RowPlan plan_;
  Error reason_ = refuse("the kernel has no loop that threads could share");
};

}  // namespace

Result<RowPlan> plan_rows(const Kernel& kernel, const Analysis& analysis, int threads,
                          bool has_barriers, const Problem& problem, RunningValues running) {
  return SharingPlanner(kernel, analysis, threads, has_barriers, problem, running).plan();
}

}  // namespace regraph::rewrite
