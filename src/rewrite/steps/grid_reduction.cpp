// grid_reduction: elements that all add to one place are added up by blocks first.
//
//   if (i < n) atomicAdd(total, f(i));
// becomes, with T threads a block that take R vectors of W elements each,
//   sum = f of the block's T * R * W elements; sum over the block by shuffles;
//   if (threadIdx.x == 0) atomicAdd(total, sum);
//
// Legal when a thread is known by its global index alone and does nothing but to add at a place
// that is the same for all and that nothing else touches: atomics without a result come in any
// order (floating sums: with the problem's leave). Elements of a whole block's share are all there,
// so vectors of what is read at the index are too; the others go one by one.
#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "affine/size_expression.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/macro_step.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/disaggregated_atomics.h"
#include "rewrite/transform/element_sum.h"
#include "rewrite/transform/unused_integers.h"
#include "rewrite/transform/vector_code.h"
#include "rewrite/transform/warp_shuffle.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace regraph::rewrite {
namespace {

// A sum over all elements, put together by the threads of a block before it is added.

struct SumShape {
  int threads = 0;  // of a block, a power of two, at least a warp
  int width = 0;    // elements next to each other that a thread takes, as vectors
  int rounds = 0;   // how often it does so
  [[nodiscard]] int elements_per_block() const { return threads * width * rounds; }
};

constexpr const char* kThread = "threadIdx.x";

class SumCode {
 public:
  SumCode(const KernelForm& form, const ElementSum& sum, const SumShape& shape)
      : form_(form), sum_(sum), shape_(shape), names_(form.kernel) {
    total_ = Reduction({names_.fresh("sum"), sum.type, sum.scalar});
    first_ = names_.fresh("first");
    element_ = names_.fresh("i");
  }

  Block run() {
    const ExprPtr count = to_expression(sum_.count);
    const ExprPtr per_block = integer(shape_.elements_per_block());
    Block result = {
        total_.declared(zero_of(total_.scalar)),
        declare_integer(first_, multiply(cast("int", source::builtin("blockIdx.x")), per_block))};
    const ExprPtr whole =
        binary(BinaryOperator::less_equal, source::add(first(), per_block), count);
    Block full = {full_rounds()};
    Block rest = {counted_loop(element_,
                               source::add(first(), cast("int", source::builtin(kThread))), count,
                               shape_.threads, element({}))};
    result.push_back(branch(whole, std::move(full), names_.renamed(rest)));
    add_up(result);
    return result;
  }

 private:
  ExprPtr first() const { return variable(first_); }

  // An atomic converts what it adds before it does.
  ExprPtr added() const {
    if (sum_.value->type == sum_.scalar) return sum_.value;
    return with_type(cast(sum_.type, sum_.value), sum_.scalar);
  }

  // What a thread does for element `element_`; streams are read from these registers.
  Block element(const std::map<std::string, ExprPtr>& registers) const {
    const ExprPtr index = variable(element_);
    Block body = rewrite_statements(sum_.element, [&](const StmtPtr& stmt) -> std::optional<Block> {
      if (stmt.get() != sum_.atomic) return std::nullopt;
      return Block{assign(total_.value(), AssignmentOperator::add, added())};
    });
    body = rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      if (const auto* access = as<Subscript>(expr)) {
        const auto* base = as<VariableReference>(access->base);
        const auto held = base != nullptr ? registers.find(base->name) : registers.end();
        if (held != registers.end() &&
            form_.analysis.polynomial(access->index) == global_index("x"))
          return held->second;
        return std::nullopt;
      }
      if (const auto* builtin = as<Builtin>(expr)) {
        // The kernel knows both together only.
        if (builtin->name == "blockIdx.x") return integer(0);
        if (builtin->name == kThread) return in_type_of(*expr, index);
        return std::nullopt;
      }
      if (!is<Binary>(expr) || form_.analysis.polynomial(expr) != global_index("x"))
        return std::nullopt;
      return in_type_of(*expr, index);
    });
    return without_unused_integers(std::move(body));
  }

  // for (round...) { vectors; for (place...) element }, unrolled.
  StmtPtr full_rounds() {
    const std::string round = names_.fresh("round");
    const std::string start = names_.fresh("start");
    const std::string place = names_.fresh("place");
    const ExprPtr step = integer(shape_.threads * shape_.width);
    Block body = {declare_integer(
        start,
        source::add(source::add(first(), multiply(variable(round), step)),
                    multiply(cast("int", source::builtin(kThread)), integer(shape_.width))))};
    std::map<std::string, ExprPtr> registers;
    if (shape_.width > 1) {
      for (const auto& [array, scalar] : sum_.streams) {
        const std::string values = names_.fresh(array + "_values");
        load(array, scalar, values, start, body);
        registers[array] = source::element(variable(values, scalar), {variable(place)});
      }
    }
    Block one = {declare_integer(element_, source::add(variable(start), variable(place)))};
    const Block code = element(registers);
    one.insert(one.end(), code.begin(), code.end());
    one = without_unused_integers(std::move(one));
    body.push_back(
        counted_loop(place, integer(0), integer(shape_.width), 1, std::move(one), kUnrollFully));
    return counted_loop(round, integer(0), integer(shape_.rounds), 1, std::move(body),
                        kUnrollFully);
  }

  void load(const std::string& array, ScalarType scalar, const std::string& values,
            const std::string& start, Block& out) {
    const VectorShape vector{scalar, shape_.width};
    out.push_back(declare(element_array(values, std::string(cuda_name(scalar)), vector), nullptr));
    append(load_elements(source::element(variable(values, scalar), {integer(0)}), vector,
                         source::element(variable(array, scalar), {variable(start)}),
                         names_.fresh(array + "_vector")),
           out);
  }

  // The block's sum goes to where all sums go.
  void add_up(Block& out) {
    const std::string offset = names_.fresh("offset");
    out.push_back(all_reduce(total_, kWarpLanes, offset, names_.fresh("other")));
    const int warps = shape_.threads / kWarpLanes;
    const ExprPtr thread = cast("int", source::builtin(kThread));
    if (warps > 1) {
      Variable slots = local_variable(names_.fresh(total_.variable + "_of_warp"), total_.type,
                                      total_.scalar, {warps});
      slots.storage = Storage::shared;
      const ExprPtr array = variable(slots.name, total_.scalar);
      out.insert(out.begin(), declare(slots, nullptr));
      const ExprPtr warp = divide(thread, integer(kWarpLanes));
      const ExprPtr lane = remainder(thread, integer(kWarpLanes));
      out.push_back(branch(equals(lane, integer(0)),
                           {assign(source::element(array, {warp}), total_.value())}));
      out.push_back(barrier());
      out.push_back(
          assign(total_.value(), source::element(array, {remainder(thread, integer(warps))})));
      out.push_back(all_reduce(total_, warps, names_.fresh("offset"), names_.fresh("other")));
    }
    out.push_back(branch(equals(thread, integer(0)),
                         {evaluate(call("atomicAdd", {sum_.target, total_.value()}))}));
  }

  const KernelForm& form_;
  const ElementSum& sum_;
  const SumShape& shape_;
  Names names_;
  Reduction total_;
  std::string first_;
  std::string element_;
};

// The kernel's body:
//
//   sum = 0; first = blockIdx.x * elements_per_block;
//   if (first + elements_per_block <= n) for each round: a vector of each stream, width elements
//   else for (i = first + threadIdx.x; i < n; i += threads) an element
//   sum of the block by shuffles; if (threadIdx.x == 0) atomicAdd(total, sum);
Block element_sum_code(const KernelForm& form, const ElementSum& sum, const SumShape& shape) {
  return SumCode(form, sum, shape).run();
}

struct SumPlace {
  ElementSum sum;
  SumShape shape;
  Launch launch;  // afterwards
};

// As one atomic an element, which is one thread.
class SumOfElements {
 public:
  // Error: refused, or invalid_argument.
  static Result<SumPlace> find(const KernelAnalysis& kernel, const StepParameters& parameters) {
    SumPlace place;
    if (Status status = read(parameters, place.shape); !status) return status.error();
    const Requirements needed = {.distinct_buffers = "", .lone_threads = true, .fixed_block = true};
    if (Status status = require(needed, kernel); !status) return status.error();
    place.launch = **kernel.launch();
    if (Status status = require_one_axis(place.launch); !status) return status.error();
    auto form = kernel.single_exit();
    if (!form) return form.error();
    if (Status status = require_uncoarsened_index((*form)->kernel, (*form)->analysis, "x"); !status)
      return status.error();
    auto sum = element_sum(**form, kernel.problem());
    if (!sum) return sum.error();
    place.sum = std::move(*sum);
    if (Status status = require_vectors(place, kernel.problem()); !status) return status.error();
    if (Status status = arrange(kernel, place); !status) return status.error();
    return place;
  }

  static KernelState rewrite(const KernelAnalysis& kernel, const SumPlace& place) {
    KernelState result = kernel.state();
    rely_on(result, kNeedsDistinctBuffers);
    if (is_floating(place.sum.scalar)) rely_on(result, kReordersSums);
    result.unit.kernel.body = element_sum_code(**kernel.single_exit(), place.sum, place.shape);
    relaunch(result, place.launch);
    kernel.note_reliance(result);
    return result;
  }

 private:
  static constexpr int kMostThreads = 1024;
  static constexpr int kMostRounds = 64;

  static Status read(const StepParameters& parameters, SumShape& shape) {
    const std::pair<const char*, int*> wanted[] = {
        {"threads", &shape.threads}, {"rounds", &shape.rounds}, {"width", &shape.width}};
    for (const auto& [name, number] : wanted) {
      auto value = integer_parameter(parameters, name);
      if (!value) return value.error();
      *number = *value;
    }
    const bool is_power = shape.threads > 0 && (shape.threads & (shape.threads - 1)) == 0;
    if (!is_power || shape.threads < 32 || shape.threads > kMostThreads) {
      return fail(ErrorCode::invalid_argument,
                  "'threads' must be a power of two between 32 and 1024");
    }
    if (shape.rounds < 1 || shape.rounds > kMostRounds)
      return fail(ErrorCode::invalid_argument, "'rounds' must be between 1 and 64");
    if (shape.width != 1 && shape.width != 2 && shape.width != 4 && shape.width != 8)
      return fail(ErrorCode::invalid_argument, "'width' must be 1, 2, 4 or 8");
    return {};
  }

  static Status require_one_axis(const Launch& launch) {
    for (const int axis : {1, 2}) {
      const bool is_one =
          extent(launch.block, axis) == 1 &&
          launch.grid[static_cast<std::size_t>(axis)].substitute(
              {{"by", IntegerExpression(1)}, {"bz", IntegerExpression(1)}}) == IntegerExpression(1);
      if (!is_one) return refuse("the grid has more than one axis");
    }
    return {};
  }

  static Status require_vectors(const SumPlace& place, const Problem& problem) {
    if (place.shape.width == 1) return {};
    if (place.sum.streams.empty())
      return refuse("nothing is read at the index itself, which vectors would hold");
    const bool is_one_access =
        std::any_of(place.sum.streams.begin(), place.sum.streams.end(), [&](const auto& stream) {
          return VectorShape{stream.second, place.shape.width}.bytes() <= kWidestAccess;
        });
    if (!is_one_access)
      return refuse("no array has elements of which one access moves " +
                    std::to_string(place.shape.width));
    for (const auto& [array, scalar] : place.sum.streams) {
      const VectorShape vector{scalar, place.shape.width};
      if (!can_be_moved(vector))
        return refuse("no access moves " + std::to_string(place.shape.width) + " elements of '" +
                      array + "'");
      if (vector.alignment() > problem.assume.align) {
        return refuse("'assume: {align}' grants only " + std::to_string(problem.assume.align) +
                      " bytes");
      }
    }
    return {};
  }

  static Status arrange(const KernelAnalysis& kernel, SumPlace& place) {
    const auto count = size_of(place.sum.count, kernel.problem());
    if (!count) return refuse("the number of elements is not made of the problem's sizes");
    const std::int64_t per_block = place.shape.elements_per_block();
    if (!fits_32_bits(place.sum.count + Polynomial(2 * per_block), kernel.problem()))
      return refuse("the elements' numbers would not fit 32 bits");
    place.launch.block = {static_cast<std::uint32_t>(place.shape.threads), 1, 1};
    place.launch.grid[0] =
        at_least_one(IntegerExpression::ceil_divide(*count, IntegerExpression(per_block)));
    for (const Symbols& sizes : kernel.problem().bench) {
      const auto concrete = concretise(place.launch, sizes);
      if (!concrete) return refuse("the launch would not be valid: " + concrete.error().message);
      if (concrete->grid.x < kLeastBlocks) {
        return refuse("a grid of " + std::to_string(concrete->grid.x) + " blocks would be left");
      }
    }
    return require_possible(place.launch, kernel);
  }

  // With fewer blocks than this the GPU runs empty.
  static constexpr std::uint32_t kLeastBlocks = 64;
};

class GridReduction final : public StepRewriter {
 public:
  std::string_view id() const override { return "grid_reduction"; }

  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* threads : {"256", "512"}) {
      for (const char* rounds : {"4", "8", "16"}) {
        for (const char* width : {"4", "8", "1"})
          result.push_back({{"threads", threads}, {"rounds", rounds}, {"width", width}});
      }
    }
    return result;
  }

  Status match(const KernelAnalysis& kernel, const StepParameters& parameters) const override {
    return with_threads_alone(kernel, [&](const KernelAnalysis& alone) -> Status {
      const auto place = SumOfElements::find(alone, parameters);
      return place ? Status() : Status(place.error());
    });
  }

  Result<KernelState> apply(const KernelAnalysis& kernel,
                            const StepParameters& parameters) const override {
    return with_threads_alone(kernel, [&](const KernelAnalysis& alone) -> Result<KernelState> {
      const auto place = SumOfElements::find(alone, parameters);
      if (!place) return place.error();
      return SumOfElements::rewrite(alone, *place);
    });
  }

 private:
  // Asks of the kernel as it is; with sums that threads put together as their own atomics; and of
  // that with its loop as threads.
  template <typename Ask>
  static auto with_threads_alone(const KernelAnalysis& kernel, const Ask& ask)
      -> decltype(ask(kernel)) {
    auto plain = ask(kernel);
    if (plain.ok() || plain.error().code != ErrorCode::refused) return plain;
    auto body = with_disaggregated_atomics(kernel);
    if (!body) return plain;
    KernelState state = kernel.state();
    state.unit.kernel.body = std::move(*body);
    kernel.note_reliance(state);
    const KernelAnalysis alone(state, kernel.problem(), kernel.limits());
    auto answer = ask(alone);
    if (answer.ok()) return answer;
    for (const MacroMember& member : loops_as_threads()) {
      const auto flat = apply_members(alone, {member});
      if (!flat) continue;
      auto of_flat = ask(KernelAnalysis(*flat, kernel.problem(), kernel.limits()));
      if (of_flat.ok()) return of_flat;
      answer = std::move(of_flat);
    }
    return answer;
  }

  static std::vector<MacroMember> loops_as_threads() {
    return {{"thread_per_element", {{}}}, {"parallel_loop", {{{"axis", "x"}, {"loop", "1"}}}}};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_grid_reduction() {
  return std::make_unique<GridReduction>();
}

}  // namespace regraph::rewrite
