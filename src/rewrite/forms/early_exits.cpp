#include "rewrite/forms/early_exits.h"

#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/mutator.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace regraph::rewrite {

namespace {

enum class Exit { of_kernel, of_iteration };

class ExitRemover {
 public:
  explicit ExitRemover(Exit exit) : exit_(exit) {}

  Result<Block> run(const Block& block) const {
    Block result;
    for (std::size_t position = 0; position < block.size(); ++position) {
      const StmtPtr& stmt = block[position];
      if (is_exit(stmt)) return result;
      if (!holds_exit(stmt)) {
        result.push_back(stmt);
        continue;
      }
      const Block rest(block.begin() + static_cast<std::ptrdiff_t>(position) + 1, block.end());
      if (const auto* scope = as<Scope>(stmt)) {
        auto inner = run(joined(scope->body, rest));
        if (!inner) return inner;
        result.insert(result.end(), inner->begin(), inner->end());
        return result;
      }
      const auto* branch = as<Branch>(stmt);
      if (branch == nullptr) return refusal(stmt);
      auto replaced = without_exits(*branch, rest);
      if (!replaced) return std::move(replaced).error();
      if (*replaced) result.push_back(std::move(*replaced));
      return result;
    }
    return result;
  }

 private:
  bool is_exit(const StmtPtr& stmt) const {
    if (exit_ == Exit::of_kernel) return is<Return>(stmt);
    const auto* jump = as<Jump>(stmt);
    return jump != nullptr && jump->jump == JumpKind::continue_loop;
  }

  bool holds_exit(const StmtPtr& stmt) const {
    if (is_exit(stmt)) return true;
    const bool loops = is<ForLoop>(stmt) || is<WhileLoop>(stmt);
    if (loops && exit_ == Exit::of_iteration) return false;  // of its own iterations
    return holds_exit(body_of(*stmt)) || holds_exit(otherwise_of(*stmt));
  }

  bool holds_exit(const Block& block) const {
    return std::any_of(block.begin(), block.end(),
                       [&](const StmtPtr& stmt) { return holds_exit(stmt); });
  }

  // Whether what follows the block is never reached from it.
  bool always_exits(const Block& block) const {
    return std::any_of(block.begin(), block.end(), [&](const StmtPtr& stmt) {
      if (is_exit(stmt)) return true;
      if (is<Scope>(stmt)) return always_exits(body_of(*stmt));
      return is<Branch>(stmt) && always_exits(body_of(*stmt)) && always_exits(otherwise_of(*stmt));
    });
  }

  static Block joined(Block first, const Block& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }

  // The branch with what follows it on the side that goes on; null where nothing is left of it.
  Result<StmtPtr> without_exits(const Branch& branch, const Block& rest) const {
    const bool leaves = always_exits(branch.body);
    const bool otherwise_leaves = always_exits(branch.otherwise);
    if (!leaves && !otherwise_leaves && !rest.empty()) return refusal(branch);
    auto body = run(leaves ? branch.body : joined(branch.body, rest));
    if (!body) return std::move(body).error();
    auto otherwise = run(otherwise_leaves ? branch.otherwise : joined(branch.otherwise, rest));
    if (!otherwise) return std::move(otherwise).error();
    if (body->empty() && otherwise->empty()) return StmtPtr();
    if (body->empty()) {
      return source::branch(negate(branch.condition), std::move(*otherwise), {}, branch.line);
    }
    return source::branch(branch.condition, std::move(*body), std::move(*otherwise), branch.line);
  }

  static Error refusal(const Stmt& stmt) {
    return refuse("line " + std::to_string(stmt.line) +
                  ": a return inside a loop, or one that skips only part of what follows");
  }
  static Error refusal(const StmtPtr& stmt) { return refusal(*stmt); }

  Exit exit_;
};

class ContinueRemover final : public Mutator {
 private:
  using Mutator::mutate;

  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    return with_body(Mutator::mutate(stmt, loop));
  }
  StmtPtr mutate(const StmtPtr& stmt, const WhileLoop& loop) override {
    return with_body(Mutator::mutate(stmt, loop));
  }

  static StmtPtr with_body(const StmtPtr& loop) {
    auto body = ExitRemover(Exit::of_iteration).run(body_of(*loop));
    return body ? with_blocks(loop, std::move(*body), {}) : loop;
  }
};

}  // namespace

Result<Block> without_early_returns(const Block& body) {
  return ExitRemover(Exit::of_kernel).run(body);
}

Block without_continues(const Block& body) {
  return ContinueRemover().run(body);
}

}  // namespace regraph::rewrite
