#include "rewrite/analysis/vector_plan.h"

#include "affine/global_index.h"
#include "affine/guarded_access.h"
#include "rewrite/analysis/neighbour_values.h"
#include "rewrite/analysis/vector_copy.h"
#include "rewrite/analysis/vector_type.h"
#include "source/build.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <utility>

namespace regraph::rewrite {

namespace {

class VectorPlanner {
 public:
  VectorPlanner(const KernelForm& form, const VectorPlanQuestion& question)
      : kernel_(form.kernel),
        analysis_(form.analysis),
        width_(question.width),
        alignment_(question.alignment),
        has_float_vectors_(question.has_float_vectors) {}

  // For a normalised kernel. Error: refused.
  Result<VectorPlan> plan() {
    if (Status status = find_branch(); !status) return status.error();
    if (Status status = find_element(); !status) return status.error();
    collect();
    for (auto& [array, uses] : arrays_) {
      take_conditional_loads(uses);
      if (uses.obstacle.empty()) {
        for (const VectorAccess& access : uses.accesses) {
          plan_.accesses.push_back(access);
          plan_.divisible.insert(access.divisible.begin(), access.divisible.end());
        }
      } else {
        obstacles_ += (obstacles_.empty() ? "" : "; ") + array + ": " + uses.obstacle;
      }
    }
    take_atomics();
    if (plan_.accesses.empty() && plan_.atomics.empty()) {
      return refuse("no access can be widened" +
                    (obstacles_.empty() ? "" : " (" + obstacles_ + ")"));
    }
    if (!has_one_access(plan_.accesses) && !has_one_access(plan_.atomics))
      return refuse("no array has elements of which one access moves " + std::to_string(width_));
    return plan_;
  }

 private:
  struct ArrayUse {
    std::vector<VectorAccess> accesses;
    std::vector<Polynomial> conditional_loads;  // their places
    std::string obstacle;
    const Stmt* first_store = nullptr;
  };

  Status find_branch() {
    for (const StmtPtr& stmt : kernel_.body) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration != nullptr && declaration->variable.storage == Storage::automatic) continue;
      const auto* branch = as<Branch>(stmt);
      const bool is_last = stmt == kernel_.body.back();
      if (branch == nullptr || !branch->otherwise.empty() || !is_last) {
        return refuse("the kernel is more than one guarded block of code");
      }
      plan_.branch = branch;
    }
    if (plan_.branch == nullptr) return refuse("nothing guards the elements past the end");
    const bool plain = all_statements(plan_.branch->body, [&](const Stmt& stmt) {
      return !is<ForLoop>(stmt) && !is<WhileLoop>(stmt) && !is<Jump>(stmt) && !is<Return>(stmt);
    });
    return plain ? Status() : refuse("the code of an element holds a loop");
  }

  Status find_element() {
    for (const StmtPtr& stmt : kernel_.body) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr || !analysis_.definition(declaration->variable.name)) continue;
      const auto value = analysis_.polynomial(declaration->value);
      if (value && *value == global_index("x")) plan_.element = declaration->variable.name;
      if (!plan_.element.empty()) break;
    }
    if (plan_.element.empty()) {
      return refuse("no variable is blockIdx.x * blockDim.x + threadIdx.x");
    }
    for (const ExprPtr& term : conjuncts(plan_.branch->condition)) {
      const auto* comparison = as_binary(term, BinaryOperator::less);
      if (comparison == nullptr || plan_.limit) continue;
      const auto left = element_polynomial(comparison->left, plan_.element, analysis_);
      if (left && *left == Polynomial::symbol(plan_.element)) plan_.limit = comparison->right;
    }
    if (!plan_.limit) {
      return refuse("the guard '" + print(plan_.branch->condition) + "' is not '" + plan_.element +
                    " < n'");
    }
    const auto limit = analysis_.polynomial(plan_.limit);
    if (!limit) return refuse("the limit of '" + plan_.element + "' is not a known expression");
    for (const std::string& symbol : limit->symbols()) {
      if (kernel_.parameter(symbol) == nullptr) {
        return refuse("the limit of '" + plan_.element + "' is not the same for all threads");
      }
    }
    return {};
  }

  void collect() {
    for_each_guarded_access(plan_.branch->body, [&](const GuardedAccess& access) {
      const auto* base = base_variable(*access.access);
      if (base == nullptr || !analysis_.is_global_pointer(base->name)) return;
      note(base->name, access);
    });
    walk_expressions(plan_.branch->body, [&](const Expr& expr) {
      const ExprPtr place = addressed(expr);
      const auto* base = place ? base_variable(*place) : nullptr;
      const auto found = base != nullptr ? arrays_.find(base->name) : arrays_.end();
      if (found != arrays_.end()) found->second.obstacle = "its address is taken";
    });
    // Elements before the guard are not known to exist.
    for (const StmtPtr& stmt : kernel_.body) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr) continue;
      for (const std::string& name : variables_of(declaration->value)) {
        if (analysis_.is_global_pointer(name)) arrays_[name].obstacle = "read before the guard";
      }
    }
  }

  void note(const std::string& array, const GuardedAccess& access) {
    ArrayUse& use = arrays_[array];
    if (analysis_.is_viewed(array)) use.obstacle = "it is accessed as another type too";
    const KernelParameter* parameter = kernel_.parameter(array);
    const VectorShape shape{parameter->scalar.value_or(ScalarType::boolean), width_};
    if (!can_be_moved(shape)) {
      use.obstacle = "its type has no vector of " + std::to_string(width_);
      return;
    }
    if (shape.alignment() > alignment_) {
      use.obstacle = "'assume: {align}' grants only " + std::to_string(alignment_) + " bytes";
      return;
    }
    const bool is_written = analysis_.is_written(array);
    const auto index = element_polynomial(access.access->index, plan_.element, analysis_);
    const auto factor = index ? index->coefficient(plan_.element) : std::nullopt;
    const bool is_flat = is<VariableReference>(access.access->base);
    std::set<std::string> divisible;
    const bool is_vector = is_flat && factor && factor->constant() == 1 &&
                           is_divisible(index->without({plan_.element}), divisible);
    if (is_vector && !access.guards.empty() && !access.is_store && is_written) {
      use.conditional_loads.push_back(index->without({plan_.element}));
      return;
    }
    if (!is_vector && is_flat && access.guards.empty()) {
      if (note_shared_quotients(array, access, shape.scalar)) return;
    }
    const bool fits = is_vector && access.guards.empty();
    if (!fits) {
      // Other places of an array that is only read do not matter.
      if (is_written) use.obstacle = "written where its elements do not fill whole vectors";
      return;
    }
    note_vector(array, access, {array, shape.scalar, index->without({plan_.element}), divisible});
  }

  // The same where rows are told from the element's number: in[i / d * 2 * d + i % d].
  bool note_shared_quotients(const std::string& array, const GuardedAccess& access,
                             ScalarType scalar) {
    NeighbourValues values(kernel_, analysis_, plan_.element, width_);
    const auto place = values.place(access.access->index);
    const auto factor = place ? place->coefficient(plan_.element) : std::nullopt;
    if (!factor || factor->constant() != 1) return false;
    const Polynomial rest = place->without({plan_.element});
    if (!values.is_divisible(rest)) return false;
    VectorAccess made{array, scalar, rest, values.divisible()};
    made.indices = {access.access->index};
    note_vector(array, access, made);
    return true;
  }

  void note_vector(const std::string& array, const GuardedAccess& access,
                   const VectorAccess& made) {
    ArrayUse& use = arrays_[array];
    auto found = std::find_if(use.accesses.begin(), use.accesses.end(),
                              [&](const VectorAccess& known) { return known.rest == made.rest; });
    if (found == use.accesses.end()) {
      if (analysis_.is_written(array) && !use.accesses.empty())
        use.obstacle = "written and used at several places";
      found = use.accesses.insert(found, made);
    } else {
      found->indices.insert(found->indices.end(), made.indices.begin(), made.indices.end());
    }
    if (access.is_store) {
      if (!found->stores) use.first_store = access.stmt;
      found->stores = true;
      return;
    }
    // A read after the first store finds the new value in the register; one in it comes before.
    if (!found->stores || use.first_store == access.stmt) found->loads = true;
  }

  // What is loaded under a condition can be loaded without where the element is there in any case:
  // it is stored, whatever the condition.
  void take_conditional_loads(ArrayUse& use) const {
    for (const Polynomial& place : use.conditional_loads) {
      const auto known =
          std::find_if(use.accesses.begin(), use.accesses.end(),
                       [&](const VectorAccess& access) { return access.rest == place; });
      if (known == use.accesses.end()) {
        use.obstacle = "written where its elements do not fill whole vectors";
        return;
      }
      known->loads = true;
    }
  }

  void take_atomics() {
    VectorAtomics found = find_vector_atomics(
        {kernel_, analysis_, plan_.element, *plan_.branch, width_, alignment_, has_float_vectors_});
    plan_.atomics = std::move(found.updates);
    plan_.common = std::move(found.common);
    plan_.common_guards = std::move(found.common_guards);
    plan_.divisible.merge(found.divisible);
    if (!found.obstacles.empty()) obstacles_ += (obstacles_.empty() ? "" : "; ") + found.obstacles;
  }

  // Whether an access moves all elements of a vector at once.
  template <typename Access>
  [[nodiscard]] bool has_one_access(const std::vector<Access>& accesses) const {
    return std::any_of(accesses.begin(), accesses.end(), [&](const Access& access) {
      return VectorShape{access.scalar, width_}.bytes() <= kWidestAccess;
    });
  }

  // Whether the width divides the polynomial, given that it divides the parameters.
  bool is_divisible(const Polynomial& rest, std::set<std::string>& divisible) const {
    const auto symbols = rest.symbols();
    return std::ranges::all_of(symbols,
                               [&](const std::string& symbol) {
                                 return symbol.find('.') != std::string::npos ||
                                        kernel_.parameter(symbol) != nullptr;
                               }) &&
           require_divisible(rest, width_, facts_of(kernel_), divisible);
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  int width_;
  int alignment_;
  bool has_float_vectors_;
  VectorPlan plan_{};
  std::map<std::string, ArrayUse> arrays_;
  std::string obstacles_;
};

}  // namespace

std::optional<Polynomial> element_polynomial(const ExprPtr& expr, const std::string& element,
                                             const Analysis& analysis) {
  const SymbolMeaning known = analysis.meaning();
  const SymbolMeaning meaning = [&](const std::string& name) -> std::optional<Polynomial> {
    if (name == element) return Polynomial::symbol(name);
    const ExprPtr definition = analysis.definition(name);
    return definition ? to_polynomial_with_quotients(definition, meaning) : known(name);
  };
  return to_polynomial(expr, meaning);
}

Result<VectorPlan> find_vector_plan(const KernelForm& form, const VectorPlanQuestion& question) {
  return VectorPlanner(form, question).plan();
}

}  // namespace regraph::rewrite
