#include "rewrite/transform/copy_propagation.h"

#include "source/analysis.h"
#include "source/match.h"
#include "source/walk.h"

#include <optional>
#include <string>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Block;
using source::Declaration;
using source::ExprPtr;
using source::Stmt;
using source::StmtPtr;
using source::VariableReference;

namespace {

class CopyPropagation {
 public:
  explicit CopyPropagation(const source::Kernel& kernel) : analysis_(kernel) {}

  Block run(Block block) const {
    for (std::size_t at = 0; at < block.size();) {
      const auto* copied = copy_of(block[at]);
      const Block rest(block.begin() + static_cast<std::ptrdiff_t>(at) + 1, block.end());
      if (copied == nullptr || changes(rest, copied->name)) {
        const StmtPtr& stmt = block[at];
        if (!body_of(*stmt).empty() || !otherwise_of(*stmt).empty())
          block[at] = source::with_blocks(stmt, run(body_of(*stmt)), run(otherwise_of(*stmt)));
        ++at;
        continue;
      }
      const std::string name = source::to<Declaration>(block[at]).variable.name;
      const ExprPtr value = source::to<Declaration>(block[at]).value;
      Block renamed =
          source::rewrite_expressions(rest, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
            return source::is_named(expr, name) ? std::optional(value) : std::nullopt;
          });
      block.resize(at);
      block.insert(block.end(), renamed.begin(), renamed.end());
    }
    return block;
  }

 private:
  // The variable that the statement declares another name of; null for anything else.
  const VariableReference* copy_of(const StmtPtr& stmt) const {
    const auto* declared = as<Declaration>(stmt);
    const auto* from = declared != nullptr ? as<VariableReference>(declared->value) : nullptr;
    if (from == nullptr) return nullptr;
    const source::Variable& variable = declared->variable;
    const bool is_scalar = variable.storage == source::Storage::automatic && variable.scalar &&
                           variable.extents.empty() && !variable.is_pointer;
    const source::Variable* other = analysis_.local(from->name);
    const bool fits = is_scalar && other != nullptr && other->scalar == variable.scalar &&
                      other->extents.empty() && !other->is_pointer &&
                      other->storage == source::Storage::automatic;
    return fits && analysis_.is_single_definition(variable.name) ? from : nullptr;
  }

  static bool changes(const Block& block, const std::string& name) {
    bool found = false;
    source::walk(block, [&](const Stmt& stmt) {
      found = found || source::is_named(target_of(stmt), name);
      const auto* declared = as<Declaration>(stmt);
      found = found || (declared != nullptr && declared->variable.name == name);
    });
    source::walk_expressions(block, [&](const source::Expr& expr) {
      source::for_each_passed_place(
          expr, [&](const source::Expr& place) { found = found || source::is_named(place, name); });
    });
    return found;
  }

  const source::Analysis analysis_;
};

}  // namespace

Block with_copies_propagated(const source::Kernel& kernel) {
  return CopyPropagation(kernel).run(kernel.body);
}

}  // namespace regraph::rewrite
