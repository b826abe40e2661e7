#include "rewrite/transform/element_sum.h"

#include "affine/global_index.h"
#include "rewrite/forms/uses.h"
#include "rewrite/transform/loop_to_threads.h"
#include "rewrite/transform/unused_integers.h"
#include "source/build.h"
#include "source/match.h"
#include "source/visitor.h"
#include "source/walk.h"

#include <set>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// Looks for what an element does besides adding.
class EffectFinder final : public Visitor {
 public:
  explicit EffectFinder(const KernelForm& form) : form_(form) {}

  std::vector<const source::Evaluation*> atomics;
  std::string obstacle;

 private:
  void visit(const source::Evaluation& stmt) override {
    if (is_atomic(stmt.call().function)) {
      atomics.push_back(&stmt);
      Visitor::visit(stmt);
      return;
    }
    note("it calls '" + stmt.call().function + "' for its effect");
  }
  void visit(const Assignment& stmt) override {
    const auto* target = as<VariableReference>(stmt.target);
    const Variable* local = target != nullptr ? form_.analysis.local(target->name) : nullptr;
    if (local == nullptr) note("it writes more than the sum");
    Visitor::visit(stmt);
  }
  void visit(const Call& expr) override {
    if (is_atomic(expr.function)) {
      if (atomics.empty() || &atomics.back()->call() != &expr)
        note("the result of an atomic is used");
    } else if (!is_pure(expr) && !reads_through_argument(expr.function)) {
      note("it calls '" + expr.function + "'");
    }
    Visitor::visit(expr);
  }
  void visit(const WhileLoop&) override { note("it holds a loop that does not count"); }
  void visit(const Return&) override { note("a thread may leave"); }
  void visit(const Jump&) override { note("a loop may end early"); }
  void visit(const Barrier&) override { note("threads wait for each other"); }

  void note(const std::string& what) {
    if (obstacle.empty()) obstacle = what;
  }

  const KernelForm& form_;
};

class SumFinder {
 public:
  SumFinder(const KernelForm& form, const Problem& problem) : form_(form), problem_(problem) {}

  Result<ElementSum> run() {
    if (Status status = find_element(); !status) return status.error();
    if (Status status = find_update(); !status) return status.error();
    find_streams();
    return std::move(sum_);
  }

 private:
  // [integers] if (i < n) { element }
  Status find_element() {
    const Block& body = form_.kernel.body;
    std::size_t next = 0;
    while (next < body.size() && is_integer(*body[next]))
      sum_.element.push_back(body[next++]);
    const auto* guarded = next + 1 == body.size() ? as<Branch>(*body[next]) : nullptr;
    if (guarded == nullptr || !guarded->otherwise.empty())
      return refuse("the kernel is more than one guarded block of code");
    std::vector<ExprPtr> others;
    bool is_found = false;
    for (const ExprPtr& guard : conjuncts(guarded->condition)) {
      const auto limit = is_found ? std::nullopt : limit_of_index(guard, form_);
      if (limit) {
        sum_.count = *limit;
        is_found = true;
      } else {
        others.push_back(guard);
      }
    }
    if (!is_found) return refuse("no guard 'i < n' about the global index stands around it");
    if (others.empty()) {
      sum_.element.insert(sum_.element.end(), guarded->body.begin(), guarded->body.end());
    } else {
      sum_.element.push_back(branch(conjunction(others), guarded->body));
    }
    return {};
  }

  static bool is_integer(const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    return declaration != nullptr && declaration->value && is_of_integers(declaration->value);
  }

  Status find_update() {
    EffectFinder finder(form_);
    finder.go(sum_.element);
    if (!finder.obstacle.empty())
      return refuse("the code of an element does more than to add: " + finder.obstacle);
    if (finder.atomics.size() != 1)
      return refuse("the code of an element adds at " + std::to_string(finder.atomics.size()) +
                    " places");
    const Call& call = finder.atomics.front()->call();
    if (call.function != "atomicAdd" || call.arguments.size() != 2)
      return refuse("'" + call.function + "' is no sum");
    sum_.atomic = finder.atomics.front();
    sum_.target = call.arguments[0];
    sum_.value = call.arguments[1];
    return find_target();
  }

  // Where it adds: a place that no thread and no element decides, and that nothing else touches.
  Status find_target() {
    std::string name;
    ExprPtr index;
    const auto array = some_variable(name);
    const bool is_known = matches(sum_.target, array) ||
                          matches(sum_.target, address_of(subscript(array, any(index)))) ||
                          matches(sum_.target, sum(array, any(index)));
    const KernelParameter* parameter = is_known ? form_.kernel.parameter(name) : nullptr;
    if (parameter == nullptr || !parameter->is_pointer || !parameter->scalar)
      return refuse("it adds to a place that is not known");
    if (index) {
      const auto place = form_.analysis.polynomial(index);
      const std::set<std::string> symbols = place ? place->symbols() : std::set<std::string>{""};
      for (const std::string& symbol : symbols) {
        const KernelParameter* known = form_.kernel.parameter(symbol);
        if (known == nullptr || known->is_pointer)
          return refuse("elements add to places of their own");
      }
    }
    if (mentions_of(name, form_.kernel.body) != 1) return refuse("'" + name + "' is used besides");
    sum_.type = parameter->type;
    sum_.scalar = *parameter->scalar;
    if (is_floating(sum_.scalar) && !problem_.assume.reassociate) {
      return refuse(
          "the problem does not grant 'assume: {reassociate: true}' for atomics of floating point");
    }
    return {};
  }

  void find_streams() { find_streams(sum_.element); }

  void find_streams(const Block& block) {
    for (const StmtPtr& stmt : block) {
      if (is<Scope>(*stmt)) find_streams(body_of(*stmt));
      const bool is_plain = is<Declaration>(*stmt) || is<source::Evaluation>(*stmt);
      if (is_plain) note_streams(*stmt);
    }
  }

  void note_streams(const Stmt& stmt) {
    walk_own_expressions(stmt, [&](const Expr& expr) {
      const auto* access = as<Subscript>(expr);
      const auto* base = access != nullptr ? as<VariableReference>(access->base) : nullptr;
      const KernelParameter* parameter =
          base != nullptr ? form_.kernel.parameter(base->name) : nullptr;
      if (parameter == nullptr || !parameter->scalar || form_.analysis.is_written(base->name) ||
          form_.analysis.is_viewed(base->name)) {
        return;
      }
      if (form_.analysis.polynomial(access->index) == global_index("x") && is_evaluated(stmt, expr))
        sum_.streams.emplace(base->name, *parameter->scalar);
    });
  }

  // Whether it is read whatever the values are.
  static bool is_evaluated(const Stmt& stmt, const Expr& wanted) {
    bool result = true;
    const auto look = [&](const ExprPtr& part) {
      walk(part, [&](const Expr& inner) { result = result && &inner != &wanted; });
    };
    walk_own_expressions(stmt, [&](const Expr& expr) {
      if (const auto* choice = as<Conditional>(expr)) {
        look(choice->then);
        look(choice->otherwise);
      }
      const auto* binary = as<Binary>(expr);
      if (binary != nullptr &&
          (binary->op == BinaryOperator::logical_and || binary->op == BinaryOperator::logical_or)) {
        look(binary->right);
      }
    });
    return result;
  }

  const KernelForm& form_;
  const Problem& problem_;
  ElementSum sum_;
};

}  // namespace

Result<ElementSum> element_sum(const KernelForm& form, const Problem& problem) {
  return SumFinder(form, problem).run();
}

}  // namespace regraph::rewrite
