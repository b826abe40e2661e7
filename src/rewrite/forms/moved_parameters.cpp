#include "rewrite/forms/moved_parameters.h"

#include "rewrite/forms/advance.h"
#include "source/build.h"
#include "source/walk.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// Names of variables that statements of the block, or below, assign; of elements not.
std::set<std::string> assigned_in(const Block& block) {
  std::set<std::string> names;
  walk(block, [&](const Stmt& stmt) {
    const auto* assignment = as<Assignment>(stmt);
    const auto* target =
        assignment != nullptr ? as<VariableReference>(assignment->target) : nullptr;
    if (target != nullptr) names.insert(target->name);
  });
  return names;
}

class ParameterVersions {
 public:
  explicit ParameterVersions(const Kernel& kernel) : kernel_(kernel), named_(kernel) {
    std::set<std::string> fixed = declared_names(kernel.body);
    walk_expressions(kernel.body, [&](const Expr& expr) {
      for_each_passed_place(expr, [&](const Expr& place) {
        if (const auto* variable = as<VariableReference>(place)) fixed.insert(variable->name);
      });
    });
    for (const std::string& name : assigned_in(kernel.body)) {
      const KernelParameter* parameter = kernel.parameter(name);
      if (parameter != nullptr && parameter->is_pointer && !fixed.contains(name))
        current_.emplace(name, name);
    }
  }

  Block rename() {
    if (current_.empty()) return kernel_.body;
    Block body;
    for (const StmtPtr& stmt : kernel_.body) {
      const auto advance = advance_of(*stmt);
      if (advance && current_.contains(advance->name)) {
        const ExprPtr from = source::variable(current_.at(advance->name), std::nullopt);
        const ExprPtr step = rewrite_expr(advance->step, renaming());
        begin(advance->name,
              binary(advance->is_backwards ? BinaryOperator::subtract : BinaryOperator::add, from,
                     step),
              body);
        continue;
      }
      for (const std::string& name : assigned_in({stmt})) {
        const auto found = current_.find(name);
        if (found != current_.end() && found->second == name)
          begin(name, source::variable(name, std::nullopt), body);
      }
      const Block renamed = rewrite_expressions({stmt}, renaming());
      body.insert(body.end(), renamed.begin(), renamed.end());
    }
    return body;
  }

 private:
  // Declares the next pointer in the parameter's place.
  void begin(const std::string& parameter, ExprPtr value, Block& body) {
    const KernelParameter& old = *kernel_.parameter(parameter);
    Variable next;
    next.name = fresh_name(named_, parameter);
    next.type = (old.points_to_const ? "const " : "") + old.type;
    next.scalar = old.scalar;
    next.is_pointer = true;
    body.push_back(declare(next, std::move(value)));
    named_.body.push_back(body.back());
    current_.at(parameter) = next.name;
  }

  ExprRewrite renaming() const {
    return [this](const ExprPtr& expr) -> std::optional<ExprPtr> {
      const auto* variable = as<VariableReference>(expr);
      const auto found = variable != nullptr ? current_.find(variable->name) : current_.end();
      if (found == current_.end()) return std::nullopt;
      return source::variable(found->second, variable->type);
    };
  }

  const Kernel& kernel_;
  Kernel named_;                                // with what was declared, for names
  std::map<std::string, std::string> current_;  // what stands for a parameter now
};

}  // namespace

Block without_moved_parameters(const Kernel& kernel) {
  return ParameterVersions(kernel).rename();
}

}  // namespace regraph::rewrite
