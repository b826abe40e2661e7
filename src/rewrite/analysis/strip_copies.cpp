#include "rewrite/analysis/strip_copies.h"

#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace regraph::rewrite {

namespace {

class CopySplitter {
 public:
  CopySplitter(const StripLoop& strips, const Analysis& analysis)
      : strips_(strips), analysis_(analysis) {}

  Result<StripCopies> run() const {
    StripCopies copies;
    for (const StmtPtr& stmt : strips_.copies) {
      if (is_arithmetic(stmt)) {
        copies.declarations.push_back(stmt);
        continue;
      }
      CopyPart part;
      Block body = {stmt};
      if (const auto* loop = as<ForLoop>(stmt)) {
        const auto counted = counted_loop_of(*stmt);
        const auto trips = counted ? counted->trip_count() : std::nullopt;
        if (!trips || !counted->starts_at_zero() || counted->stride != 1 || *trips < 1) {
          return refuse(
              "the copies of the loop over strips: threads copy different numbers of elements, or "
              "how many is not known");
        }
        part.loop = loop;
        part.count = *trips;
        body = loop->body;
      }
      take_condition(body, part);
      if (Status status = split(body, part); !status) return status.error();
      copies.parts.push_back(std::move(part));
    }
    return copies;
  }

 private:
  bool is_tile_store(const Stmt& stmt) const { return stores_to_tile(stmt, analysis_); }

  bool writes_tiles(const StmtPtr& stmt) const {
    bool found = false;
    walk(Block{stmt}, [&](const Stmt& inner) { found = found || is_tile_store(inner); });
    return found;
  }

  // Where only some threads copy, if nothing else is done.
  void take_condition(Block& body, CopyPart& part) const {
    if (body.empty()) return;
    const auto* branch = as<Branch>(body.back());
    const bool is_guard = branch != nullptr && branch->otherwise.empty() &&
                          !analysis_.reads_memory(branch->condition) &&
                          std::all_of(body.begin(), std::prev(body.end()),
                                      [&](const StmtPtr& stmt) { return is_arithmetic(stmt); });
    if (!is_guard) return;
    part.condition_declarations.assign(body.begin(), std::prev(body.end()));
    part.condition = branch->condition;
    body = Block(branch->body);
  }

  // Index arithmetic in a name of its own.
  bool is_arithmetic(const StmtPtr& stmt) const {
    const auto* declaration = as<Declaration>(stmt);
    return declaration != nullptr && declaration->value && declaration->variable.extents.empty() &&
           !analysis_.reads_memory(declaration->value) &&
           analysis_.is_single_definition(declaration->variable.name);
  }

  Status split(const Block& body, CopyPart& part) const {
    for (const StmtPtr& stmt : body) {
      if (is_arithmetic(stmt)) {
        part.declarations.push_back(stmt);
      } else if (writes_tiles(stmt)) {
        if (!only_stores(stmt)) return refuse("a copy to a tile is part of a larger statement");
        part.stores.push_back(stmt);
      } else if (!part.stores.empty()) {
        return refuse("a copy goes on after its store to a tile");
      } else {
        part.loads.push_back(stmt);
      }
    }
    if (part.stores.empty()) return refuse("a statement of the copies stores to no tile");
    return {};
  }

  // A store, or a loop of nothing else.
  bool only_stores(const StmtPtr& stmt) const {
    if (const auto* store = as<Assignment>(stmt))
      return is_tile_store(*stmt) && store->op == AssignmentOperator::assign;
    const auto* loop = as<ForLoop>(stmt);
    if (loop == nullptr) return false;
    const auto counted = counted_loop_of(*stmt);
    return counted && counted->trip_count() &&
           std::all_of(loop->body.begin(), loop->body.end(), [&](const StmtPtr& inner) {
             return is_arithmetic(inner) ||
                    (only_stores(inner) && !analysis_.reads_memory(value_of(*inner)));
           });
  }

  const StripLoop& strips_;
  const Analysis& analysis_;
};

}  // namespace

Block CopyPart::around(Block body) const {
  if (condition) {
    Block guarded = condition_declarations;
    guarded.push_back(source::branch(condition, std::move(body)));
    body = std::move(guarded);
  }
  if (loop == nullptr) return body;
  return {source::loop(loop->init, loop->condition, loop->step, std::move(body), kUnrollFully)};
}

Result<StripCopies> split_copies(const StripLoop& strips, const Analysis& analysis) {
  return CopySplitter(strips, analysis).run();
}

}  // namespace regraph::rewrite
