#include "rewrite/analysis/strip_loop.h"

#include "rewrite/analysis/loop_choice.h"
#include "rewrite/analysis/refusal_place.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/uses.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// The names that the block's statements write to, arrays by their name; nothing where something is
// written that has none.
std::optional<std::set<std::string>> written_names(const Block& block) {
  std::set<std::string> names;
  bool understood = true;
  walk(block, [&](const Stmt& stmt) {
    const bool is_known = is<Declaration>(stmt) || is<Assignment>(stmt) || is<Branch>(stmt) ||
                          is<ForLoop>(stmt) || is<Scope>(stmt);
    understood = understood && is_known;
    const ExprPtr& target = target_of(stmt);
    if (!target) return;
    if (const auto* base = base_variable(*target)) {
      names.insert(base->name);
    } else {
      understood = false;
    }
  });
  if (!understood) return std::nullopt;
  return names;
}

class StripFinder {
 public:
  StripFinder(const Kernel& kernel, const Analysis& analysis)
      : kernel_(kernel), analysis_(analysis) {}

  Result<StripLoop> find(const StmtPtr& stmt) {
    StripLoop strips;
    strips.loop = stmt.get();
    const auto counted = counted_loop_of(*stmt);
    if (!counted) return refuse(loop_named(*stmt) + "not a counted loop");
    strips.counted = *counted;
    if (Status status = divide(*stmt, strips); !status) return status.error();
    if (Status status = find_tiles(strips); !status) return status.error();
    if (Status status = require_apart(strips); !status) return status.error();
    return strips;
  }

 private:
  // At the two barriers.
  Status divide(const Stmt& loop, StripLoop& strips) const {
    std::vector<Block> between(1);
    bool nested = false;
    for (const StmtPtr& stmt : body_of(loop)) {
      if (is<Barrier>(stmt)) {
        between.emplace_back();
        continue;
      }
      walk(Block{stmt}, [&](const Stmt& inner) { nested = nested || is<Barrier>(inner); });
      between.back().push_back(stmt);
    }
    if (nested || between.size() != 3 || !between[2].empty()) {
      return refuse(loop_named(loop) + "not of the shape copy, barrier, use, barrier");
    }
    strips.copies = std::move(between[0]);
    strips.use = std::move(between[1]);
    take_condition(strips);
    return {};
  }

  // Of strips in which some threads have no work.
  void take_condition(StripLoop& strips) const {
    if (strips.copies.size() != 1 || strips.use.size() != 1) return;
    const auto* copies = as<Branch>(strips.copies.front());
    const auto* use = as<Branch>(strips.use.front());
    if (copies == nullptr || use == nullptr || !copies->otherwise.empty() ||
        !use->otherwise.empty() || !equal(copies->condition, use->condition) ||
        analysis_.reads_memory(copies->condition)) {
      return;
    }
    strips.active = copies->condition;
    strips.copies = Block(copies->body);
    strips.use = Block(use->body);
  }

  Status find_tiles(StripLoop& strips) const {
    const auto written = written_names(strips.copies);
    if (!written) return refuse(loop_named(*strips.loop) + "its copies hold more than assignments");
    const std::set<std::string> own = declared_names(strips.copies);
    for (const std::string& name : *written) {
      const Variable* variable = analysis_.local(name);
      if (variable != nullptr && variable->is_pointer) {
        return refuse(loop_named(*strips.loop) + "its copies write through the pointer '" + name +
                      "'");
      }
      if (own.contains(name)) continue;
      if (variable == nullptr || variable->storage != Storage::shared) {
        return refuse(loop_named(*strips.loop) + "its copies write '" + name +
                      "', which is no shared array of a fixed size");
      }
      strips.tiles.push_back(*variable);
    }
    if (strips.tiles.empty()) return refuse(loop_named(*strips.loop) + "nothing is copied");
    return {};
  }

  // Whether nothing but the tiles leads from the copies to the use, and nothing back.
  Status require_apart(const StripLoop& strips) const {
    for (const std::string& name : variables_of(strips.copies)) {
      if (analysis_.is_global_pointer(name) && analysis_.is_written(name)) {
        return refuse(loop_named(*strips.loop) + "'" + name +
                      "' is copied, and written in the kernel");
      }
    }
    bool reads_shared = false;
    walk(strips.copies, [&](const Stmt& stmt) {
      const ExprPtr& value = value_of(stmt);
      for (const std::string& name : variables_of(value))
        reads_shared = reads_shared || analysis_.is_shared(name);
      const auto* store = as<Assignment>(stmt);
      reads_shared =
          reads_shared || (is_tile_store(stmt) && store->op != AssignmentOperator::assign);
    });
    if (reads_shared) return refuse(loop_named(*strips.loop) + "its copies read shared memory");

    const auto written = written_names(strips.use);
    if (!written)
      return refuse(loop_named(*strips.loop) + "its use of the tiles is not understood");
    std::set<std::string> copied = variables_of(strips.copies);
    // Whether there is a next strip is asked before and after the use.
    for (const std::string& name : variables_of(strips.counted.limit)) {
      if (analysis_.is_global_pointer(name) && analysis_.is_written(name)) {
        return refuse(loop_named(*strips.loop) + "'" + name +
                      "' says where it ends, and is written");
      }
      copied.insert(name);
    }
    if (strips.active) copied.merge(variables_of(strips.active));
    for (const std::string& name : *written) {
      if (copied.contains(name)) {
        return refuse(loop_named(*strips.loop) + "'" + name + "' is changed between two copies");
      }
    }
    const std::set<std::string> own = declared_names(strips.copies);
    for (const std::string& name : variables_of(strips.use)) {
      if (own.contains(name)) {
        return refuse(loop_named(*strips.loop) + "'" + name + "' is needed after the copies");
      }
    }
    if (Status status = require_only_read(strips, *written); !status) return status;
    if (Status status = require_same_places(strips); !status) return status;
    return require_private(strips);
  }

  // Whether the use does not write tiles in a way that no assignment to them shows.
  Status require_only_read(const StripLoop& strips, const std::set<std::string>& written) const {
    std::set<std::string> leads_to_tile;
    for (const Variable& tile : strips.tiles)
      leads_to_tile.insert(tile.name);
    const auto mentions_tile = [&](const ExprPtr& expr) {
      const std::set<std::string> names = variables_of(expr);
      return std::any_of(names.begin(), names.end(),
                         [&](const std::string& name) { return leads_to_tile.contains(name); });
    };
    std::string how;
    walk(strips.use, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration != nullptr && declaration->variable.is_pointer && declaration->value &&
          mentions_tile(declaration->value)) {
        leads_to_tile.insert(declaration->variable.name);
        if (written.contains(declaration->variable.name)) how = declaration->variable.name;
      }
      walk_own_expressions(stmt, [&](const Expr& node) {
        const auto* call = as<Call>(node);
        if (call == nullptr || is_pure(*call)) return;
        if (std::any_of(call->arguments.begin(), call->arguments.end(), mentions_tile))
          how = call->function;
      });
    });
    if (how.empty()) return {};
    return refuse(loop_named(*strips.loop) + "its use writes a tile by way of '" + how + "'");
  }

  // Whether each strip fills the same elements of the tiles. What a strip leaves as an earlier one
  // filled it would be in the other copy of the tile.
  Status require_same_places(const StripLoop& strips) const {
    std::set<std::string> varying = {strips.counted.name};
    walk(strips.copies, [&](const Stmt& stmt) {
      const auto* change = as<Assignment>(stmt);
      const auto* base = change != nullptr ? base_variable(*change->target) : nullptr;
      if (base != nullptr && analysis_.loop(base->name) == nullptr && !is_tile_store(stmt))
        varying.insert(base->name);
    });
    const auto varies = [&](const ExprPtr& index) {
      if (const auto polynomial = analysis_.polynomial(index))
        return polynomial->mentions(strips.counted.name);
      const std::set<std::string> names = variables_of(index);
      return analysis_.reads_memory(index) ||
             std::any_of(names.begin(), names.end(),
                         [&](const std::string& name) { return varying.contains(name); });
    };
    std::string moving;
    walk(strips.copies, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration != nullptr && (!declaration->value || varies(declaration->value)))
        varying.insert(declaration->variable.name);
      if (const std::string tile = tile_filled_below(stmt); !tile.empty() && is_asked(stmt, varies))
        moving = tile;
      if (!is_tile_store(stmt)) return;
      walk(target_of(stmt), [&](const Expr& node) {
        const auto* element = as<Subscript>(node);
        if (element != nullptr && varies(element->index))
          moving = base_variable(*target_of(stmt))->name;
      });
    });
    if (moving.empty()) return {};
    return refuse(loop_named(*strips.loop) + "which elements of '" + moving +
                  "' are filled differs from strip to strip");
  }

  // Whether a strip decides if, or how often, the statement's blocks run.
  template <typename Varies>
  static bool is_asked(const Stmt& stmt, const Varies& varies) {
    if (const auto* branch = as<Branch>(stmt)) return varies(branch->condition);
    const auto* loop = as<ForLoop>(stmt);
    if (loop == nullptr) return false;
    const auto counted = counted_loop_of(stmt);
    return !counted || varies(counted->first) || varies(counted->limit);
  }

  // A tile to which a statement in the statement's blocks stores; empty: none.
  std::string tile_filled_below(const Stmt& stmt) const {
    std::string tile;
    for (const Block* block : {&body_of(stmt), &otherwise_of(stmt)}) {
      walk(*block, [&](const Stmt& inner) {
        if (is_tile_store(inner)) tile = base_variable(*target_of(inner))->name;
      });
    }
    return tile;
  }

  // Whether the tiles are used nowhere else.
  Status require_private(const StripLoop& strips) const {
    std::string elsewhere;
    const std::function<void(const Block&)> look = [&](const Block& block) {
      for (const StmtPtr& stmt : block) {
        if (stmt.get() == strips.loop) continue;
        walk_own_expressions(*stmt, [&](const Expr& node) {
          for (const Variable& tile : strips.tiles) {
            if (is_named(node, tile.name)) elsewhere = tile.name;
          }
        });
        look(body_of(*stmt));
        look(otherwise_of(*stmt));
      }
    };
    look(kernel_.body);
    if (elsewhere.empty()) return {};
    return refuse("'" + elsewhere + "' is used outside of the loop as well");
  }

  bool is_tile_store(const Stmt& stmt) const { return stores_to_tile(stmt, analysis_); }

  const Kernel& kernel_;
  const Analysis& analysis_;
};

}  // namespace

std::int64_t StripLoop::bytes() const {
  std::int64_t result = 0;
  for (const Variable& tile : tiles)
    result += bytes_of(tile);
  return result;
}

bool is_index_arithmetic(const Stmt& stmt, const Analysis& analysis) {
  const auto* declaration = as<Declaration>(stmt);
  return declaration != nullptr && declaration->value && declaration->variable.extents.empty() &&
         !analysis.reads_memory(declaration->value) &&
         analysis.is_single_definition(declaration->variable.name);
}

bool stores_to_tile(const Stmt& stmt, const Analysis& analysis) {
  const auto* store = as<Assignment>(stmt);
  const auto* base = store != nullptr ? base_variable(*store->target) : nullptr;
  return base != nullptr && analysis.is_shared(base->name);
}

Result<StripLoop> find_strip_loop(const Kernel& kernel, const Analysis& analysis) {
  Error reason = refuse("no loop that all threads reach copies to shared tiles");
  for (const StmtPtr& loop : loops_all_reach(kernel.body, analysis)) {
    auto strips = StripFinder(kernel, analysis).find(loop);
    if (strips) return strips;
    // Other loops were never meant.
    const Block& body = body_of(*loop);
    if (std::any_of(body.begin(), body.end(),
                    [](const StmtPtr& stmt) { return is<Barrier>(stmt); })) {
      reason = strips.error();
    }
  }
  return reason;
}

}  // namespace regraph::rewrite
