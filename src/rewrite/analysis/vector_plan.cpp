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
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
      require_whole_steps(array, uses);
      take_conditional_loads(array, uses);
      if (uses.obstacle.empty()) {
        for (const VectorAccess& access : uses.accesses) {
          plan_.accesses.push_back(access);
          for (const auto& [name, number] : access.divisible)
            require_divided(name, number);
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
    if (!has_one_access())
      return refuse("no array has elements of which one access moves " + std::to_string(width_));
    take_common();
    return plan_;
  }

 private:
  struct ArrayUse {
    std::vector<VectorAccess> accesses;
    std::vector<VectorAccess> conditional_loads;  // of one place each
    std::string obstacle;
    std::map<std::int64_t, const Stmt*> first_stores;  // of the places of a step
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
    const bool is_flat = is<VariableReference>(access.access->base);
    auto made = is_flat ? plain_access(access.access->index, shape.scalar) : std::nullopt;
    if (made && !access.guards.empty() && !access.is_store) {
      use.conditional_loads.push_back(std::move(*made));
      return;
    }
    if (!made && is_flat && access.guards.empty())
      made = access_by_quotients(access.access->index, shape.scalar, is_written);
    if (!made || !access.guards.empty()) {
      // Other places of an array that is only read do not matter.
      if (is_written) use.obstacle = "written where its elements do not fill whole vectors";
      return;
    }
    made->array = array;
    note_vector(access, std::move(*made));
  }

  // A place that the element's number times a constant leads to, and what has to be divided for a
  // vector to begin there; nothing for others.
  std::optional<VectorAccess> access_of(const ExprPtr& index, const Polynomial& place,
                                        ScalarType scalar, std::set<std::string> divisible) const {
    const auto factor = place.coefficient(plan_.element);
    const auto step = factor ? factor->constant() : std::nullopt;
    VectorAccess made;
    made.scalar = scalar;
    made.rest = place.without({plan_.element});
    if (!step || *step < 1) return std::nullopt;
    made.step = *step;
    if (!can_be_moved(made.shape(width_)) || made.shape(width_).alignment() > alignment_)
      return std::nullopt;
    // Places of one element are told apart by constants.
    const auto constant = made.rest.terms().find({});
    std::int64_t number = constant != made.rest.terms().end() ? constant->second % *step : 0;
    if (number < 0) number += *step;
    made.rest = made.rest - Polynomial(number);
    made.places = {{index, number}};
    // step * A + B: the width has to divide A, all of a vector's elements B.
    Polynomial steps;
    Polynomial others;
    for (const auto& [monomial, coefficient] : made.rest.terms()) {
      const bool is_whole = coefficient % *step == 0;
      Polynomial term(is_whole ? coefficient / *step : coefficient);
      for (const std::string& symbol : monomial)
        term = term * Polynomial::symbol(symbol);
      (is_whole ? steps : others) = (is_whole ? steps : others) + term;
    }
    std::set<std::string> divisible_more;
    if (!require_divisible(steps, width_, facts_of(kernel_), divisible) ||
        !require_divisible(others, width_ * *step, facts_of(kernel_), divisible_more)) {
      return std::nullopt;
    }
    for (const std::string& name : divisible)
      made.divisible[name] = width_;
    for (const std::string& name : divisible_more)
      made.divisible[name] = width_ * *step;
    return made;
  }

  [[nodiscard]] std::optional<VectorAccess> plain_access(const ExprPtr& index,
                                                         ScalarType scalar) const {
    const auto place = element_polynomial(index, plan_.element, analysis_);
    if (!place) return std::nullopt;
    const auto symbols = place->symbols();
    const bool is_known = std::all_of(symbols.begin(), symbols.end(), [&](const auto& symbol) {
      return symbol == plan_.element || symbol.find('.') != std::string::npos ||
             kernel_.parameter(symbol) != nullptr;
    });
    return is_known ? access_of(index, *place, scalar, {}) : std::nullopt;
  }

  // The same where rows are told from the element's number: in[i / d * 2 * d + i % d], and where
  // several elements have one place: words[i / 4].
  std::optional<VectorAccess> access_by_quotients(const ExprPtr& index, ScalarType scalar,
                                                  bool is_written) const {
    NeighbourValues values(kernel_, analysis_, plan_.element, width_);
    if (const auto place = values.place(index)) {
      auto made = access_of(index, *place, scalar, values.divisible());
      if (made) made->is_plain = false;
      if (made) return made;
    }
    for (std::int64_t sharers = 2; !is_written && sharers < width_; sharers *= 2) {
      if (auto made = shared_access(index, scalar, sharers)) return made;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<VectorAccess> shared_access(const ExprPtr& index, ScalarType scalar,
                                                          std::int64_t sharers) const {
    NeighbourValues values(kernel_, analysis_, plan_.element, width_);
    const auto place = values.place_of_parts(index, sharers);
    const std::string part = *NeighbourValues::part().symbols().begin();
    const auto factor = place ? place->coefficient(part) : std::nullopt;
    if (!factor || factor->constant() != 1 || place->mentions(plan_.element)) return std::nullopt;
    VectorAccess made;
    made.scalar = scalar;
    made.rest = place->without({part});
    made.sharers = sharers;
    made.places = {{index, 0}};
    made.is_plain = false;
    if (!can_be_moved(made.shape(width_)) || made.shape(width_).alignment() > alignment_)
      return std::nullopt;
    std::set<std::string> divisible;
    if (!require_divisible(made.rest, width_ / sharers, facts_of(kernel_), divisible))
      return std::nullopt;
    for (const std::string& name : values.divisible())
      made.divisible[name] = width_;
    for (const std::string& name : divisible)
      made.divisible.emplace(name, width_ / sharers);
    return made;
  }

  static bool is_same_place(const VectorAccess& one, const VectorAccess& other) {
    return one.rest == other.rest && one.step == other.step && one.sharers == other.sharers;
  }

  static VectorAccess* known_access(ArrayUse& use, const VectorAccess& made) {
    const auto found =
        std::find_if(use.accesses.begin(), use.accesses.end(),
                     [&](const VectorAccess& known) { return is_same_place(known, made); });
    return found != use.accesses.end() ? &*found : nullptr;
  }

  void note_vector(const GuardedAccess& access, VectorAccess made) {
    ArrayUse& use = arrays_[made.array];
    const std::int64_t number = made.places.front().number;
    VectorAccess* found = known_access(use, made);
    if (found == nullptr) {
      if (analysis_.is_written(made.array) && !use.accesses.empty())
        use.obstacle = "written and used at several places";
      use.accesses.push_back(std::move(made));
      found = &use.accesses.back();
    } else {
      found->places.push_back(made.places.front());
      for (const auto& [name, divisor] : made.divisible)
        found->divisible[name] = std::max(found->divisible[name], divisor);
    }
    if (access.is_store) {
      use.first_stores.emplace(number, access.stmt);
      found->stores = true;
      return;
    }
    // A read after the first store finds the new value in the register; one in it comes before.
    const auto store = use.first_stores.find(number);
    if (store == use.first_stores.end() || store->second == access.stmt) found->loads = true;
  }

  // All places of a step are moved, so that all of them have to be there, and be stored if one is.
  void require_whole_steps(const std::string& array, ArrayUse& use) const {
    std::erase_if(use.accesses, [&](const VectorAccess& access) {
      std::set<std::int64_t> touched;
      for (const VectorAccess::Place& place : access.places)
        touched.insert(place.number);
      const auto step = static_cast<std::size_t>(access.step);
      if (touched.size() == step && (!access.stores || use.first_stores.size() == step))
        return false;
      if (analysis_.is_written(array))
        use.obstacle = "written where its elements do not fill whole vectors";
      return true;
    });
  }

  // What is loaded under a condition can be loaded without where the element is there in any case:
  // it is stored, whatever the condition, or loaded without one.
  void take_conditional_loads(const std::string& array, ArrayUse& use) const {
    for (const VectorAccess& load : use.conditional_loads) {
      VectorAccess* known = known_access(use, load);
      if (known != nullptr) {
        known->loads = true;
        known->places.push_back(load.places.front());
      } else if (analysis_.is_written(array)) {
        use.obstacle = "written where its elements do not fill whole vectors";
        return;
      }
    }
  }

  void take_atomics() {
    VectorAtomics found = find_vector_atomics(
        {kernel_, analysis_, plan_.element, *plan_.branch, width_, alignment_, has_float_vectors_});
    plan_.atomics = std::move(found.updates);
    for (const std::string& name : found.divisible)
      require_divided(name, width_);
    if (!found.obstacles.empty()) obstacles_ += (obstacles_.empty() ? "" : "; ") + found.obstacles;
  }

  void take_common() {
    std::set<std::string> known;
    for (const auto& [name, number] : plan_.divisible) {
      if (number % width_ == 0) known.insert(name);
    }
    const CommonValuesQuestion question = {kernel_,       analysis_, plan_.element,
                                           *plan_.branch, width_,    known};
    std::set<std::string> of_guards;
    plan_.common_guards = common_guards(question, of_guards);
    for (const std::string& name : of_guards)
      require_divided(name, width_);
    // Which the question refers to.
    known = std::move(of_guards);
    plan_.common = find_common_values(question);
  }

  void require_divided(const std::string& name, std::int64_t number) {
    plan_.divisible[name] = std::max(plan_.divisible[name], number);
  }

  // Whether an access moves all elements of a vector at once.
  [[nodiscard]] bool has_one_access() const {
    return std::any_of(plan_.accesses.begin(), plan_.accesses.end(),
                       [&](const VectorAccess& access) {
                         return access.sharers == 1 &&
                                access.shape(width_).bytes() <= kWidestAccess;
                       }) ||
           std::any_of(plan_.atomics.begin(), plan_.atomics.end(), [&](const VectorAtomic& update) {
             return VectorShape{update.scalar, width_}.bytes() <= kWidestAccess;
           });
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
