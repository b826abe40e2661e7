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
    std::set<std::string> fixed;
    std::map<std::string, Variable> own = pointers_of_own_block(fixed);
    walk_expressions(kernel.body, [&](const Expr& expr) {
      for_each_passed_place(expr, [&](const Expr& place) {
        if (const auto* variable = as<VariableReference>(place)) fixed.insert(variable->name);
      });
    });
    for (const std::string& name : reassigned_names(kernel.body)) {
      const auto pointer = own.find(name);
      if (pointer == own.end() || fixed.contains(name)) continue;
      current_.emplace(name, name);
      pointers_.insert(*pointer);
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
  // Parameters, and what the kernel's own block declares with a value; names that anything else
  // declares are `fixed`.
  std::map<std::string, Variable> pointers_of_own_block(std::set<std::string>& fixed) const {
    std::map<std::string, Variable> result;
    for (const KernelParameter& parameter : kernel_.parameters) {
      if (!parameter.is_pointer) continue;
      Variable pointer;
      pointer.name = parameter.name;
      pointer.type = (parameter.points_to_const ? "const " : "") + parameter.type;
      pointer.scalar = parameter.scalar;
      pointer.is_pointer = true;
      result.emplace(parameter.name, std::move(pointer));
    }
    for (const StmtPtr& stmt : kernel_.body) {
      const auto* declared = as<Declaration>(stmt);
      const bool is_pointer = declared != nullptr && declared->value &&
                              declared->variable.is_pointer && declared->variable.extents.empty();
      if (is_pointer && result.emplace(declared->variable.name, declared->variable).second)
        continue;
      fixed.merge(declared_names({stmt}));
    }
    return result;
  }

  // Declares the next pointer in the pointer's place.
  void begin(const std::string& pointer, ExprPtr value, Block& body) {
    Variable next = pointers_.at(pointer);
    next.name = names_.fresh(pointer);
    body.push_back(declare(next, std::move(value)));
    current_.at(pointer) = next.name;
  }

  const Kernel& kernel_;
  Names names_;
  std::map<std::string, Variable> pointers_;    // those that move on
  std::map<std::string, std::string> current_;  // what stands for each now
};

}  // namespace

Block without_moved_parameters(const Kernel& kernel) {
  return ParameterVersions(kernel).rename();
}

}  // namespace regraph::rewrite
