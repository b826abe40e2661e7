#include "rewrite/forms/liveness.h"

#include "source/walk.h"

#include <utility>

namespace regraph::rewrite {

class LivenessPass {
 public:
  using Set = Liveness::Set;

  explicit LivenessPass(Liveness& result)
      : result_(result), words_((result.positions_.size() + kWord - 1) / kWord) {}

  void run(const Block& body) { flow(body, none()); }

 private:
  static constexpr std::size_t kWord = 64;

  [[nodiscard]] Set none() const { return Set(words_, 0); }

  // Returns whether the set grew.
  static bool merge(Set& set, const Set& more) {
    bool grew = false;
    for (std::size_t word = 0; word < set.size(); ++word) {
      grew = grew || (more[word] & ~set[word]) != 0;
      set[word] |= more[word];
    }
    return grew;
  }

  void set(Set& live, const std::string& name, bool value) const {
    const auto found = result_.positions_.find(name);
    if (found == result_.positions_.end()) return;
    const std::uint64_t bit = std::uint64_t{1} << (found->second % kWord);
    std::uint64_t& word = live[found->second / kWord];
    word = value ? word | bit : word & ~bit;
  }

  void read(Set& live, const ExprPtr& expr) const {
    walk(expr, [&](const Expr& node) {
      if (const auto* variable = as<VariableReference>(node)) set(live, variable->name, true);
    });
  }

  // What is live before the block, from what is live after it.
  Set flow(const Block& block, Set live) {
    for (auto stmt = block.rbegin(); stmt != block.rend(); ++stmt)
      live = flow(**stmt, std::move(live));
    return live;
  }

  Set flow(const Stmt& stmt, Set live) {
    if (const auto* jump = as<Jump>(stmt))
      live = jump->jump == JumpKind::break_loop ? break_ : continue_;
    const auto [entry, is_new] = result_.after_.emplace(&stmt, live);
    if (!is_new) merge(entry->second, live);
    switch (stmt.kind()) {
      case StmtKind::declaration:
        set(live, to<Declaration>(stmt).variable.name, false);
        read(live, value_of(stmt));
        return live;
      case StmtKind::assignment:
        return before_assignment(to<Assignment>(stmt), std::move(live));
      case StmtKind::branch: {
        Set before = flow(to<Branch>(stmt).otherwise, live);
        merge(before, flow(to<Branch>(stmt).body, std::move(live)));
        read(before, value_of(stmt));
        return before;
      }
      case StmtKind::for_loop: {
        const auto& loop = to<ForLoop>(stmt);
        Set head = before_loop(loop.condition, loop.step, loop.body, live);
        return loop.init ? flow(*loop.init, std::move(head)) : head;
      }
      case StmtKind::while_loop:
        return before_loop(to<WhileLoop>(stmt).condition, nullptr, to<WhileLoop>(stmt).body, live);
      case StmtKind::scope:
        return flow(to<Scope>(stmt).body, std::move(live));
      case StmtKind::return_:
        return none();
      case StmtKind::evaluation:
        read(live, value_of(stmt));
        return live;
      case StmtKind::opaque:
        return Set(words_, ~std::uint64_t{0});
      case StmtKind::jump:
      case StmtKind::barrier:
        break;
    }
    return live;
  }

  Set before_assignment(const Assignment& stmt, Set live) const {
    const auto* whole = as<VariableReference>(stmt.target);
    if (whole != nullptr && stmt.op == AssignmentOperator::assign) {
      set(live, whole->name, false);
    } else {
      read(live, stmt.target);
    }
    read(live, stmt.value);
    return live;
  }

  Set before_loop(const ExprPtr& condition, const StmtPtr& step, const Block& body,
                  const Set& after) {
    const Set outer_break = std::exchange(break_, after);
    const Set outer_continue = continue_;
    Set head = after;
    read(head, condition);
    for (bool grew = true; grew;) {
      continue_ = step ? flow(*step, head) : head;
      // Loops inside replace the targets and put them back.
      grew = merge(head, flow(body, continue_));
    }
    break_ = outer_break;
    continue_ = outer_continue;
    return head;
  }

  Liveness& result_;
  std::size_t words_;
  Set break_;
  Set continue_;
};

Liveness::Liveness(const Block& body, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    positions_.emplace(name, positions_.size());
  LivenessPass(*this).run(body);
}

bool Liveness::is_live_after(const Stmt& stmt, const std::string& name) const {
  const auto position = positions_.find(name);
  const auto found = after_.find(&stmt);
  if (position == positions_.end() || found == after_.end()) return false;
  constexpr std::size_t kWord = 64;
  return (found->second[position->second / kWord] >> (position->second % kWord) & 1) != 0;
}

}  // namespace regraph::rewrite
