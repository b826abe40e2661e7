// async_pipeline: tiles are copied by the hardware, several strips ahead.
//
//   for (k0 ...) { tile[...] = a[k0 ...]; barrier; use tile; barrier; }
// becomes, with S stages,
//   start copies of the first S - 1 strips, each a group
//   for (k0 ...) {
//     wait for the oldest group; barrier; start the copies of strip k0 + (S - 1) D; use its tile;
//   }
//
// What is copied passes no registers, and loads of several strips are in flight. One barrier a
// strip is enough: before it each thread's own copies have arrived, and after it the tile that is
// filled next was used by all.
//
// Where static arrays cannot hold the tiles, they lie in dynamic shared memory, for which a kernel
// may opt in to more.
//
// Legal where double_buffer is (strip_loop.h), when each copy stores an element as it was loaded,
// or zero (below), on devices that copy asynchronously.
#include "base/result.h"
#include "rewrite/analysis/loop_choice.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/analysis/strip_loop.h"
#include "rewrite/analysis/vector_type.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/dynamic_tiles.h"
#include "rewrite/transform/multi_buffering.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

// A strip loop whose tiles arrive several strips ahead.

class Pipeliner {
 public:
  Pipeliner(const Kernel& kernel, const StripLoop& strips, const Block& copies, int stages)
      : kernel_(kernel),
        tiles_(strips),
        strips_(strips),
        copies_(copies),
        stages_(stages),
        names_(kernel) {
    stage_ = names_.fresh("stage");
    ahead_ = names_.fresh("ahead");
  }

  // The kernel's body with `stages` copies of the tiles, filled by `copies`: the strip's copies as
  // asynchronous ones.
  Block run() {
    const bool is_on_top =
        std::any_of(kernel_.body.begin(), kernel_.body.end(),
                    [&](const StmtPtr& stmt) { return stmt.get() == strips_.loop; });
    return tiles_.kept(kernel_.body, stages_, [&] {
      Block result = pipelined();
      // Around again, the first copies must not overtake the last use.
      if (!is_on_top) result.push_back(barrier());
      return result;
    });
  }

 private:
  static StmtPtr commit() { return evaluate(call("__pipeline_commit", {})); }

  ExprPtr stage() const { return variable(stage_); }

  Block pipelined() {
    Block result;
    const std::int64_t stride = strips_.counted.stride;
    // All stages but one are on their way before the loop.
    const ExprPtr first = add(strips_.counted.first, multiply(variable(ahead_), integer(stride)));
    Block fill = {
        branch(tiles_.has_strip(first),
               names_.renamed(tiles_.on_tile(tiles_.in_strip(copies_, first), variable(ahead_)))),
        commit()};
    result.push_back(
        counted_loop(ahead_, integer(0), integer(stages_ - 1), 1, std::move(fill), kUnrollFully));
    result.push_back(declare_integer(stage_, integer(0), false));

    Block body;
    body.push_back(evaluate(call("__pipeline_wait_prior", {integer(stages_ - 2)})));
    // The strip has arrived for all threads, and all are done with the one before.
    body.push_back(barrier());
    const ExprPtr next = add(variable(strips_.counted.name), integer((stages_ - 1) * stride));
    const ExprPtr last = conditional(equals(stage(), integer(0)), integer(stages_ - 1),
                                     subtract(stage(), integer(1)));
    body.push_back(
        branch(tiles_.has_strip(next), tiles_.on_tile(tiles_.in_strip(copies_, next), last)));
    body.push_back(commit());
    append(tiles_.use_of(stage()), body);
    body.push_back(assign(stage(), conditional(equals(stage(), integer(stages_ - 1)), integer(0),
                                               add(stage(), integer(1)))));
    result.push_back(tiles_.loop_around(std::move(body)));
    return result;
  }

  const Kernel& kernel_;
  MultiBuffering tiles_;
  const StripLoop& strips_;
  const Block& copies_;
  int stages_;
  Names names_;
  std::string stage_;
  std::string ahead_;
};

// Copies to shared tiles that the hardware can do by itself.

// target = source where the condition holds or is null, else zero.
struct Move {
  ExprPtr target;
  ExprPtr from;
  ExprPtr condition;
};

// for (place < width) statement
struct OverPlaces {
  const ForLoop* loop = nullptr;
  std::string place;
  std::int64_t width = 0;
  const Assignment* assignment = nullptr;
};

std::optional<OverPlaces> over_places(const StmtPtr& stmt) {
  OverPlaces places;
  places.loop = as<ForLoop>(stmt);
  if (places.loop == nullptr || places.loop->body.size() != 1) return std::nullopt;
  const auto counted = counted_loop_of(*stmt);
  const auto trips = counted ? counted->trips_from_zero() : std::nullopt;
  if (!trips) return std::nullopt;
  places.place = counted->name;
  places.width = *trips;
  places.assignment = as<Assignment>(places.loop->body.front());
  if (places.assignment == nullptr || places.assignment->op != AssignmentOperator::assign)
    return std::nullopt;
  return places;
}

class AsynchronousCopy {
 public:
  explicit AsynchronousCopy(const Analysis& analysis) : analysis_(analysis) {}

  // The copies of a strip (StripLoop::copies) with asynchronous ones in place of their loads and
  // stores: an element of a tile from an element in global memory, or zero under a condition, and
  // vectors of them where both ends are contiguous and aligned. Error: refused, where what is
  // stored is more than an element as it was loaded.
  Result<Block> run(const Block& copies) {
    Block result;
    for (std::size_t at = 0; at < copies.size(); ++at) {
      const StmtPtr& stmt = copies[at];
      if (is_index_arithmetic(*stmt, analysis_)) {
        arithmetic_.push_back(stmt);
        result.push_back(stmt);
        continue;
      }
      if (is<Declaration>(*stmt) && at + 2 < copies.size()) {
        const StmtPtr moved = by_vectors(to<Declaration>(*stmt), copies[at + 1], copies[at + 2]);
        if (!moved) return not_an_element();
        result.push_back(moved);
        at += 2;
        continue;
      }
      if (const auto* store = as<Assignment>(*stmt)) {
        const bool is_plain =
            stores_to_tile(*stmt, analysis_) && store->op == AssignmentOperator::assign;
        const auto move = is_plain ? move_of(store->target, store->value) : std::nullopt;
        if (!move) return not_an_element();
        result.push_back(copy(*move, bytes_of(*move)));
        continue;
      }
      const bool holds_copies =
          is<ForLoop>(*stmt) || is<Scope>(*stmt) ||
          (is<Branch>(*stmt) && !analysis_.reads_memory(to<Branch>(*stmt).condition));
      if (!holds_copies) return not_an_element();
      auto body = run(body_of(*stmt));
      if (!body) return body;
      auto otherwise = run(otherwise_of(*stmt));
      if (!otherwise) return otherwise;
      result.push_back(with_blocks(written_out(stmt), *std::move(body), *std::move(otherwise)));
    }
    return result;
  }

 private:
  static Error not_an_element() {
    return refuse("a copy stores something else than an element of 4 or 8 bytes, or zero");
  }

  // A loop with as many iterations for all threads: what it starts is in flight together.
  static StmtPtr written_out(const StmtPtr& stmt) {
    const auto* loop = as<ForLoop>(*stmt);
    const auto counted = loop != nullptr ? counted_loop_of(*stmt) : std::nullopt;
    if (!counted || !counted->trips_from_zero()) return stmt;
    return source::loop(loop->init, loop->condition, loop->step, loop->body, kUnrollFully);
  }

  // The element of a global array, null for anything else.
  const Subscript* global_element(const ExprPtr& expr) const {
    const auto* element = as<Subscript>(expr);
    const auto* base = element != nullptr ? as<VariableReference>(element->base) : nullptr;
    return base != nullptr && analysis_.is_global_pointer(base->name) ? element : nullptr;
  }

  std::optional<Move> move_of(const ExprPtr& target, const ExprPtr& value) const {
    Move move;
    move.target = target;
    move.from = value;
    if (const auto* choice = as<Conditional>(value)) {
      if (!is_zero(choice->otherwise) || analysis_.reads_memory(choice->condition))
        return std::nullopt;
      move.from = choice->then;
      move.condition = choice->condition;
    }
    if (global_element(move.from) == nullptr || bytes_of(move) == 0) return std::nullopt;
    // No conversion on the way.
    if (!move.target->type || move.target->type != move.from->type) return std::nullopt;
    return move;
  }

  static std::int64_t bytes_of(const Move& move) {
    if (!move.from->type) return 0;
    const auto bytes = static_cast<std::int64_t>(size_in_bytes(*move.from->type));
    return bytes == 4 || bytes == 8 ? bytes : 0;
  }

  static StmtPtr copy(const Move& move, std::int64_t bytes) {
    std::vector<ExprPtr> arguments = {address(move.target), address(move.from), integer(bytes)};
    if (move.condition) {
      arguments.push_back(conditional(move.condition, integer(0), integer(bytes)));
    }
    return evaluate(call("__pipeline_memcpy_async", std::move(arguments)));
  }

  // What smem_tile(copy=vector) makes:
  //   values[W]; if (whole) { vector = load; values[j] = vector.j } else for (p) values[p] = element;
  //   for (p) tile[... + p] = values[p];
  StmtPtr by_vectors(const Declaration& values, const StmtPtr& loads, const StmtPtr& stores) const {
    const auto* choice = as<Branch>(loads);
    const auto store = over_places(stores);
    if (values.value || choice == nullptr || !store || choice->otherwise.size() != 1 ||
        !is_value(store->assignment->value, values, store->place)) {
      return nullptr;
    }
    const auto elements = over_places(choice->otherwise.front());
    if (!elements || elements->width != store->width ||
        !is_value(elements->assignment->target, values, elements->place)) {
      return nullptr;
    }
    const ExprPtr value =
        rewrite_expr(elements->assignment->value,
                     replace_variable(elements->place, source::variable(store->place)));
    const auto guarded = move_of(store->assignment->target, value);
    const ExprPtr vector = vector_source(*choice, values, store->width);
    if (!guarded || !vector || !analysis_.is_global_pointer(base_variable(*vector)->name))
      return nullptr;
    // The two versions read the same elements.
    const Move first = first_of(*guarded, store->place);
    if (!equal(first.from, vector)) return nullptr;

    const std::int64_t bytes = bytes_of(*guarded);
    Block whole;
    if (is_aligned_run(*store)) {
      Move wide = first;
      wide.from = vector;
      wide.condition = nullptr;
      whole.push_back(copy(wide, bytes * store->width));
    } else {
      Move one = *guarded;
      one.condition = nullptr;
      whole.push_back(over(*store, copy(one, bytes)));
    }
    return branch(choice->condition, std::move(whole), {over(*store, copy(*guarded, bytes))});
  }

  // values[place]
  static bool is_value(const ExprPtr& expr, const Declaration& values, const std::string& place) {
    const auto* element = as<Subscript>(expr);
    return element != nullptr && is_named(element->base, values.variable.name) &&
           is_named(element->index, place);
  }

  static StmtPtr over(const OverPlaces& places, StmtPtr stmt) {
    return counted_loop(places.place, integer(0), integer(places.width), 1, {std::move(stmt)},
                        kUnrollFully);
  }

  // The move for place 0, as it is written where the place is added last.
  static Move first_of(const Move& move, const std::string& place) {
    const auto without = [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      const auto* sum = as_binary(expr, BinaryOperator::add);
      if (sum != nullptr && is_named(sum->right, place)) return sum->left;
      if (is_named(expr, place)) return integer(0);
      return std::nullopt;
    };
    Move result;
    result.target = rewrite_expr(move.target, without);
    result.from = rewrite_expr(move.from, without);
    return result;
  }

  // The first element of what the whole version loads: `vector = ((T4*)&a[i])[0]; values[j] =
  // vector.j` in order. Null for anything else.
  static ExprPtr vector_source(const Branch& choice, const Declaration& values,
                               std::int64_t width) {
    if (static_cast<std::int64_t>(choice.body.size()) != width + 1) return nullptr;
    const auto* vector = as<Declaration>(choice.body.front());
    if (vector == nullptr || !vector->value) return nullptr;
    for (int number = 0; number < width; ++number) {
      const auto* part = as<Assignment>(choice.body[static_cast<std::size_t>(number) + 1]);
      const auto* element = part != nullptr ? as<Subscript>(part->target) : nullptr;
      const auto* component = part != nullptr ? as<Member>(part->value) : nullptr;
      const bool in_order = element != nullptr && component != nullptr &&
                            is_named(element->base, values.variable.name) &&
                            is_number(element->index, number) &&
                            is_named(component->object, vector->variable.name) &&
                            component->name == component_name(number);
      if (!in_order) return nullptr;
    }
    const auto* load = as<Subscript>(vector->value);
    const auto* view =
        load != nullptr && is_number(load->index, 0) ? as<Cast>(load->base) : nullptr;
    const ExprPtr place = view != nullptr ? addressed(*view->operand) : nullptr;
    const auto* element = place ? as<Subscript>(place) : nullptr;
    return element != nullptr && is<VariableReference>(element->base) ? place : nullptr;
  }

  // Whether the elements lie one behind the other in the tile, from where a vector may.
  bool is_aligned_run(const OverPlaces& store) const {
    const std::vector<ExprPtr> indices = indices_of(*store.assignment->target);
    const auto* tile = base_variable(*store.assignment->target);
    const Variable* variable = tile != nullptr ? analysis_.local(tile->name) : nullptr;
    if (variable == nullptr || variable->extents.size() != indices.size() ||
        variable->alignment != kWidestAccess || variable->extents.back() % store.width != 0) {
      return false;
    }
    for (std::size_t at = 0; at + 1 < indices.size(); ++at) {
      if (variables_of(indices[at]).contains(store.place)) return false;
    }
    const auto* sum = as_binary(indices.back(), BinaryOperator::add);
    return sum != nullptr && is_named(sum->right, store.place) &&
           is_multiple(sum->left, store.width);
  }

  // n * W, or the name of that.
  bool is_multiple(const ExprPtr& expr, std::int64_t width) const {
    if (const auto* product = as_binary(expr, BinaryOperator::multiply)) {
      const auto* factor = as<IntegerLiteral>(product->right);
      return factor != nullptr && factor->value % width == 0;
    }
    const auto* name = as<VariableReference>(expr);
    if (name == nullptr) return false;
    for (const StmtPtr& stmt : arithmetic_) {
      const auto& declaration = to<Declaration>(*stmt);
      if (declaration.variable.name == name->name) return is_multiple(declaration.value, width);
    }
    return false;
  }

  const Analysis& analysis_;
  Block arithmetic_;  // declarations of indices so far
};

// Loops whose iterations all take the same side of a choice.

// The choice that ends the body and asks for nothing that an iteration makes; null: there is none.
const Branch* choice_of(const ForLoop& loop) {
  const Branch* choice = loop.body.empty() ? nullptr : as<Branch>(loop.body.back());
  if (choice == nullptr || choice->otherwise.empty()) return nullptr;
  const bool declares = std::all_of(loop.body.begin(), std::prev(loop.body.end()),
                                    [](const StmtPtr& stmt) { return is<Declaration>(*stmt); });
  const std::set<std::string> asked = variables_of(choice->condition);
  const auto made = declared_names(loop.body);
  const auto* counter = loop.declaration();
  const bool is_same = counter != nullptr && !asked.contains(counter->variable.name) &&
                       std::none_of(made.begin(), made.end(),
                                    [&](const std::string& name) { return asked.contains(name); });
  return declares && is_same ? choice : nullptr;
}

StmtPtr with_side(const ForLoop& loop, const Block& side, int unroll) {
  Block body(loop.body.begin(), std::prev(loop.body.end()));
  body.insert(body.end(), side.begin(), side.end());
  return source::loop(loop.init, loop.condition, loop.step, std::move(body), unroll);
}

// `for (...) { declarations; if (c) X else Y }`, where c is the same in all iterations, as
// `if (c) for (...) { declarations; X } else for (...) { declarations; Y }`, the second loop not
// written out. Other blocks are returned as they are.
Block with_unswitched_loop(Block block, Names& names) {
  const auto* loop = block.size() == 1 ? as<ForLoop>(block.front()) : nullptr;
  const Branch* choice = loop != nullptr ? choice_of(*loop) : nullptr;
  if (choice == nullptr) return block;
  return {branch(choice->condition, {with_side(*loop, choice->body, loop->unroll)},
                 names.renamed({with_side(*loop, choice->otherwise, kNeverUnroll)}))};
}

constexpr const char* kHeader = "cuda_pipeline";

struct Pipeline {
  StripLoop strips;
  Block copies;  // of one strip, asynchronous
  int stages = 0;
  // As they are afterwards, where they have to lie in dynamic shared memory.
  std::vector<Variable> dynamic_tiles;
};

class AsyncPipeline final : public PlacedStep<Pipeline> {
 public:
  std::string_view id() const override { return "async_pipeline"; }
  std::vector<StepParameters> settings() const override {
    return {{{"stages", "2"}}, {{"stages", "3"}}, {{"stages", "4"}}};
  }

 protected:
  Requirements requirements() const override {
    return {.distinct_buffers = "what is copied early could change",
            .shared = SharedMemory::some,
            .known_calls = true};
  }
  Result<Pipeline> find(const KernelAnalysis& kernel,
                        const StepParameters& parameters) const override {
    auto stages = integer_parameter(parameters, "stages", 2);
    if (!stages) return stages.error();
    if (!copies_asynchronously(kernel.limits().architecture))
      return refuse(kernel.limits().architecture + " has no asynchronous copies");
    Pipeline pipeline;
    pipeline.stages = *stages;
    auto strips = find_strip_loop(kernel.kernel(), kernel.analysis());
    if (!strips) return strips.error();
    pipeline.strips = std::move(*strips);
    auto copies = AsynchronousCopy(kernel.analysis()).run(pipeline.strips.copies);
    if (!copies) return copies.error();
    Names names(kernel.kernel());
    for (StmtPtr& stmt : *copies)
      append(with_unswitched_loop({std::move(stmt)}, names), pipeline.copies);
    if (Status status = place_tiles(kernel, pipeline); !status) return status.error();
    return pipeline;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const Pipeline& pipeline) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body =
        Pipeliner(kernel.kernel(), pipeline.strips, pipeline.copies, pipeline.stages).run();
    if (!pipeline.dynamic_tiles.empty()) {
      DynamicTiles moved = with_dynamic_tiles(result.unit, pipeline.dynamic_tiles);
      result.unit.kernel.body = std::move(moved.body);
      result.plan.launches.front().dynamic_shared_bytes = IntegerExpression(moved.bytes);
    }
    if (result.unit.before.find(kHeader) == std::string::npos)
      result.unit.before = std::string("#include <") + kHeader + ".h>\n\n" + result.unit.before;
    rely_on(result, kNeedsDistinctBuffers);
    return result;
  }

 private:
  // Chooses where the copies of the tiles lie.
  static Status place_tiles(const KernelAnalysis& kernel, Pipeline& pipeline) {
    const std::string what = std::to_string(pipeline.stages) + " copies of the tiles need";
    std::vector<Variable> tiles = pipeline.strips.tiles;
    const std::int64_t rest = shared_bytes(kernel.kernel()) - pipeline.strips.bytes();
    const std::int64_t bytes = rest + pipeline.stages * pipeline.strips.bytes();
    for (Variable& tile : tiles)
      tile.extents.insert(tile.extents.begin(), pipeline.stages);
    const DeviceLimits& limits = kernel.limits();
    const bool is_dynamic = limits.shared_bytes_per_block_opt_in > limits.shared_bytes_per_block &&
                            bytes > limits.shared_bytes_per_block &&
                            can_be_dynamic(kernel, pipeline.strips.tiles);
    if (!is_dynamic) return require_shared_bytes(bytes, kernel, what);
    if (Status status = require_shared_bytes(rest, kernel, "what is beside the tiles needs");
        !status)
      return status;
    const std::int64_t most = limits.shared_bytes_per_block_opt_in;
    if (rest + dynamic_bytes(tiles) > most) {
      return refuse(what + " " + std::to_string(rest + dynamic_bytes(tiles)) +
                    " bytes of shared memory, a block has " + std::to_string(most) + " at most");
    }
    pipeline.dynamic_tiles = std::move(tiles);
    return {};
  }

  // Whether nothing else lies in dynamic shared memory, nor needs the tiles' own form.
  static bool can_be_dynamic(const KernelAnalysis& kernel, const std::vector<Variable>& tiles) {
    const auto launch = kernel.launch();
    if (!launch || !((*launch)->dynamic_shared_bytes == IntegerExpression(0))) return false;
    const bool is_used = any_statement(kernel.kernel().body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      return declaration != nullptr && declaration->variable.storage == Storage::dynamic_shared;
    });
    return !is_used && std::all_of(tiles.begin(), tiles.end(), [&](const Variable& tile) {
      return tile.scalar && is_fully_indexed(kernel.kernel(), tile);
    });
  }

  // From sm_80 on.
  static bool copies_asynchronously(const std::string& architecture) {
    const std::size_t digits = architecture.find_first_of("0123456789");
    if (digits == std::string::npos) return false;
    int number = 0;
    std::from_chars(architecture.data() + digits, architecture.data() + architecture.size(),
                    number);
    return number >= 80;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_async_pipeline() {
  return std::make_unique<AsyncPipeline>();
}

}  // namespace regraph::rewrite
