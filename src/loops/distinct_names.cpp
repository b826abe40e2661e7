#include "loops/distinct_names.h"

#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <map>
#include <set>
#include <string>

namespace regraph::loops {
namespace {

using source::Block;
using source::ExprPtr;
using source::StmtPtr;

class NameSplitter final : public source::Mutator {
 public:
  explicit NameSplitter(const source::Kernel& kernel) : taken_(source::used_names(kernel)) {}

  Block run(const Block& block) override {
    const auto outside = names_;
    Block result = Mutator::run(block);
    names_ = outside;
    return result;
  }

 private:
  ExprPtr mutate(const ExprPtr& expr, const source::VariableReference& variable) override {
    const auto renamed = names_.find(variable.name);
    if (renamed == names_.end() || renamed->second == variable.name) return expr;
    return source::variable(renamed->second, variable.type);
  }

  StmtPtr mutate(const StmtPtr& stmt, const source::Declaration& declaration) override {
    // The value stands in front of the name.
    const ExprPtr value = Mutator::run(declaration.value);
    source::Variable variable = declaration.variable;
    variable.name = name_for(variable.name);
    if (variable.name == declaration.variable.name && value == declaration.value) return stmt;
    auto result = std::make_shared<source::Declaration>(variable, value);
    result->line = stmt->line;
    return result;
  }

  StmtPtr mutate(const StmtPtr& stmt, const source::ForLoop& loop) override {
    const auto outside = names_;
    const StmtPtr init = Mutator::run(loop.init);
    const ExprPtr condition = Mutator::run(loop.condition);
    const StmtPtr step = Mutator::run(loop.step);
    Block body = run(loop.body);
    names_ = outside;
    auto result = std::make_shared<source::ForLoop>(init, condition, step, std::move(body));
    result->unroll = loop.unroll;
    result->line = stmt->line;
    return result;
  }

  std::string name_for(const std::string& name) {
    std::string chosen = name;
    for (int number = 2; !declared_.insert(chosen).second; ++number) {
      std::string next = name + "_" + std::to_string(number);
      while (taken_.contains(next))
        next = name + "_" + std::to_string(++number);
      chosen = next;
    }
    return names_[name] = chosen;
  }

  const std::set<std::string> taken_;
  std::set<std::string> declared_;
  std::map<std::string, std::string> names_;  // what a name is called here
};

}  // namespace

Block with_distinct_names(const source::Kernel& kernel) {
  NameSplitter splitter(kernel);
  return splitter.run(kernel.body);
}

}  // namespace regraph::loops
