#include "rewrite/forms/names.h"

#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <map>

namespace regraph::rewrite {

Names::Names(const Kernel& kernel) : used_(used_names(kernel)) {}

std::string Names::fresh(const std::string& stem) {
  if (used_.insert(stem).second) return stem;
  for (int number = 2;; ++number) {
    std::string name = stem + std::to_string(number);
    if (used_.insert(name).second) return name;
  }
}

namespace {

using Renaming = std::map<std::string, std::string>;

// Replaces names where they are declared and where they are used.
class Renamer final : public Mutator {
 public:
  explicit Renamer(const Renaming& renaming) : renaming_(renaming) {}

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

  const Renaming& renaming_;
};

}  // namespace

Block Names::renamed(const Block& block) {
  Renaming renaming;
  for (const std::string& name : declared_names(block))
    renaming.emplace(name, fresh(name));
  if (renaming.empty()) return block;
  return Renamer(renaming).run(block);
}

}  // namespace regraph::rewrite
