#include "rewrite/forms/separate_trees.h"

#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// The shared array to whose element the assignment puts what is computed; empty for others.
std::string array_of(const Stmt& stmt, const std::set<std::string>& shared) {
  const auto* assignment = as<Assignment>(stmt);
  if (assignment == nullptr || !is<Subscript>(*assignment->target) ||
      !is_computation(assignment->value)) {
    return "";
  }
  const auto* base = source::base_variable(*assignment->target);
  return base != nullptr && shared.contains(base->name) ? base->name : "";
}

// The guarded update of a round: `if (...) { ... }` and a barrier, with a declared index before it
// at most. Null for other loops.
const Branch* guarded_update(const ForLoop& loop) {
  const Block& body = loop.body;
  if (body.size() < 2 || body.size() > 3 || !is<Barrier>(body.back())) return nullptr;
  if (body.size() == 3 && !is<Declaration>(body.front())) return nullptr;
  const auto* update = as<Branch>(body[body.size() - 2]);
  return update != nullptr && update->otherwise.empty() ? update : nullptr;
}

class TreeSeparator final : public Mutator {
 public:
  explicit TreeSeparator(const Block& body) {
    walk(body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration != nullptr && declaration->variable.storage == Storage::shared)
        shared_.insert(declaration->variable.name);
    });
    // What a pointer may reach by another name stays.
    std::erase_if(shared_, [&](const std::string& name) {
      int accesses = 0;
      walk_expressions(body, [&](const Expr& expr) {
        const auto* access = as<Subscript>(expr);
        const auto* base = access != nullptr ? as<VariableReference>(access->base) : nullptr;
        if (base != nullptr && base->name == name) ++accesses;
      });
      return accesses != mentions_of(name, body);
    });
  }

 private:
  void append(const StmtPtr& stmt, Block& out) override {
    const StmtPtr rounds = run(stmt);
    const auto arrays = independent_arrays(rounds);
    if (arrays.size() < 2) {
      out.push_back(rounds);
      return;
    }
    const Block updates = guarded_update(to<ForLoop>(rounds))->body;
    const Block fills = taken_fills(arrays, out);
    for (std::size_t at = 0; at < arrays.size(); ++at) {
      if (!fills.empty()) {
        out.push_back(fills[at]);
        out.push_back(barrier());
      }
      out.push_back(with_update(rounds, {updates[at]}));
    }
  }

  // The arrays that the rounds update one by one, each without the others; empty where there is
  // anything else.
  [[nodiscard]] std::vector<std::string> independent_arrays(const StmtPtr& stmt) const {
    const auto* loop = as<ForLoop>(stmt);
    const Branch* update = loop != nullptr ? guarded_update(*loop) : nullptr;
    if (update == nullptr) return {};
    const StmtPtr rest = with_update(stmt, {});  // header and guard
    std::vector<std::string> arrays;
    for (const StmtPtr& one : update->body) {
      std::string array = array_of(*one, shared_);
      if (array.empty() || std::ranges::find(arrays, array) != arrays.end()) return {};
      if (mentions_of(array, Block{rest}) > 0) return {};
      arrays.push_back(std::move(array));
    }
    for (std::size_t at = 0; at < arrays.size(); ++at) {
      for (const std::string& array : arrays) {
        if (array != arrays[at] && mentions_of(array, Block{update->body[at]}) > 0) return {};
      }
    }
    return arrays;
  }

  // The rounds with other statements under their guard.
  static StmtPtr with_update(const StmtPtr& rounds, Block update) {
    Block body = to<ForLoop>(rounds).body;
    StmtPtr& guarded = body[body.size() - 2];
    guarded = with_blocks(guarded, std::move(update), {});
    return with_blocks(rounds, std::move(body), {});
  }

  // Where the last statements before the rounds put something into each of the arrays and nothing
  // else, then a barrier: these, in the order of the arrays, taken from `before`. Else empty.
  [[nodiscard]] Block taken_fills(const std::vector<std::string>& arrays, Block& before) const {
    if (before.size() < arrays.size() + 1 || !is<Barrier>(before.back())) return {};
    const auto end = before.end() - 1;
    const auto first = end - static_cast<std::ptrdiff_t>(arrays.size());
    Block fills;
    for (const std::string& array : arrays) {
      const auto fill = std::find_if(
          first, end, [&](const StmtPtr& stmt) { return array_of(*stmt, shared_) == array; });
      if (fill == end) return {};
      const bool is_independent = std::ranges::all_of(arrays, [&](const std::string& other) {
        return mentions_of(other, Block{*fill}) == (other == array ? 1 : 0);
      });
      if (!is_independent) return {};
      fills.push_back(*fill);
    }
    before.erase(first, before.end());
    return fills;
  }

  std::set<std::string> shared_;
};

}  // namespace

std::optional<Kernel> with_separate_trees(const Kernel& kernel) {
  Kernel result = kernel;
  result.body = TreeSeparator(kernel.body).run(kernel.body);
  return result.body == kernel.body ? std::nullopt : std::optional(std::move(result));
}

}  // namespace regraph::rewrite
