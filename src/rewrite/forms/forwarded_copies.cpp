#include "rewrite/forms/forwarded_copies.h"

#include "source/analysis.h"
#include "source/walk.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::Declaration;
using source::Expr;
using source::ExprPtr;
using source::Kernel;
using source::Stmt;
using source::StmtPtr;

namespace {

class CopyForwarder {
 public:
  explicit CopyForwarder(const Kernel& kernel) : kernel_(kernel), analysis_(kernel) {
    note_changes();
    find_copies();
  }

  Kernel run() const {
    Kernel result = kernel_;
    if (originals_.empty()) return result;
    result.body = source::rewrite_statements(
        kernel_.body, [&](const StmtPtr& stmt) -> std::optional<source::Block> {
          const auto* declaration = as<Declaration>(stmt);
          const bool drops =
              declaration != nullptr && originals_.contains(declaration->variable.name);
          return drops ? std::optional(source::Block{}) : std::nullopt;
        });
    result.body = source::rewrite_expressions(
        result.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          const auto* variable = as<source::VariableReference>(expr);
          if (variable == nullptr || !originals_.contains(variable->name)) return std::nullopt;
          return original_of(expr);
        });
    return result;
  }

 private:
  void note_changes() {
    int position = 0;
    source::walk(kernel_.body, [&](const Stmt& stmt) {
      ++position;
      if (const auto* declaration = as<Declaration>(stmt))
        ++declarations_[declaration->variable.name];
      const ExprPtr& target = target_of(stmt);
      const auto* changed = target ? source::place_variable(*target) : nullptr;
      if (changed != nullptr) last_change_[changed->name] = position;
      // What a loop's header changes, it changes behind its body as well.
      source::for_each_header(stmt, [&](const StmtPtr& part) {
        const ExprPtr& counter = target_of(*part);
        const auto* counted = counter ? source::place_variable(*counter) : nullptr;
        if (counted != nullptr) keeps_changing_.insert(counted->name);
      });
    });
    source::walk_expressions(kernel_.body, [&](const Expr& node) {
      source::for_each_passed_place(node, [&](const Expr& place) {
        const auto* passed = source::place_variable(place);
        if (passed != nullptr) keeps_changing_.insert(passed->name);
      });
    });
  }

  // Inside of a loop, too, it is the order of the text that counts: a copy that is declared there
  // is made anew in each iteration.
  void find_copies() {
    int position = 0;
    source::walk(kernel_.body, [&](const Stmt& stmt) {
      ++position;
      const auto* declaration = as<Declaration>(stmt);
      const auto* original =
          declaration != nullptr ? as<source::VariableReference>(declaration->value) : nullptr;
      if (original == nullptr || !analysis_.is_single_definition(declaration->variable.name) ||
          analysis_.loop(declaration->variable.name) != nullptr)
        return;
      const source::Variable* variable = analysis_.local(original->name);
      const bool is_alike = variable != nullptr && variable->scalar && !variable->is_pointer &&
                            variable->extents.empty() &&
                            variable->storage == source::Storage::automatic &&
                            variable->scalar == declaration->variable.scalar &&
                            declaration->variable.storage == source::Storage::automatic &&
                            analysis_.loop(original->name) == nullptr;
      const auto last = last_change_.find(original->name);
      const bool changes = keeps_changing_.contains(original->name) ||
                           (last != last_change_.end() && last->second > position);
      if (is_alike && !changes && declarations_.at(original->name) == 1)
        originals_.emplace(declaration->variable.name, declaration->value);
    });
  }

  ExprPtr original_of(ExprPtr copy) const {
    for (const auto* variable = as<source::VariableReference>(copy); variable != nullptr;
         variable = as<source::VariableReference>(copy)) {
      const auto found = originals_.find(variable->name);
      if (found == originals_.end()) break;
      copy = found->second;
    }
    return copy;
  }

  const Kernel& kernel_;
  const source::Analysis analysis_;
  std::map<std::string, int> declarations_;   // how many
  std::map<std::string, int> last_change_;    // in the order of the text
  std::set<std::string> keeps_changing_;      // headers of loops, and what is given away
  std::map<std::string, ExprPtr> originals_;  // by copy
};

}  // namespace

Kernel with_forwarded_copies(const Kernel& kernel) {
  return CopyForwarder(kernel).run();
}

}  // namespace regraph::rewrite
