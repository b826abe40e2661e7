#include "rewrite/forms/moved_parameters.h"

#include "rewrite/forms/advance.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/walk.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

class ParameterVersions {
 public:
  explicit ParameterVersions(const Kernel& kernel) : kernel_(kernel), names_(kernel) {
    std::set<std::string> fixed = declared_names(kernel.body);
    walk_expressions(kernel.body, [&](const Expr& expr) {
      for_each_passed_place(expr, [&](const Expr& place) {
        if (const auto* variable = as<VariableReference>(place)) fixed.insert(variable->name);
      });
    });
    for (const std::string& name : reassigned_names(kernel.body)) {
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
        const ExprPtr step = rewrite_expr(advance->step, renaming(current_));
        begin(advance->name,
              binary(advance->is_backwards ? BinaryOperator::subtract : BinaryOperator::add, from,
                     step),
              body);
        continue;
      }
      for (const std::string& name : reassigned_names({stmt})) {
        const auto found = current_.find(name);
        if (found != current_.end() && found->second == name)
          begin(name, source::variable(name, std::nullopt), body);
      }
      const Block renamed = rewrite_expressions({stmt}, renaming(current_));
      body.insert(body.end(), renamed.begin(), renamed.end());
    }
    return body;
  }

 private:
  // Declares the next pointer in the parameter's place.
  void begin(const std::string& parameter, ExprPtr value, Block& body) {
    const KernelParameter& old = *kernel_.parameter(parameter);
    Variable next;
    next.name = names_.fresh(parameter);
    next.type = (old.points_to_const ? "const " : "") + old.type;
    next.scalar = old.scalar;
    next.is_pointer = true;
    body.push_back(declare(next, std::move(value)));
    current_.at(parameter) = next.name;
  }

  const Kernel& kernel_;
  Names names_;
  std::map<std::string, std::string> current_;  // what stands for a parameter now
};

}  // namespace

Block without_moved_parameters(const Kernel& kernel) {
  return ParameterVersions(kernel).rename();
}

}  // namespace regraph::rewrite
