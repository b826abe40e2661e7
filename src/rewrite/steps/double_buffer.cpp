// double_buffer: the next strip's tiles are loaded while the current one's are used.
//
//   for (k0 ...) { tile[...] = a[k0 ...]; barrier; use tile; barrier; }
// becomes
//   fill tile[0] for the first strip; barrier;
//   for (k0 ...) {
//     next = a[k0 + D ...]; use tile[buffer]; tile[1 - buffer] = next; barrier; buffer = 1 - buffer;
//   }
//
// The loads are in flight while the strip is computed, and one barrier a strip is enough: what is
// written next was last read before the barrier of the strip before.
//
// Legal when the loop's copies read arrays that the kernel writes nowhere, and write tiles that
// nothing else in the kernel writes or reads but the strip's computation between the barriers,
// which writes neither. Where that is and what it needs: strip_loop.h.
#include "base/result.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/analysis/strip_loop.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/multi_buffering.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

// The copies of a strip loop, taken apart.

// One statement of the copies, in two parts: what loads, and what stores to tiles.
struct CopyPart {
  // The loop over what a thread copies, with as many iterations for all threads; null where the
  // statement stands by itself.
  const ForLoop* loop = nullptr;
  std::int64_t count = 1;  // iterations
  // Which threads copy, the same in every strip, over the declarations before it; null: all do.
  Block condition_declarations;
  ExprPtr condition;
  Block declarations;  // index arithmetic of an iteration, that loads and stores need
  Block loads;         // fills registers
  Block stores;        // puts registers into tiles

  // The statements under the part's condition, in its loop.
  [[nodiscard]] Block around(Block body) const;
};

// What is copied for a strip.
struct StripCopies {
  Block declarations;  // index arithmetic at its top, that all parts may need
  std::vector<CopyPart> parts;
};

class CopySplitter {
 public:
  CopySplitter(const StripLoop& strips, const Analysis& analysis)
      : strips_(strips), analysis_(analysis) {}

  // The parts of the copies. Error: refused, where a copy cannot be taken apart.
  Result<StripCopies> run() const {
    StripCopies copies;
    for (const StmtPtr& stmt : strips_.copies) {
      if (is_index_arithmetic(*stmt, analysis_)) {
        copies.declarations.push_back(stmt);
        continue;
      }
      CopyPart part;
      Block body = {stmt};
      if (const auto* loop = as<ForLoop>(stmt)) {
        const auto counted = counted_loop_of(*stmt);
        const auto trips = counted ? counted->trips_from_zero() : std::nullopt;
        if (!trips || *trips < 1) {
          return refuse(
              "the copies of the loop over strips: threads copy different numbers of elements, or "
              "how many is not known");
        }
        part.loop = loop;
        part.count = *trips;
        body = loop->body;
      } else if (const auto* scope = as<Scope>(stmt)) {
        body = scope->body;
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
    return any_statement(Block{stmt}, [&](const Stmt& inner) { return is_tile_store(inner); });
  }

  // Where only some threads copy, if nothing else is done.
  void take_condition(Block& body, CopyPart& part) const {
    if (body.empty()) return;
    const auto* branch = as<Branch>(body.back());
    const bool is_guard =
        branch != nullptr && branch->otherwise.empty() &&
        !analysis_.reads_memory(branch->condition) &&
        std::all_of(body.begin(), std::prev(body.end()),
                    [&](const StmtPtr& stmt) { return is_index_arithmetic(*stmt, analysis_); });
    if (!is_guard) return;
    part.condition_declarations.assign(body.begin(), std::prev(body.end()));
    part.condition = branch->condition;
    body = Block(branch->body);
  }

  Status split(const Block& body, CopyPart& part) const {
    for (const StmtPtr& stmt : body) {
      if (is_index_arithmetic(*stmt, analysis_)) {
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
             return is_index_arithmetic(*inner, analysis_) ||
                    (only_stores(inner) && !analysis_.reads_memory(value_of(*inner)));
           });
  }

  const StripLoop& strips_;
  const Analysis& analysis_;
};

Block CopyPart::around(Block body) const {
  if (condition) {
    Block guarded = condition_declarations;
    guarded.push_back(source::branch(condition, std::move(body)));
    body = std::move(guarded);
  }
  if (loop == nullptr) return body;
  return {source::loop(loop->init, loop->condition, loop->step, std::move(body), kUnrollFully)};
}

// A strip loop with its tiles kept twice.

// Elements that a thread holds in registers on their way to a tile, at most: a quarter of what it
// has for a block of 256 threads on a full multiprocessor.
inline constexpr std::int64_t kMostHeldElements = 64;

class Alternator {
 public:
  Alternator(const Kernel& kernel, const StripLoop& strips, const StripCopies& copies)
      : kernel_(kernel), tiles_(strips), strips_(strips), copies_(copies), names_(kernel) {
    buffer_ = names_.fresh("buffer");
  }

  // The kernel's body with the next strip loaded while the current one is used.
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
    append(tiles_.use_of(current), body);
    body.push_back(branch(tiles_.has_strip(next_strip()),
                          tiles_.on_tile(tiles_.in_strip(stores, next_strip()), other)));
    body.push_back(barrier());
    body.push_back(assign(current, other));
    result.push_back(tiles_.loop_around(std::move(body)));
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

  const Kernel& kernel_;
  MultiBuffering tiles_;
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

// Elements that a thread would hold.
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

struct Alternation {
  StripLoop strips;
  StripCopies copies;
};

class DoubleBuffer final : public PlacedStep<Alternation> {
 public:
  std::string_view id() const override { return "double_buffer"; }
  std::vector<StepParameters> settings() const override { return {{}}; }

 protected:
  Requirements requirements() const override {
    return {.distinct_buffers = "what is loaded early could change",
            .shared = SharedMemory::some,
            .known_calls = true};
  }
  Result<Alternation> find(const KernelAnalysis& kernel, const StepParameters&) const override {
    auto strips = find_strip_loop(kernel.kernel(), kernel.analysis());
    if (!strips) return strips.error();
    auto copies = CopySplitter(*strips, kernel.analysis()).run();
    if (!copies) return copies.error();
    if (const std::int64_t held = held_elements(*copies); held > kMostHeldElements) {
      return refuse("a thread would hold " + std::to_string(held) + " elements of the next tiles");
    }
    const std::int64_t bytes = shared_bytes(kernel.kernel()) + strips->bytes();
    if (Status status = require_shared_bytes(bytes, kernel, "two copies of the tiles need");
        !status) {
      return status.error();
    }
    return Alternation{std::move(*strips), std::move(*copies)};
  }

  KernelState rewrite(const KernelAnalysis& kernel, const Alternation& alternation) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body =
        Alternator(kernel.kernel(), alternation.strips, alternation.copies).run();
    rely_on(result, kNeedsDistinctBuffers);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_double_buffer() {
  return std::make_unique<DoubleBuffer>();
}

}  // namespace regraph::rewrite
