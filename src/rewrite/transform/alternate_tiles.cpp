#include "rewrite/transform/alternate_tiles.h"

#include "rewrite/transform/kept_tiles.h"
#include "rewrite/transform/names.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace regraph::rewrite {

namespace {

class Alternator {
 public:
  Alternator(const Kernel& kernel, const StripLoop& strips, const StripCopies& copies)
      : kernel_(kernel), tiles_(strips), strips_(strips), copies_(copies), names_(kernel) {
    buffer_ = names_.fresh("buffer");
  }

  Block run() {
    return tiles_.kept(kernel_.body, 2, [&] { return alternating(); });
  }

 private:
  ExprPtr next_strip() const {
    return add(source::variable(strips_.counted.name), integer(strips_.counted.stride));
  }

  Block alternating() {
    Block result;
    Block filled = names_.renamed(
        tiles_.on_tile(tiles_.in_strip(strips_.copies, strips_.counted.first), integer(0)));
    result.push_back(branch(tiles_.has_strip(strips_.counted.first), std::move(filled)));
    result.push_back(declare_integer(buffer_, integer(0), false));
    result.push_back(barrier());

    const ExprPtr current = source::variable(buffer_);
    const ExprPtr other = subtract(integer(1), current);
    Block held;
    Block loads = copies_.declarations;
    Block stores = copies_.declarations;
    for (const CopyPart& part : copies_.parts)
      divide(part, held, loads, stores);
    stores = names_.renamed(stores);
    Block body = std::move(held);
    body.push_back(branch(tiles_.has_strip(next_strip()), tiles_.in_strip(loads, next_strip())));
    Block use = tiles_.on_tile(strips_.use, current);
    if (strips_.active) use = {branch(strips_.active, std::move(use))};
    append(std::move(use), body);
    body.push_back(branch(tiles_.has_strip(next_strip()),
                          tiles_.on_tile(tiles_.in_strip(stores, next_strip()), other)));
    body.push_back(barrier());
    body.push_back(assign(current, other));
    // The loop itself, with another body.
    const auto& loop = source::to<ForLoop>(*strips_.loop);
    result.push_back(
        source::loop(loop.init, loop.condition, loop.step, std::move(body), loop.unroll));
    return result;
  }

  // Adds the part's registers, its loads and its stores.
  void divide(const CopyPart& part, Block& held, Block& loads, Block& stores) {
    std::map<std::string, std::string> registers;  // name in the part -> name of the registers
    const ExprPtr place =
        part.loop != nullptr ? source::variable(part.loop->declaration()->variable.name) : nullptr;
    const auto hold = [&](Variable variable, const std::string& stem) {
      std::string name = names_.fresh(stem);
      variable.name = name;
      variable.is_const = false;
      if (part.loop != nullptr) variable.extents.insert(variable.extents.begin(), part.count);
      held.push_back(declare(std::move(variable), nullptr));
      return name;
    };
    const auto held_at = [&](const std::string& name, std::optional<ScalarType> type) {
      const ExprPtr base = source::variable(name, type);
      return place ? element(base, {place}) : base;
    };
    const auto on_registers = [&](const Block& block) {
      return rewrite_expressions(block, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
        const auto* variable = as<VariableReference>(expr);
        const auto found = variable != nullptr ? registers.find(variable->name) : registers.end();
        if (found == registers.end()) return std::nullopt;
        return held_at(found->second, expr->type);
      });
    };

    Block load = part.declarations;
    for (const StmtPtr& stmt : part.loads) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr) {
        load.push_back(stmt);
        continue;
      }
      registers[declaration->variable.name] =
          hold(declaration->variable, declaration->variable.name + "_next");
      if (declaration->value) {
        load.push_back(
            assign(source::variable(declaration->variable.name, declaration->variable.scalar),
                   declaration->value));
      }
    }
    Block store = part.declarations;
    for (const StmtPtr& stmt : part.stores) {
      const auto* assignment = as<Assignment>(stmt);
      if (assignment == nullptr) {
        store.push_back(stmt);
        continue;
      }
      const VariableReference& tile = *base_variable(*assignment->target);
      const Variable& variable =
          *std::find_if(strips_.tiles.begin(), strips_.tiles.end(),
                        [&](const Variable& one) { return one.name == tile.name; });
      Variable one = local_variable("", variable.type, variable.scalar);
      const std::string name = hold(std::move(one), tile.name + "_next");
      load.push_back(assign(held_at(name, variable.scalar), assignment->value));
      store.push_back(assign(assignment->target, held_at(name, variable.scalar)));
    }
    append(part.around(on_registers(load)), loads);
    append(part.around(on_registers(store)), stores);
  }

  static void append(Block from, Block& to) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  }

  const Kernel& kernel_;
  KeptTiles tiles_;
  const StripLoop& strips_;
  const StripCopies& copies_;
  Names names_;
  std::string buffer_;
};

std::int64_t elements_of(const Variable& variable) {
  std::int64_t count = 1;
  for (const std::int64_t extent : variable.extents)
    count *= extent;
  return count;
}

}  // namespace

std::int64_t held_elements(const StripCopies& copies) {
  std::int64_t count = 0;
  for (const CopyPart& part : copies.parts) {
    std::int64_t once = 0;
    for (const StmtPtr& stmt : part.loads) {
      if (const auto* declaration = as<Declaration>(stmt))
        once += elements_of(declaration->variable);
    }
    for (const StmtPtr& stmt : part.stores)
      once += is<Assignment>(stmt) ? 1 : 0;
    count += once * part.count;
  }
  return count;
}

Block alternate_tiles(const Kernel& kernel, const StripLoop& strips, const StripCopies& copies) {
  return Alternator(kernel, strips, copies).run();
}

}  // namespace regraph::rewrite
