#include "rewrite/transform/guard_removal.h"

#include "rewrite/analysis/loop_choice.h"
#include "source/build.h"
#include "source/walk.h"

#include <optional>
#include <vector>

namespace regraph::rewrite {

namespace {

// Removes what the interior implies.
class GuardRemover {
 public:
  explicit GuardRemover(const Interior& interior) : interior_(interior) {}

  Block run(const Block& block) const {
    return rewrite_statements(block, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto* branch = as<Branch>(stmt);
      if (branch == nullptr) return std::nullopt;
      std::vector<ExprPtr> left = remaining(branch->condition);
      if (left.size() == conjuncts(branch->condition).size()) return std::nullopt;
      if (left.empty()) return run(branch->body);
      return Block{
          source::branch(conjunction(left), run(branch->body), run(branch->otherwise), stmt->line)};
    });
  }

  Block without_choices(const Block& block) const {
    return rewrite_expressions(block, [&](const ExprPtr& expr) { return chosen(expr); });
  }

 private:
  // The condition's terms that are not implied.
  std::vector<ExprPtr> remaining(const ExprPtr& condition) const {
    std::vector<ExprPtr> left;
    for (const ExprPtr& term : conjuncts(condition)) {
      if (!interior_.implied.contains(term.get())) left.push_back(term);
    }
    return left;
  }

  std::optional<ExprPtr> chosen(const ExprPtr& expr) const {
    const auto* choice = as<Conditional>(expr);
    if (choice == nullptr) return std::nullopt;
    const std::vector<ExprPtr> left = remaining(choice->condition);
    if (left.size() == conjuncts(choice->condition).size()) return std::nullopt;
    const auto rewritten = [&](const ExprPtr& part) {
      return rewrite_expr(part, [&](const ExprPtr& inner) { return chosen(inner); });
    };
    if (left.empty()) return rewritten(choice->then);
    return conditional(conjunction(left), rewritten(choice->then), rewritten(choice->otherwise));
  }

  const Interior& interior_;
};

}  // namespace

Block without_guards(const Block& block, const Interior& interior) {
  const GuardRemover remover(interior);
  return remover.run(remover.without_choices(block));
}

Block seldom_run(const Block& block) {
  return rewrite_statements(block, [](const StmtPtr& stmt) -> std::optional<Block> {
    const auto* loop = as<ForLoop>(stmt);
    if (loop == nullptr || loop->unroll != kNoUnrollPragma) return std::nullopt;
    return Block{source::loop(loop->init, loop->condition, loop->step, seldom_run(loop->body),
                              kNeverUnroll)};
  });
}

}  // namespace regraph::rewrite
