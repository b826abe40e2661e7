#include "rewrite/transform/merge_check.h"

#include "rewrite/analysis/shared_memory.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/transform/block_copies.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Barrier;
using source::Block;
using source::Declaration;
using source::ExprPtr;
using source::is;
using source::Kernel;
using source::Stmt;
using source::StmtPtr;
using source::to;

namespace {

class MergeCheck {
 public:
  explicit MergeCheck(const BlockMerge& merge)
      : kernel_(merge.form.kernel), analysis_(merge.form.analysis), copies_(merge) {}

  Status run(int most_copies) const {
    if (Status status = check_parameters(); !status) return status;
    if (Status status = check_pointers(); !status) return status;
    return check(kernel_.body, most_copies);
  }

 private:
  // A parameter cannot be kept once per copy.
  Status check_parameters() const {
    std::optional<std::string> changed;
    copies_.for_each_changed(kernel_.body, [&](const std::string& name) {
      if (kernel_.parameter(name) != nullptr) changed = name;
    });
    if (!changed) return {};
    return refuse("the parameter '" + *changed +
                  "' is changed, and every block has to begin with "
                  "what was passed");
  }

  // Copies of a pointer would all point to the same array, which the blocks had one of each.
  Status check_pointers() const {
    std::set<std::string> shared;  // arrays that pointers are made of, and that are not copied
    bool is_written = false;
    source::walk(kernel_.body, [&](const Stmt& stmt) {
      const auto* variable = target_of(stmt) ? source::place_variable(*target_of(stmt)) : nullptr;
      const auto* declaration = as<Declaration>(stmt);
      const source::Variable* local = declaration != nullptr ? &declaration->variable
                                      : variable != nullptr  ? analysis_.local(variable->name)
                                                             : nullptr;
      is_written = is_written || passes_pointer(stmt);
      if (local == nullptr || !local->is_pointer) return;
      if (declaration == nullptr && !is<source::VariableReference>(target_of(stmt))) {
        is_written = true;
      } else if (value_of(stmt)) {
        for (const std::string& name : source::variables_of(value_of(stmt))) {
          if (analysis_.is_shared(name) && !copies_.is_varying(name)) shared.insert(name);
        }
      }
    });
    if (!is_written || shared.empty()) return {};
    return refuse("'" + *shared.begin() +
                  "' is written through a pointer, so that it cannot be kept once per block");
  }

  // Whether a call for its effect, as an atomic is, knows a pointer of the kernel's own.
  bool passes_pointer(const Stmt& stmt) const {
    if (!is<source::Evaluation>(stmt)) return false;
    const auto names = source::variables_of(value_of(stmt));
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      const source::Variable* local = analysis_.local(name);
      return local != nullptr && local->is_pointer;
    });
  }

  // What `convert` goes through, without converting it.
  Status check(const Block& block, int most_copies) const {
    for (const StmtPtr& stmt : block) {
      if (const auto* declaration = as<Declaration>(stmt)) {
        if (Status status =
                check_declaration(declaration->variable, declaration->value, most_copies);
            !status)
          return status;
        continue;
      }
      if (is<Barrier>(stmt) || !copies_.varies(stmt)) continue;
      if (copies_.is_opened(*stmt)) {
        if (Status status = check(body_of(*stmt), most_copies); !status) return status;
        continue;
      }
      bool is_whole = true;
      source::walk(Block{stmt}, [&](const Stmt& inner) {
        const auto* declaration = as<Declaration>(inner);
        const bool declares_shared =
            declaration != nullptr && declaration->variable.storage != source::Storage::automatic;
        is_whole = is_whole && !is<Barrier>(inner) && !declares_shared;
      });
      if (!is_whole) {
        return refuse("line " + std::to_string(stmt->line) +
                      ": a barrier whose reach depends on the block");
      }
    }
    return {};
  }

  Status check_declaration(const source::Variable& variable, const ExprPtr& value,
                           int most_copies) const {
    if (copies_.is_recomputed(variable.name) || !copies_.is_varying(variable.name)) return {};
    if (variable.storage == source::Storage::dynamic_shared) {
      return refuse("the dynamic shared array '" + variable.name +
                    "' cannot be kept once per block");
    }
    if (!variable.is_pointer && !source::zero_value(variable.type, variable.scalar)) {
      return refuse("'" + variable.name + "' has a type the rewriter cannot make an array of");
    }
    if (!variable.extents.empty() && value && !assignments_of(variable, value)) {
      return refuse("'" + variable.name + "' has a list of values that is long or not flat");
    }
    // A copy begins where vectors may begin.
    constexpr std::int64_t kVectorBytes = 16;
    if (!variable.extents.empty() && analysis_.is_viewed(variable.name) &&
        bytes_of(variable) % kVectorBytes != 0)
      return refuse("'" + variable.name + "' is accessed as another type too");
    std::int64_t count = 1;
    for (const std::int64_t extent_value : copies_.copies_of(variable).extents)
      count *= extent_value;
    if (variable.storage == source::Storage::automatic && count > most_copies) {
      return refuse("'" + variable.name + "' would need " + std::to_string(count) + " registers");
    }
    return {};
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  BlockCopies copies_;
};

}  // namespace

Status check_merge(const BlockMerge& merge, int most_copies) {
  return MergeCheck(merge).run(most_copies);
}

std::int64_t merged_shared_bytes(const BlockMerge& merge) {
  const BlockCopies copies(merge);
  const Kernel& kernel = merge.form.kernel;
  std::int64_t bytes = shared_bytes(kernel);
  source::walk(kernel.body, [&](const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration == nullptr || declaration->variable.storage != source::Storage::shared ||
        !copies.is_varying(declaration->variable.name)) {
      return;
    }
    bytes += bytes_of(declaration->variable) * (merge.factor - 1);
  });
  return bytes;
}

}  // namespace regraph::rewrite
