#include "rewrite/analysis/independent_iterations.h"

#include "rewrite/analysis/refusal_place.h"
#include "rewrite/forms/kernel_state.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/visitor.h"
#include "source/walk.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace regraph::rewrite {

namespace {

// Atomics that give the same result in any order, but for rounding.
constexpr auto kOrderless = std::to_array<std::string_view>(
    {"atomicAdd", "atomicSub", "atomicMin", "atomicMax", "atomicAnd", "atomicOr", "atomicXor"});

struct Access {
  ExprPtr index;  // null: anywhere in the buffer
  bool is_store = false;
};

// What one iteration does, and the first thing that iterations cannot do in any order.
class EffectScan final : public Visitor {
 public:
  EffectScan(const Analysis& analysis, std::set<std::string> own)
      : analysis_(analysis), own_(std::move(own)) {}

  std::map<std::string, std::vector<Access>> accesses;
  std::map<std::string, std::set<std::string>> atomics;  // buffer -> functions
  bool rounds = false;
  std::optional<std::string> obstacle;

 private:
  void visit(const Barrier&) override { obstruct("it holds a barrier"); }
  void visit(const Return&) override { obstruct("it is left by a return"); }
  void visit(const OpaqueStatement&) override { obstruct("the rewriter cannot follow it"); }
  void visit(const OpaqueExpression&) override { obstruct("the rewriter cannot follow it"); }
  void visit(const Jump&) override {
    if (loops_ == 0) obstruct("an iteration may end early, or end the loop");
  }
  void visit(const ForLoop& stmt) override {
    ++loops_;
    Visitor::visit(stmt);
    --loops_;
  }
  void visit(const WhileLoop& stmt) override {
    ++loops_;
    Visitor::visit(stmt);
    --loops_;
  }

  void visit(const Assignment& stmt) override {
    note_written(*stmt.target);
    if (const auto* element = as<Subscript>(stmt.target)) {
      const auto* buffer = as<VariableReference>(element->base);
      if (buffer != nullptr && analysis_.is_global_pointer(buffer->name)) {
        accesses[buffer->name].push_back({element->index, true});
        go(element->index);
        go(stmt.value);
        return;
      }
    }
    if (!is<VariableReference>(stmt.target)) go(stmt.target);
    go(stmt.value);
  }

  void visit(const source::Evaluation& stmt) override {
    const Call& call = stmt.call();
    const ExprPtr place = call.arguments.empty() ? nullptr : addressed(*call.arguments.front());
    const auto* element = place ? as<Subscript>(place) : nullptr;
    // `atomicAdd(total, x)` is of element 0.
    const auto* whole = call.arguments.empty() ? nullptr : as<VariableReference>(call.arguments[0]);
    const auto* buffer = element != nullptr ? as<VariableReference>(element->base) : whole;
    const bool is_orderless =
        std::find(kOrderless.begin(), kOrderless.end(), call.function) != kOrderless.end();
    if (!is_orderless || buffer == nullptr || !analysis_.is_global_pointer(buffer->name)) {
      obstruct("it calls '" + call.function + "', whose effects have an order");
      return;
    }
    atomics[buffer->name].insert(call.function);
    const bool is_sum = call.function == "atomicAdd" || call.function == "atomicSub";
    const auto scalar = element != nullptr ? element->type : std::nullopt;
    rounds = rounds || (is_sum && (!scalar || is_floating(*scalar)));
    if (element != nullptr) go(element->index);
    for (std::size_t at = 1; at < call.arguments.size(); ++at)
      go(call.arguments[at]);
  }

  void visit(const Call& call) override {
    if (!is_pure(call) && !reads_through_argument(call.function))
      obstruct("it calls '" + call.function + "', which may use memory");
    for_each_passed_place(call, [&](const Expr& place) { note_written(place); });
    Visitor::visit(call);
  }

  void visit(const Subscript& expr) override {
    const auto* buffer = as<VariableReference>(expr.base);
    if (buffer != nullptr && analysis_.is_global_pointer(buffer->name)) {
      accesses[buffer->name].push_back({expr.index, false});
    } else {
      go(expr.base);
    }
    go(expr.index);
  }

  void visit(const Unary& expr) override {
    const ExprPtr place = addressed(expr);
    const auto* base = place ? place_variable(*place) : nullptr;
    const bool is_element = base != nullptr && analysis_.is_global_pointer(base->name);
    if (place && !is_element) note_written(*place);
    Visitor::visit(expr);
  }

  // A buffer that is used otherwise than element by element, or a pointer into one.
  void visit(const VariableReference& expr) override {
    if (analysis_.is_global_pointer(expr.name)) accesses[expr.name].push_back({nullptr, false});
    const Variable* local = analysis_.local(expr.name);
    if (local != nullptr && local->is_pointer)
      obstruct("'" + expr.name + "' is a pointer, which the rewriter does not follow here");
  }

  void note_written(const Expr& place) {
    const auto* base = place_variable(place);
    if (base == nullptr) {
      obstruct("it writes a place that the rewriter cannot tell");
      return;
    }
    if (own_.contains(base->name)) return;
    if (!analysis_.is_global_pointer(base->name)) {
      obstruct("'" + base->name + "' carries a value from one iteration to the next, or out of it");
      return;
    }
    const auto* element = as<Subscript>(place);
    if (element == nullptr || !is<VariableReference>(element->base))
      accesses[base->name].push_back({nullptr, true});
  }

  void obstruct(std::string why) {
    if (!obstacle) obstacle = std::move(why);
  }

  const Analysis& analysis_;
  const std::set<std::string> own_;  // declared in each iteration
  int loops_ = 0;
};

// Why stores to the buffer may meet other accesses; nothing where they do not.
std::optional<std::string> meeting(const std::string& buffer, const std::vector<Access>& accesses,
                                   const CountedLoop& counted, const Analysis& analysis,
                                   const IterationOverlap& overlap) {
  if (analysis.is_viewed(buffer)) return "'" + buffer + "' is accessed as another type too";
  std::vector<std::optional<Polynomial>> indices;
  for (const Access& access : accesses) {
    indices.push_back(access.index ? overlap.polynomial(access.index) : std::nullopt);
    if (!indices.back())
      return "'" + buffer + "' is written, and accessed where its index is no polynomial";
  }
  for (std::size_t one = 0; one < accesses.size(); ++one) {
    if (!accesses[one].is_store) continue;
    for (std::size_t other = 0; other < accesses.size(); ++other) {
      if (!overlap.are_apart(*indices[one], *indices[other], counted)) {
        return "several iterations may touch an element of '" + buffer + "' that one of them " +
               "writes";
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Result<IterationEffects> independent_iterations(const ForLoop& loop, const CountedLoop& counted,
                                                const Analysis& analysis,
                                                const IterationOverlap& overlap, bool seen_apart) {
  EffectScan scan(analysis, declared_names(loop.body));
  scan.go(loop.body);
  if (scan.obstacle) return refuse(line_named(loop) + *scan.obstacle);
  IterationEffects effects;
  effects.rounds = scan.rounds;
  for (const auto& [buffer, functions] : scan.atomics) {
    effects.written.insert(buffer);
    if (functions.size() > 1 || scan.accesses.contains(buffer)) {
      return refuse(line_named(loop) + "'" + buffer +
                    "' is used for more than one kind of atomic without a result");
    }
  }
  for (const auto& [buffer, accesses] : scan.accesses) {
    const bool is_written = std::any_of(accesses.begin(), accesses.end(),
                                        [](const Access& access) { return access.is_store; });
    (is_written ? effects.written : effects.read).insert(buffer);
    if (!is_written || seen_apart) continue;
    if (const auto why = meeting(buffer, accesses, counted, analysis, overlap))
      return refuse(line_named(loop) + *why);
  }
  if (effects.written.empty()) return refuse(line_named(loop) + "it writes nothing to memory");
  return effects;
}

}  // namespace regraph::rewrite
