#include "rewrite/analysis/vector_atomics.h"

#include "rewrite/analysis/atomic_updates.h"
#include "rewrite/analysis/vector_copy.h"
#include "rewrite/analysis/vector_type.h"
#include "source/build.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <optional>

namespace regraph::rewrite {

namespace {

// What of an element's values its neighbours in a vector share, and which follow it by steps of 1.
class NeighbourValues {
 public:
  explicit NeighbourValues(const VectorAtomicsQuestion& question)
      : kernel_(question.kernel),
        analysis_(question.analysis),
        element_(question.element),
        width_(question.width) {}

  // Parameters that the width has to divide for what was said so far.
  [[nodiscard]] const std::set<std::string>& divisible() const { return divisible_; }
  void set_divisible(std::set<std::string> parameters) { divisible_ = std::move(parameters); }

  // Whether all elements of a vector have the same value, which only what nothing writes decides.
  [[nodiscard]] bool is_common(const ExprPtr& expr) {
    if (is<IntegerLiteral>(expr) || is<FloatingLiteral>(expr)) return true;
    // The element's own thread and block are not those that handle its vector.
    if (const auto* builtin = as<Builtin>(expr))
      return builtin->name != "threadIdx.x" && builtin->name != "blockIdx.x";
    if (const auto* variable = as<VariableReference>(expr)) return is_common_name(variable->name);
    if (const auto* cast = as<Cast>(expr)) return cast->type && is_common(cast->operand);
    if (const auto* unary = as<Unary>(expr))
      return unary->op != UnaryOperator::address_of && is_common(unary->operand);
    if (const auto* choice = as<Conditional>(expr))
      return is_common(choice->condition) && is_common(choice->then) &&
             is_common(choice->otherwise);
    if (const auto* load = as<Subscript>(expr)) {
      const auto* array = as<VariableReference>(load->base);
      return array != nullptr && analysis_.is_global_pointer(array->name) &&
             !analysis_.is_written(array->name) && is_common(load->index);
    }
    const auto* binary = as<Binary>(expr);
    return binary != nullptr &&
           (is_whole_quotient(*binary) || (is_common(binary->left) && is_common(binary->right)));
  }

  // The index as a polynomial of the element and of values that are common, which have names of
  // their own; nothing for others.
  [[nodiscard]] std::optional<Polynomial> place(const ExprPtr& expr) {
    if (is_element(expr)) return Polynomial::symbol(element_);
    if (const auto* binary = as<Binary>(expr)) {
      if (binary->op == BinaryOperator::remainder) return place_of_remainder(*binary);
      const auto left = place(binary->left);
      const auto right = left ? place(binary->right) : std::nullopt;
      if (right && binary->op == BinaryOperator::add) return *left + *right;
      if (right && binary->op == BinaryOperator::subtract) return *left - *right;
      if (right && binary->op == BinaryOperator::multiply) return *left * *right;
    }
    const auto* cast = as<Cast>(expr);
    if (cast != nullptr && cast->type && !is_floating(*cast->type)) return place(cast->operand);
    if (auto known = analysis_.polynomial(expr); known && !depends(*known)) return known;
    const auto* variable = as<VariableReference>(expr);
    const ExprPtr definition = variable != nullptr ? analysis_.definition(variable->name) : nullptr;
    if (definition) return place(definition);
    return is_common(expr) ? std::optional(common_symbol(expr)) : std::nullopt;
  }

  // Whether the width divides the polynomial, given that it divides parameters.
  [[nodiscard]] bool is_divisible(const Polynomial& polynomial) {
    std::set<std::string> divisible = divisible_;
    if (!require_divisible(polynomial, width_, facts_of(kernel_), divisible)) return false;
    divisible_ = std::move(divisible);
    return true;
  }

 private:
  bool is_common_name(const std::string& name) {
    if (name == element_) return false;
    if (kernel_.parameter(name) != nullptr) return !analysis_.is_written(name);
    const ExprPtr definition = analysis_.definition(name);
    if (!definition) return false;
    const auto known = common_names_.find(name);
    if (known != common_names_.end()) return known->second;
    return common_names_[name] = is_common(definition);
  }

  // The element's number by any name.
  [[nodiscard]] bool is_element(const ExprPtr& expr) const {
    if (is_named(expr, element_)) return true;
    if (const auto* cast = as<Cast>(expr))
      return cast->type && !is_floating(*cast->type) && is_element(cast->operand);
    const auto* variable = as<VariableReference>(expr);
    const ExprPtr definition = variable != nullptr ? analysis_.definition(variable->name) : nullptr;
    return definition && is_element(definition);
  }

  // element / d or element >> s: the same for all of a vector where the width divides d, since
  // the element is not negative.
  bool is_whole_quotient(const Binary& expr) {
    if (!is_element(expr.left)) return false;
    const auto right = analysis_.polynomial(expr.right);
    if (!right) return false;
    if (expr.op == BinaryOperator::shift_right) {
      const auto bits = right->constant();
      return bits && *bits >= 0 && *bits < 31 && (std::int64_t{1} << *bits) % width_ == 0;
    }
    return expr.op == BinaryOperator::divide && is_made_of_sizes(*right) && is_divisible(*right);
  }

  // element % d = element - d * (element / d).
  std::optional<Polynomial> place_of_remainder(const Binary& expr) {
    const ExprPtr quotient = source::divide(expr.left, expr.right);
    const auto* division = as<Binary>(quotient);
    if (division == nullptr) return std::nullopt;
    if (is_element(expr.left) && is_whole_quotient(*division)) {
      return Polynomial::symbol(element_) -
             *analysis_.polynomial(expr.right) * quotient_symbol(*analysis_.polynomial(expr.right));
    }
    const bool common = is_common(expr.left) && is_common(expr.right);
    return common ? std::optional(Polynomial::symbol(kCommon + print(written_out(division->left)) +
                                                     " % " + print(written_out(division->right))))
                  : std::nullopt;
  }

  Polynomial common_symbol(const ExprPtr& expr) {
    const auto* binary = as<Binary>(expr);
    if (binary != nullptr && binary->op == BinaryOperator::divide && is_element(binary->left))
      return quotient_symbol(*analysis_.polynomial(binary->right));
    return Polynomial::symbol(kCommon + print(written_out(expr)));
  }

  static Polynomial quotient_symbol(const Polynomial& divisor) {
    return Polynomial::symbol(std::string(kCommon) + "element / " + print(to_expression(divisor)));
  }

  // With locals written out, so that values of one name are one value.
  [[nodiscard]] ExprPtr written_out(const ExprPtr& expr) const {
    return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      const auto* variable = as<VariableReference>(node);
      if (variable == nullptr || variable->name == element_) return std::nullopt;
      const ExprPtr definition = analysis_.definition(variable->name);
      return definition ? std::optional(written_out(definition)) : std::nullopt;
    });
  }

  [[nodiscard]] bool is_made_of_sizes(const Polynomial& polynomial) const {
    const auto symbols = polynomial.symbols();
    return std::all_of(symbols.begin(), symbols.end(), [&](const std::string& symbol) {
      return kernel_.parameter(symbol) != nullptr;
    });
  }

  // Whether the polynomial, which knows the element by what it is made of, depends on it.
  [[nodiscard]] static bool depends(const Polynomial& polynomial) {
    return polynomial.mentions("threadIdx.x") || polynomial.mentions("blockIdx.x");
  }

  // No name of a kernel, nor of a quotient, begins so.
  static constexpr const char* kCommon = "common ";

  const Kernel& kernel_;
  const Analysis& analysis_;
  const std::string& element_;
  int width_;
  std::set<std::string> divisible_;
  std::map<std::string, bool> common_names_;
};

class Finder {
 public:
  explicit Finder(const VectorAtomicsQuestion& question) : question_(question), values_(question) {}

  VectorAtomics find() {
    collect(question_.branch.body);
    if (!result_.updates.empty()) collect_common();
    result_.divisible = values_.divisible();
    return std::move(result_);
  }

 private:
  void collect(const Block& block) {
    for (const StmtPtr& stmt : block) {
      if (const auto* branch = as<Branch>(stmt)) {
        const std::size_t depth = guards_.size();
        guards_.push_back(branch->condition);
        collect(branch->body);
        guards_.back() = negate(branch->condition);
        collect(branch->otherwise);
        guards_.resize(depth);
      } else if (const auto update = atomic_update_of(*stmt);
                 update && question_.analysis.is_global_pointer(update->table)) {
        note(*stmt, *update);
      }
    }
  }

  void note(const Stmt& stmt, const AtomicUpdate& update) {
    const std::string obstacle = obstacle_of(stmt, update);
    if (!obstacle.empty())
      result_.obstacles += (result_.obstacles.empty() ? "" : "; ") + update.table + ": " + obstacle;
  }

  // Adds the update where nothing is in the way, else says what is.
  std::string obstacle_of(const Stmt& stmt, const AtomicUpdate& update) {
    const auto* parameter = question_.kernel.parameter(update.table);
    if (parameter == nullptr || !parameter->scalar || update.function != "atomicAdd" ||
        question_.analysis.is_viewed(update.table)) {
      return "'" + update.function + "' has no vectors there";
    }
    const int each = atomic_width(*parameter->scalar, question_.width, question_.has_float_vectors);
    if (each == 1) return "the device has no vectors of its type for 'atomicAdd'";
    const VectorShape one{*parameter->scalar, each};
    if (!can_be_moved({*parameter->scalar, question_.width}))
      return "its type has no vector of " + std::to_string(question_.width);
    if (one.alignment() > question_.alignment) {
      return "'assume: {align}' grants only " + std::to_string(question_.alignment) + " bytes";
    }
    if (!is_added_to_alone(update.table)) return "it is used besides";
    for (const ExprPtr& guard : guards_) {
      if (!values_.is_common(guard))
        return "'" + print(guard) + "' is not the same for neighbouring elements";
    }
    const std::set<std::string> before = values_.divisible();
    const auto place = values_.place(update.index);
    const auto factor = place ? place->coefficient(question_.element) : std::nullopt;
    const bool fits = factor && factor->constant() == 1 &&
                      values_.is_divisible(place->without({question_.element}));
    if (!fits) {
      values_.set_divisible(before);
      return "elements that meet in it do not fill whole vectors";
    }
    result_.updates.push_back(
        {&stmt, update.table, *parameter->scalar, each, update.index, guards_});
    return "";
  }

  // Whether the kernel does nothing else with the array than to add to it.
  [[nodiscard]] bool is_added_to_alone(const std::string& array) const {
    std::size_t mentioned = 0;
    walk_expressions(question_.kernel.body, [&](const Expr& expr) {
      if (is_named(expr, array)) ++mentioned;
    });
    std::size_t added = 0;
    walk(question_.kernel.body, [&](const Stmt& stmt) {
      const auto update = atomic_update_of(stmt);
      if (update && update->table == array && update->function == "atomicAdd") ++added;
    });
    return mentioned == added;
  }

  void collect_common() {
    for (const Block* block : {&question_.kernel.body, &question_.branch.body}) {
      for (const StmtPtr& stmt : *block) {
        const auto* declaration = as<Declaration>(stmt);
        if (declaration == nullptr || !declaration->value) continue;
        const std::string& name = declaration->variable.name;
        const bool depends =
            block == &question_.branch.body || mentions_element(declaration->value);
        if (name != question_.element && depends && declaration->variable.extents.empty() &&
            question_.analysis.definition(name) && values_.is_common(declaration->value)) {
          result_.common.push_back(declaration);
        }
      }
    }
    for (const ExprPtr& term : conjuncts(question_.branch.condition)) {
      if (mentions_element(term) && values_.is_common(term)) result_.common_guards.push_back(term);
    }
  }

  // Whether the value follows the element.
  [[nodiscard]] bool mentions_element(const ExprPtr& value) const {
    const auto names = variables_of(value);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      const ExprPtr definition = question_.analysis.definition(name);
      return name == question_.element || (definition && mentions_element(definition));
    });
  }

  const VectorAtomicsQuestion& question_;
  NeighbourValues values_;
  VectorAtomics result_;
  std::vector<ExprPtr> guards_;
};

}  // namespace

int atomic_width(ScalarType scalar, int width, bool has_float_vectors) {
  constexpr int kMostFloats = 4;
  if (scalar == ScalarType::f32) return has_float_vectors ? std::min(width, kMostFloats) : 1;
  return scalar == ScalarType::f16 || scalar == ScalarType::bf16 ? std::min(width, 2) : 1;
}

VectorAtomics find_vector_atomics(const VectorAtomicsQuestion& question) {
  return Finder(question).find();
}

}  // namespace regraph::rewrite
