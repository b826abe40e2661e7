#include "rewrite/forms/constant_lengths.h"

#include "rewrite/forms/exact_values.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/counted_loop.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

using Sides = std::optional<std::pair<ExprPtr, ExprPtr>>;

// Both sides of a minimum, or of a maximum.
Sides sides_of(const ExprPtr& expr, bool is_minimum) {
  if (const auto* call = as<Call>(expr)) {
    const std::string name = is_minimum ? "min" : "max";
    const bool is_it = call->function == name || call->function == "std::" + name;
    if (!is_it || call->arguments.size() != 2) return std::nullopt;
    return std::pair(call->arguments[0], call->arguments[1]);
  }
  const auto* choice = as<Conditional>(expr);
  const auto* order = choice != nullptr ? as<Binary>(choice->condition) : nullptr;
  if (order == nullptr) return std::nullopt;
  const bool is_less = order->op == BinaryOperator::less || order->op == BinaryOperator::less_equal;
  const bool is_greater =
      order->op == BinaryOperator::greater || order->op == BinaryOperator::greater_equal;
  if (!is_less && !is_greater) return std::nullopt;
  // What stands on the side that the choice takes where the comparison holds.
  const ExprPtr& taken = is_less == is_minimum ? order->left : order->right;
  const ExprPtr& other = is_less == is_minimum ? order->right : order->left;
  if (!equal(choice->then, taken) || !equal(choice->otherwise, other)) return std::nullopt;
  return std::pair(choice->then, choice->otherwise);
}

}  // namespace

Sides sides_of_minimum(const ExprPtr& expr) {
  return sides_of(expr, true);
}

namespace {

// Longer chunks would do much in vain where another limit comes first.
constexpr std::int64_t kLongestGuardedChunk = 64;
// Windows that begin no earlier than the whole does: what they add up may leave them.
constexpr std::int64_t kLongestWindow = 16;

// A loop `for (i = largest of the firsts; i < every one of the limits; i += stride)`.
struct Chunk {
  CountedLoop counted;  // from the first and by the limit that are a constant apart
  std::int64_t length = 0;
  std::vector<ExprPtr> guards;  // that the others are reached, and not reached
};

class ChunkFinder {
 public:
  ChunkFinder(const Kernel& kernel, const Analysis& analysis)
      : kernel_(kernel), analysis_(analysis) {}

  std::optional<Chunk> find(const ForLoop& loop) const {
    const Declaration* init = loop.declaration();
    if (init == nullptr || !init->variable.scalar || !init->value || leaves_early(loop.body))
      return std::nullopt;
    const ScalarType type = *init->variable.scalar;
    std::vector<ExprPtr> firsts;
    collect(init->value, false, firsts);
    for (const ExprPtr& first : firsts) {
      auto chunk = find(loop, first, type);
      if (!chunk) continue;
      const ExprPtr counter = source::variable(chunk->counted.name, type);
      for (const ExprPtr& other : firsts) {
        if (other == first) continue;
        if (!is_same_order(other, type)) return std::nullopt;
        chunk->guards.push_back(negate(source::less(counter, other)));
      }
      // From a later first on, other elements would be a stride apart.
      if (firsts.size() > 1 && chunk->counted.stride != 1) return std::nullopt;
      const bool is_window = firsts.size() > 1 && chunk->length <= kLongestWindow;
      if (is_worthwhile(*chunk) && (is_window || leaves_elements_only(loop.body))) return chunk;
    }
    return std::nullopt;
  }

 private:
  // As a chunk that begins with `value`, one of those that the loop's first value is the largest
  // of.
  std::optional<Chunk> find(const ForLoop& loop, const ExprPtr& value, ScalarType type) const {
    Chunk chunk;
    const StmtPtr init = declare(loop.declaration()->variable, value);
    for (const ExprPtr& term : conjuncts(loop.condition)) {
      const StmtPtr alone = source::loop(init, term, loop.step, loop.body);
      const auto counted = counted_loop_of(*alone);
      if (!counted || !is_unchanging(term, counted->name)) return std::nullopt;
      const auto first = exact_value(counted->first, kernel_, analysis_);
      if (!first || !fits(counted->first, type)) return std::nullopt;
      std::vector<ExprPtr> limits;
      if (is_strict(term)) {
        collect(counted->limit, true, limits);
      } else {
        limits = {counted->limit};
      }
      const ExprPtr counter = source::variable(counted->name, type);
      for (const ExprPtr& limit : limits) {
        const auto end = exact_value(limit, kernel_, analysis_);
        const auto length = end ? (*end - *first).constant() : std::nullopt;
        if (length && *length > 0 && chunk.length == 0 && is_same_order(limit, type)) {
          chunk.counted = *counted;
          chunk.length = *length;
        } else {
          chunk.guards.push_back(limits.size() == 1 ? term : source::less(counter, limit));
        }
      }
    }
    return chunk.length > 0 ? std::optional(std::move(chunk)) : std::nullopt;
  }

  static bool is_worthwhile(const Chunk& chunk) {
    const bool begins_elsewhere = !is<IntegerLiteral>(chunk.counted.first);
    const bool is_short = chunk.length <= kLongestGuardedChunk * chunk.counted.stride;
    if (chunk.length <= chunk.counted.stride) return false;
    if (chunk.guards.empty() ? !begins_elsewhere : !is_short) return false;
    return begins_elsewhere || chunk.counted.starts_at_zero();
  }

  static bool is_strict(const ExprPtr& term) {
    const auto* order = as<Binary>(term);
    return order != nullptr && order->op == BinaryOperator::less;
  }

  // The limits of which the smallest counts, or the first values of which the largest does.
  void collect(const ExprPtr& limit, bool is_minimum, std::vector<ExprPtr>& limits) const {
    const auto* variable = as<VariableReference>(limit);
    const ExprPtr definition = variable != nullptr ? analysis_.definition(variable->name) : nullptr;
    const ExprPtr& value = definition && definition->type == limit->type ? definition : limit;
    const auto sides = sides_of(value, is_minimum);
    const bool is_plain = sides && sides->first->type == value->type &&
                          sides->second->type == value->type && is_pure(value) &&
                          is_unchanging(value, "");
    if (!is_plain) {
      limits.push_back(limit);
      return;
    }
    collect(sides->first, is_minimum, limits);
    collect(sides->second, is_minimum, limits);
  }

  // Whether the value is the same wherever it is asked for.
  bool is_unchanging(const ExprPtr& value, const std::string& counter) const {
    const std::set<std::string> names = variables_of(value);
    return is_pure(value) && std::all_of(names.begin(), names.end(), [&](const std::string& name) {
             return name == counter || is_steady(name, kernel_, analysis_);
           });
  }

  bool is_pure(const ExprPtr& value) const {
    bool pure = !analysis_.reads_memory(value);
    walk(value, [&](const Expr& part) {
      pure = pure && !is<OpaqueExpression>(part) && !is<Subscript>(part) && !is<Member>(part) &&
             (!is<Call>(part) || source::is_pure(to<Call>(part)));
    });
    return pure;
  }

  // Whether the counter can begin with the value, and be compared with the limit, as numbers.
  static bool fits(const ExprPtr& first, ScalarType counter) {
    if (is<IntegerLiteral>(first) || first->type == counter) return true;
    return first->type == ScalarType::i32 && counter == ScalarType::i64;
  }
  static bool is_same_order(const ExprPtr& limit, ScalarType counter) {
    return limit->type == counter || is<IntegerLiteral>(limit) ||
           (limit->type == ScalarType::i32 && counter == ScalarType::i64);
  }

  // Whether threads may leave the loop early, or wait for each other in it.
  static bool leaves_early(const Block& body) {
    return any_statement(body, [&](const Stmt& stmt) {
      return is<Jump>(stmt) || is<Return>(stmt) || is<Barrier>(stmt) || is<OpaqueStatement>(stmt);
    });
  }

  // Whether nothing comes of the loop but elements of arrays in memory.
  bool leaves_elements_only(const Block& body) const {
    const std::set<std::string> own = declared_names(body);
    bool result = true;
    walk(body, [&](const Stmt& stmt) {
      const auto* base = target_of(stmt) ? place_variable(*target_of(stmt)) : nullptr;
      if (target_of(stmt)) result = result && base != nullptr;
      if (base != nullptr)
        result = result && (own.contains(base->name) || analysis_.is_global_pointer(base->name));
      walk_own_expressions(stmt, [&](const Expr& expr) {
        for_each_passed_place(expr, [&](const Expr& place) {
          const auto* passed = place_variable(place);
          result = result && passed != nullptr &&
                   (own.contains(passed->name) || analysis_.is_global_pointer(passed->name));
        });
      });
    });
    return result;
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
};

class ChunkCounter final : public Mutator {
 public:
  ChunkCounter(const Kernel& kernel, const Analysis& analysis)
      : finder_(kernel, analysis), taken_(used_names(kernel)) {}

 private:
  using Mutator::mutate;

  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    const auto chunk = finder_.find(loop);
    StmtPtr inner = Mutator::mutate(stmt, loop);
    return chunk ? from_zero(to<ForLoop>(inner), *chunk) : inner;
  }

  StmtPtr from_zero(const ForLoop& loop, const Chunk& chunk) {
    Variable counter = loop.declaration()->variable;
    Block body = loop.body;
    if (!chunk.guards.empty()) body = {branch(conjunction(chunk.guards), std::move(body))};
    auto result = std::make_shared<ForLoop>(loop);
    if (is<IntegerLiteral>(chunk.counted.first)) {
      result->condition =
          source::less(source::variable(counter.name, counter.scalar), integer(chunk.length));
    } else {
      const std::string name = next_name();
      const ExprPtr number = source::variable(name);
      ExprPtr first = chunk.counted.first;
      if (first->type != counter.scalar)
        first = cast(std::string(cuda_name(*counter.scalar)), first);
      counter.is_const = true;
      body.insert(body.begin(), declare(counter, source::add(first, number)));
      result->init = declare_integer(name, integer(0), false);
      result->condition = source::less(number, integer(chunk.length));
      result->step = assign(number, AssignmentOperator::add, integer(chunk.counted.stride));
    }
    result->body = std::move(body);
    return result;
  }

  std::string next_name() {
    std::string name = "k";
    for (int number = 2; !taken_.insert(name).second; ++number)
      name = "k_" + std::to_string(number);
    return name;
  }

  const ChunkFinder finder_;
  std::set<std::string> taken_;
};

}  // namespace

Block with_constant_lengths(const Kernel& kernel) {
  const Analysis analysis(kernel);
  return ChunkCounter(kernel, analysis).run(kernel.body);
}

}  // namespace regraph::rewrite
