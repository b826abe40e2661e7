#include "rewrite/analysis/vector_plan.h"

#include "rewrite/analysis/guarded_access.h"
#include "rewrite/analysis/vector_type.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <map>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Branch;
using source::Declaration;
using source::Expr;
using source::ExprPtr;
using source::ForLoop;
using source::is;
using source::Jump;
using source::Kernel;
using source::Polynomial;
using source::Return;
using source::Stmt;
using source::StmtPtr;
using source::VariableReference;
using source::WhileLoop;

namespace {

class VectorPlanner {
 public:
  VectorPlanner(const Kernel& kernel, const Analysis& analysis, int width, int alignment)
      : kernel_(kernel), analysis_(analysis), width_(width), alignment_(alignment) {}

  Result<VectorPlan> plan() {
    if (Status status = find_branch(); !status) return status.error();
    if (Status status = find_element(); !status) return status.error();
    collect();
    for (auto& [array, uses] : arrays_) {
      take_conditional_loads(uses);
      if (uses.obstacle.empty()) {
        for (VectorAccess& access : uses.accesses)
          add(access);
      } else {
        obstacles_ += (obstacles_.empty() ? "" : "; ") + array + ": " + uses.obstacle;
      }
    }
    if (plan_.accesses.empty()) {
      return refuse("no access can be widened" +
                    (obstacles_.empty() ? "" : " (" + obstacles_ + ")"));
    }
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
      if (declaration != nullptr && declaration->variable.storage == source::Storage::automatic)
        continue;
      const auto* branch = as<Branch>(stmt);
      const bool is_last = stmt == kernel_.body.back();
      if (branch == nullptr || !branch->otherwise.empty() || !is_last) {
        return refuse("the kernel is more than one guarded block of code");
      }
      plan_.branch = branch;
    }
    if (plan_.branch == nullptr) return refuse("nothing guards the elements past the end");
    bool plain = true;
    source::walk(plan_.branch->body, [&](const Stmt& stmt) {
      plain = plain && !is<ForLoop>(stmt) && !is<WhileLoop>(stmt) && !is<Jump>(stmt) &&
              !is<Return>(stmt);
    });
    return plain ? Status() : refuse("the code of an element holds a loop");
  }

  Status find_element() {
    const Polynomial global = Polynomial::symbol("blockIdx.x") * Polynomial::symbol("blockDim.x") +
                              Polynomial::symbol("threadIdx.x");
    for (const StmtPtr& stmt : kernel_.body) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr || !analysis_.definition(declaration->variable.name)) continue;
      const auto value = analysis_.polynomial(declaration->value);
      if (value && *value == global) plan_.element = declaration->variable.name;
      if (!plan_.element.empty()) break;
    }
    if (plan_.element.empty()) {
      return refuse("no variable is blockIdx.x * blockDim.x + threadIdx.x");
    }
    for (const ExprPtr& term : source::conjuncts(plan_.branch->condition)) {
      const auto* comparison = source::as_binary(term, source::BinaryOperator::less);
      if (comparison == nullptr || plan_.limit) continue;
      const auto left = element_polynomial(comparison->left, plan_.element, analysis_);
      if (left && *left == Polynomial::symbol(plan_.element)) plan_.limit = comparison->right;
    }
    if (!plan_.limit) {
      return refuse("the guard '" + source::print(plan_.branch->condition) + "' is not '" +
                    plan_.element + " < n'");
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
      const auto* base = source::base_variable(*access.access);
      if (base == nullptr || !analysis_.is_global_pointer(base->name)) return;
      note(base->name, access);
    });
    source::walk_expressions(plan_.branch->body, [&](const Expr& expr) {
      const ExprPtr place = source::addressed(expr);
      const auto* base = place ? source::base_variable(*place) : nullptr;
      const auto found = base != nullptr ? arrays_.find(base->name) : arrays_.end();
      if (found != arrays_.end()) found->second.obstacle = "its address is taken";
    });
    // Elements before the guard are not known to exist.
    for (const StmtPtr& stmt : kernel_.body) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr) continue;
      for (const std::string& name : source::variables_of(declaration->value)) {
        if (analysis_.is_global_pointer(name)) arrays_[name].obstacle = "read before the guard";
      }
    }
  }

  void note(const std::string& array, const GuardedAccess& access) {
    ArrayUse& use = arrays_[array];
    if (analysis_.is_viewed(array)) use.obstacle = "it is accessed as another type too";
    const source::KernelParameter* parameter = kernel_.parameter(array);
    const std::string type = parameter->scalar ? vector_type(*parameter->scalar, width_) : "";
    if (type.empty()) {
      use.obstacle = "its type has no vector of " + std::to_string(width_);
      return;
    }
    if (static_cast<int>(size_in_bytes(*parameter->scalar)) * width_ > alignment_) {
      use.obstacle = "'assume: {align}' grants only " + std::to_string(alignment_) + " bytes";
      return;
    }
    const bool is_written = analysis_.is_written(array);
    const auto index = element_polynomial(access.access->index, plan_.element, analysis_);
    const auto factor = index ? index->coefficient(plan_.element) : std::nullopt;
    const bool is_flat = is<VariableReference>(access.access->base);
    const bool is_vector = is_flat && factor && factor->constant() == 1 &&
                           is_divisible(index->without({plan_.element}));
    if (is_vector && !access.guards.empty() && !access.is_store && is_written) {
      use.conditional_loads.push_back(index->without({plan_.element}));
      return;
    }
    const bool fits = is_vector && access.guards.empty();
    if (!fits) {
      // Other places of an array that is only read do not matter.
      if (is_written) use.obstacle = "written where its elements do not fill whole vectors";
      return;
    }
    const Polynomial rest = index->without({plan_.element});
    auto found = std::find_if(use.accesses.begin(), use.accesses.end(),
                              [&](const VectorAccess& known) { return known.rest == rest; });
    if (found == use.accesses.end()) {
      if (is_written && !use.accesses.empty()) use.obstacle = "written and used at several places";
      found = use.accesses.insert(found, VectorAccess{array, type, rest, false, false});
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

  // Whether the width divides the polynomial, given that it divides some parameters.
  bool is_divisible(const Polynomial& rest) const {
    for (const auto& [monomial, factor] : rest.terms()) {
      if (factor % width_ == 0) continue;
      const bool has_parameter = std::any_of(
          monomial.begin(), monomial.end(),
          [&](const std::string& symbol) { return kernel_.parameter(symbol) != nullptr; });
      if (!has_parameter) return false;
    }
    for (const std::string& symbol : rest.symbols()) {
      const bool is_known =
          symbol.find('.') != std::string::npos || kernel_.parameter(symbol) != nullptr;
      if (!is_known) return false;
    }
    return true;
  }

  void add(const VectorAccess& access) {
    plan_.accesses.push_back(access);
    for (const auto& [monomial, factor] : access.rest.terms()) {
      if (factor % width_ == 0) continue;
      const auto parameter = std::find_if(
          monomial.begin(), monomial.end(),
          [&](const std::string& symbol) { return kernel_.parameter(symbol) != nullptr; });
      plan_.divisible.insert(*parameter);
    }
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  int width_;
  int alignment_;
  VectorPlan plan_{};
  std::map<std::string, ArrayUse> arrays_;
  std::string obstacles_;
};

}  // namespace

std::optional<Polynomial> element_polynomial(const ExprPtr& expr, const std::string& element,
                                             const Analysis& analysis) {
  const source::SymbolMeaning known = analysis.meaning();
  const source::SymbolMeaning meaning = [&](const std::string& name) -> std::optional<Polynomial> {
    if (name == element) return Polynomial::symbol(name);
    const ExprPtr definition = analysis.definition(name);
    return definition ? source::to_polynomial_with_quotients(definition, meaning) : known(name);
  };
  return source::to_polynomial(expr, meaning);
}

Result<VectorPlan> plan_vectors(const Kernel& kernel, const Analysis& analysis, int width,
                                int alignment) {
  return VectorPlanner(kernel, analysis, width, alignment).plan();
}

}  // namespace regraph::rewrite
