#include "rewrite/analysis/kept_values.h"

#include "rewrite/forms/common_code.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace regraph::rewrite {
namespace {

// Registers of a lane for values that are kept: as many as the elements may take.
constexpr int kMostKept = 64;

// Names that no program has, for what an expression is of.
constexpr const char* kElementNumber = "row.element";
constexpr const char* kElementOf = "row.element.of.";

// Functions whose code is longer than moving a value into a register and back.
constexpr auto kCostly = std::to_array<std::string_view>(
    {"sqrtf",  "sqrt",  "rsqrtf", "rsqrt",  "expf",   "exp",     "exp2f",    "exp10f",    "expm1f",
     "__expf", "logf",  "log",    "log2f",  "log10f", "log1pf",  "__logf",   "powf",      "pow",
     "sinf",   "cosf",  "sin",    "cos",    "tanf",   "tanhf",   "tanh",     "sinhf",     "coshf",
     "erff",   "erf",   "erfcf",  "erfc",   "cbrtf",  "atanf",   "asinf",    "acosf",     "atan2f",
     "hypotf", "fmodf", "__sinf", "__cosf", "__powf", "__log2f", "__log10f", "__fdividef"});

bool is_costly(const Expr& expr) {
  const auto* call = as<Call>(expr);
  if (call != nullptr) return std::ranges::find(kCostly, call->function) != kCostly.end();
  const auto* quotient = as<Binary>(expr);
  return quotient != nullptr && quotient->op == BinaryOperator::divide && expr.type &&
         is_floating(*expr.type);
}

// Visits the expressions that are computed whenever `expr` is, largest first, until one is taken.
bool any_unconditional(const ExprPtr& expr, const std::function<bool(const ExprPtr&)>& takes) {
  if (!expr) return false;
  if (takes(expr)) return true;
  if (const auto* conditional = as<Conditional>(expr))
    return any_unconditional(conditional->condition, takes);
  const auto* binary = as<Binary>(expr);
  if (binary != nullptr &&
      (binary->op == BinaryOperator::logical_and || binary->op == BinaryOperator::logical_or))
    return any_unconditional(binary->left, takes);
  const std::vector<ExprPtr> operands = operands_of(*expr);
  return std::ranges::any_of(
      operands, [&](const ExprPtr& operand) { return any_unconditional(operand, takes); });
}

class Finder {
 public:
  Finder(const RowVectors& vectors, const RowPlan& rows)
      : vectors_(vectors), rows_(rows), values_(vectors) {}

  std::vector<KeptValue> run() {
    for (std::size_t at = vectors_.first; at < vectors_.block->size(); ++at) {
      const ForLoop* loop = plain_loop(at);
      if (loop == nullptr) continue;
      find_again(at, *loop);
      loops_.push_back(at);
    }
    return std::move(kept_);
  }

 private:
  // The loop over the row there, where it is one that does the same with every element.
  const ForLoop* plain_loop(std::size_t at) const {
    const auto found = rows_.find((*vectors_.block)[at].get());
    if (found == rows_.end()) return nullptr;
    const SharedLoop& shared = found->second;
    const bool is_plain = !shared.scan && shared.selections.empty() && !shared.growth &&
                          shared.counted.starts_at_zero();
    return is_plain ? &to<ForLoop>((*vectors_.block)[at]) : nullptr;
  }

  // The values in the loop that earlier ones have computed. Elements that the loop has written are
  // others than the earlier ones had.
  void find_again(std::size_t at, const ForLoop& loop) {
    for (const StmtPtr& stmt : loop.body) {
      const bool writes = std::ranges::any_of(vectors_.arrays, [&](const RowArray& array) {
        return changed_names({stmt}).contains(array.name);
      });
      if (writes) {
        find_in(value_of(*stmt), at, loop);
        return;
      }
      walk(Block{stmt}, [&](const Stmt& part) { find_in(value_of(part), at, loop); });
    }
  }

  void find_in(const ExprPtr& expr, std::size_t at, const ForLoop& loop) {
    if (!expr) return;
    if (is_worth_it(expr)) {
      const ExprPtr value = values_.in_common_terms(expr, loop);
      if (keep(value, *expr->type, at, loop)) return;
    }
    for (const ExprPtr& operand : operands_of(*expr))
      find_in(operand, at, loop);
  }

  static bool is_worth_it(const ExprPtr& expr) {
    const bool fits = expr->type == ScalarType::f32 || expr->type == ScalarType::f64;
    return fits && is_computation(expr) && any_expression(expr, is_costly);
  }

  // Whether the value is one of an element that an earlier loop computed, which it then keeps.
  bool keep(const ExprPtr& value, ScalarType scalar, std::size_t at, const ForLoop& loop) {
    if (!is_of_element(value)) return false;
    for (const std::size_t earlier : loops_) {
      if (!stays(value, earlier, at)) continue;
      const ForLoop& first = to<ForLoop>((*vectors_.block)[earlier]);
      const auto known = std::ranges::find_if(kept_, [&](const KeptValue& kept) {
        return kept.computed == &first && equal(kept.value, value);
      });
      if (known != kept_.end()) {
        if (known->later.back() != &loop) known->later.push_back(&loop);
        return true;
      }
      auto found = computed_in(value, first);
      const int words = static_cast<int>(size_in_bytes(scalar) / sizeof(float)) * vectors_.width *
                        vectors_.vectors;
      if (!found.own || taken_ + words > kMostKept) continue;
      taken_ += words;
      found.value = value;
      found.scalar = scalar;
      found.later.push_back(&loop);
      kept_.push_back(std::move(found));
      return true;
    }
    return false;
  }

  // Whether the value is of elements in registers and of what all loops know.
  bool is_of_element(const ExprPtr& value) const {
    bool has_element = false;
    for (const std::string& name : variables_of(value))
      has_element = has_element || name.starts_with(kElementOf);
    return has_element && !vectors_.analysis->reads_memory(value);
  }

  // Whether what the value is made of is the same from the earlier loop's beginning to the end of
  // the one at `at`, apart from elements that this one itself writes.
  bool stays(const ExprPtr& value, std::size_t earlier, std::size_t at) const {
    const std::set<std::string> names = variables_of(value);
    for (std::size_t between = earlier; between <= at; ++between) {
      const StmtPtr& stmt = (*vectors_.block)[between];
      if (share_a_name(names, given_values_in({stmt}))) return false;
      if (between == at) continue;
      for (const std::string& array : changed_names({stmt}))
        if (is_of_array(names, array)) return false;
    }
    return true;
  }

  static bool is_of_array(const std::set<std::string>& names, const std::string& array) {
    const std::string elements = kElementOf + array + '.';
    return std::ranges::any_of(names,
                               [&](const std::string& name) { return name.starts_with(elements); });
  }

  // Where the loop computes it first, of every element; with `own` null where it does not.
  KeptValue computed_in(const ExprPtr& value, const ForLoop& loop) const {
    KeptValue result;
    for (const StmtPtr& stmt : loop.body) {
      const bool computes = any_unconditional(value_of(*stmt), [&](const ExprPtr& expr) {
        const bool is_it = equal(values_.in_common_terms(expr, loop), value);
        if (is_it) result.own = expr;
        return is_it;
      });
      if (!computes) continue;
      result.computed = &loop;
      result.statement = stmt.get();
      break;
    }
    return result;
  }

  const RowVectors& vectors_;
  const RowPlan& rows_;
  const RowValues values_;
  std::vector<std::size_t> loops_;  // earlier ones, by their places in the block
  std::vector<KeptValue> kept_;
  int taken_ = 0;  // registers
};

}  // namespace

// One array may be read at several places.
std::string RowValues::named(const RowArray& array) const {
  return kElementOf + array.name + '.' + std::to_string(&array - vectors_->arrays.data());
}

ExprPtr RowValues::in_common_terms(const ExprPtr& expr, const ForLoop& loop) const {
  const std::string& counter = loop.declaration()->variable.name;
  return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    if (const RowArray* array = vectors_->array_of(*node))
      return source::variable(named(*array), array->scalar);
    const auto* variable = as<VariableReference>(node);
    if (variable == nullptr) return std::nullopt;
    if (variable->name == counter) return source::variable(kElementNumber, node->type);
    const ExprPtr definition = vectors_->analysis->definition(variable->name);
    const bool is_of_loop = definition && declared_names(loop.body).contains(variable->name);
    return is_of_loop ? std::optional(in_common_terms(definition, loop)) : std::nullopt;
  });
}

std::vector<KeptValue> find_kept_values(const RowVectors& vectors, const RowPlan& rows) {
  if (vectors.vectors == 0) return {};
  return Finder(vectors, rows).run();
}

}  // namespace regraph::rewrite
