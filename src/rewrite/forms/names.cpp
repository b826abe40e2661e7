#include "rewrite/forms/names.h"

#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <map>
#include <optional>
#include <utility>

namespace regraph::rewrite {

Names::Names(const Kernel& kernel, std::string separator)
    : used_(used_names(kernel)), separator_(std::move(separator)) {}

std::string Names::fresh(const std::string& stem) {
  std::string name = unused(stem);
  used_.insert(name);
  return name;
}

std::string Names::unused(const std::string& stem) const {
  std::string name = stem;
  for (int number = 2; used_.contains(name); ++number)
    name = stem + separator_ + std::to_string(number);
  return name;
}

namespace {

class Renamer final : public Mutator {
 public:
  explicit Renamer(const std::map<std::string, std::string>& renaming) : renaming_(renaming) {}

 private:
  using Mutator::mutate;

  ExprPtr mutate(const ExprPtr& expr, const VariableReference& variable) override {
    const auto found = renaming_.find(variable.name);
    return found == renaming_.end() ? expr : source::variable(found->second, expr->type);
  }

  StmtPtr mutate(const StmtPtr& stmt, const Declaration& declaration) override {
    const auto found = renaming_.find(declaration.variable.name);
    if (found == renaming_.end()) return Mutator::mutate(stmt, declaration);
    auto copy = std::make_shared<Declaration>(declaration);
    copy->variable.name = found->second;
    copy->value = run(declaration.value);
    return copy;
  }

  const std::map<std::string, std::string>& renaming_;
};

}  // namespace

Block Names::renamed(const Block& block) {
  std::map<std::string, std::string> renaming;
  for (const std::string& name : declared_names(block))
    renaming.emplace(name, fresh(name));
  return rewrite::renamed(block, renaming);
}

ExprRewrite renaming(const std::map<std::string, std::string>& names) {
  return [&names](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const auto* variable = as<VariableReference>(expr);
    const auto found = variable != nullptr ? names.find(variable->name) : names.end();
    if (found == names.end()) return std::nullopt;
    return source::variable(found->second, variable->type);
  };
}

Block renamed(const Block& block, const std::map<std::string, std::string>& names) {
  return names.empty() ? block : Renamer(names).run(block);
}

}  // namespace regraph::rewrite
