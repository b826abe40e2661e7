// atomic_privatize: atomic updates of a small table in global memory go to a copy of the table in
// the block's shared memory, which is merged into the table at the end.
//
//   if (i < n) atomicAdd(&bins[data[i]], 1);
// becomes
//   clear bins_of_block; barrier; if (i < n) atomicAdd(&bins_of_block[data[i]], 1); barrier;
//   for each bin: atomicAdd(&bins[bin], bins_of_block[bin])
//
// With "rounds" the block first gets the work of several blocks, as in grid_stride.
//
// Legal when the kernel does nothing with the table but one kind of atomic whose result is not
// used, the operation can be done in any order (floating sums: with the problem's leave), and the
// table's length is known and fits. Indices are within the table, or the original would be wrong.
#include "rewrite/analysis/legality.h"
#include "rewrite/analysis/local_pointers.h"
#include "rewrite/analysis/names.h"
#include "rewrite/analysis/size_expression.h"
#include "rewrite/steps/steps.h"
#include "rewrite/transform/normal_form.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>

namespace regraph::rewrite {
namespace {

using source::Analysis;
using source::Block;
using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Kernel;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

constexpr int kWarpLanes = 32;

struct Table {
  const source::KernelParameter* parameter = nullptr;
  std::string function;
  IntegerExpression length;
  ExprPtr length_in_kernel;
};

// The table a statement updates, as atomicAdd(&table[index], value) or atomicAdd(table + index,
// value); "" for any other statement.
std::string updated_table(const Stmt& stmt) {
  if (stmt.kind != StmtKind::evaluate || !source::is_atomic(stmt.value->text) ||
      stmt.value->operands.size() != 2) {
    return "";
  }
  const ExprPtr& address = stmt.value->operands[0];
  if (address->kind == ExprKind::unary && address->text == "&" &&
      address->operands[0]->kind == ExprKind::index &&
      address->operands[0]->operands[0]->kind == ExprKind::variable) {
    return address->operands[0]->operands[0]->text;
  }
  if (address->kind == ExprKind::binary && address->text == "+" &&
      address->operands[0]->kind == ExprKind::variable) {
    return address->operands[0]->text;
  }
  return "";
}

ExprPtr updated_index(const Stmt& stmt) {
  const ExprPtr& address = stmt.value->operands[0];
  return address->kind == ExprKind::unary ? address->operands[0]->operands[1]
                                          : address->operands[1];
}

// The value that changes nothing, and the operation that merges two tables; null for others.
ExprPtr neutral_value(const std::string& function, ScalarType scalar) {
  const bool is_unsigned = scalar == ScalarType::u32 || scalar == ScalarType::u64;
  const bool is_wide = scalar == ScalarType::i64 || scalar == ScalarType::u64;
  if (function == "atomicAdd" || function == "atomicSub") return source::zero_of(scalar);
  if (is_floating(scalar)) return nullptr;
  if (function == "atomicOr" || function == "atomicXor") return source::integer(0);
  if (function == "atomicAnd") return source::integer(-1);
  if (is_wide) return nullptr;
  auto literal = [](const char* text, std::int64_t value, ScalarType type) {
    auto expr = std::make_shared<Expr>(*source::integer(value));
    expr->text = text;
    expr->type = type;
    return expr;
  };
  if (function == "atomicMax") {
    return is_unsigned ? source::integer(0) : literal("(-2147483647 - 1)", -2147483648LL, scalar);
  }
  if (function == "atomicMin") {
    return is_unsigned ? literal("4294967295u", 4294967295LL, scalar)
                       : literal("2147483647", 2147483647LL, scalar);
  }
  return nullptr;
}

class AtomicPrivatize final : public StepRewriter {
 public:
  std::string_view id() const override { return "atomic_privatize"; }
  std::vector<StepParameters> choices() const override {
    std::vector<StepParameters> result;
    for (const char* rounds : {"1", "64"}) {
      for (const char* copies : {"1", "2", "4"})
        result.push_back({{"copies", copies}, {"rounds", rounds}});
    }
    return result;
  }

  // A block of one round merges as often as it updates, so the rounds of grid_stride can come
  // along.
  Result<KernelState> apply(const KernelState& state, const StepParameters& parameters,
                            const Problem& problem) const override {
    auto rounds = integer_parameter(parameters, "rounds");
    if (!rounds) return rounds.error();
    if (*rounds < 2) return privatize(state, parameters, problem);
    auto looped = make_grid_stride()->apply(state, {{"rounds", parameters.at("rounds")}}, problem);
    if (!looped) return looped.error();
    return privatize(*looped, parameters, problem);
  }

 private:
  static Result<KernelState> privatize(const KernelState& state, const StepParameters& parameters,
                                       const Problem& problem) {
    auto copies = integer_parameter(parameters, "copies");
    if (!copies) return copies.error();
    if (*copies < 1) return fail(ErrorCode::invalid_argument, "'copies' must be at least 1");
    auto launch = only_launch(state);
    if (!launch) return launch.error();
    Kernel kernel = without_local_pointers(state.unit.kernel);
    if (Status status = require_transparent(state, Analysis(kernel)); !status)
      return status.error();
    auto body = without_early_returns(kernel.body);
    if (!body) return body.error();
    kernel.body = std::move(*body);
    auto table = find_table(kernel, problem);
    if (!table) return table.error();
    const std::uint64_t threads = (*launch)->block.count();
    if (threads < static_cast<std::uint64_t>(*copies) * kWarpLanes) {
      return refuse("the block of " + std::to_string(threads) + " threads has fewer warps than " +
                    std::to_string(*copies) + " copies");
    }
    KernelState result = state;
    result.unit.kernel = kernel;
    if (is_floating(*table->parameter->scalar)) {
      if (!problem.assume.reassociate) {
        return refuse("'" + table->parameter->name +
                      "' holds floating-point sums and the problem does not grant 'assume: "
                      "{reassociate: true}'");
      }
      rely_on(result, kReordersSums);
    }
    if (Status status = require_room(*table, *copies, **launch, kernel, problem); !status)
      return status.error();
    result.unit.kernel.body = privatized(kernel, *table, *copies, (*launch)->block);
    if (!table->length.is_constant()) {
      result.plan.launches.front().dynamic_shared_bytes = bytes_of(*table, *copies);
    }
    return result;
  }

  static IntegerExpression bytes_of(const Table& table, int copies) {
    const auto size = static_cast<std::int64_t>(size_in_bytes(*table.parameter->scalar));
    return IntegerExpression::multiply(table.length, IntegerExpression(size * copies));
  }

  static Result<Table> find_table(const Kernel& kernel, const Problem& problem) {
    Error reason = refuse("the kernel updates no array in global memory atomically");
    for (const source::KernelParameter& parameter : kernel.parameters) {
      if (!parameter.is_pointer || !parameter.scalar) continue;
      Table table;
      table.parameter = &parameter;
      std::size_t updates = 0;
      bool mixed = false;
      source::walk(kernel.body, [&](const Stmt& stmt) {
        if (updated_table(stmt) != parameter.name) return;
        ++updates;
        mixed = mixed || (!table.function.empty() && table.function != stmt.value->text);
        table.function = stmt.value->text;
      });
      if (updates == 0) continue;
      std::size_t mentions = 0;
      source::walk_expressions(kernel.body, [&](const Expr& expr) {
        if (expr.kind == ExprKind::variable && expr.text == parameter.name) ++mentions;
      });
      if (mixed || mentions != updates) {
        reason = refuse("'" + parameter.name +
                        "' is used for more than one kind of atomic without a result");
        continue;
      }
      if (!neutral_value(table.function, *parameter.scalar)) {
        reason = refuse(table.function + " on " + parameter.type +
                        " has no value to start a copy of '" + parameter.name + "' from");
        continue;
      }
      const auto argument =
          std::find_if(problem.arguments.begin(), problem.arguments.end(),
                       [&](const Argument& one) { return one.name == parameter.name; });
      if (argument == problem.arguments.end()) continue;
      table.length = IntegerExpression(1);
      for (const IntegerExpression& extent_value : argument->shape)
        table.length = IntegerExpression::multiply(table.length, extent_value);
      table.length_in_kernel = size_in_kernel(table.length, kernel, false);
      if (!table.length_in_kernel) {
        reason = refuse("the length " + table.length.text() + " of '" + parameter.name +
                        "' is not made of the kernel's parameters");
        continue;
      }
      return table;
    }
    return reason;
  }

  static Status require_room(const Table& table, int copies, const Launch& launch,
                             const Kernel& kernel, const Problem& problem) {
    const std::int64_t taken = shared_bytes(kernel);
    const IntegerExpression bytes = bytes_of(table, copies);
    if (!bytes.is_constant() && !(launch.dynamic_shared_bytes == IntegerExpression(0))) {
      return refuse("the kernel has dynamic shared memory already");
    }
    for (const std::vector<Symbols>* sizes : {&problem.tests, &problem.bench}) {
      for (const Symbols& symbols : *sizes) {
        auto needed = bytes.evaluate(symbols);
        if (!needed) return needed.error();
        if (*needed + taken > kStaticSharedLimitBytes) {
          return refuse("copies of '" + table.parameter->name + "' need " +
                        std::to_string(*needed) + " bytes of the " +
                        std::to_string(kStaticSharedLimitBytes - taken) + " that are left");
        }
      }
    }
    return {};
  }

  static Block privatized(const Kernel& kernel, const Table& table, int copies, const Dim3& block) {
    Names names(kernel);
    const std::string& global = table.parameter->name;
    const ScalarType scalar = *table.parameter->scalar;
    const std::string local = names.fresh(global + "_of_block");
    const std::string thread = names.fresh("thread");
    const std::string slot = names.fresh(global + "_slot");
    const auto threads = static_cast<std::int64_t>(block.count());
    const ExprPtr local_table = source::variable(local, scalar);
    const ExprPtr length = table.length_in_kernel;
    const bool is_static = length->kind == ExprKind::integer;

    source::Variable array;
    array.name = local;
    array.type = table.parameter->type;
    array.scalar = scalar;
    array.storage = is_static ? source::Storage::shared : source::Storage::dynamic_shared;
    array.extents = {is_static ? length->number * copies : 0};
    Block result = {source::declare(array, nullptr),
                    source::declare_integer(thread, linear_thread(block))};
    const ExprPtr all_slots = source::binary("*", length, source::integer(copies));
    result.push_back(
        source::counted_loop(slot, source::variable(thread), all_slots, threads,
                             {source::assign(source::element(local_table, {source::variable(slot)}),
                                             "=", neutral_value(table.function, scalar))}));
    result.push_back(source::barrier());

    // Neighbouring warps use different copies, so that they meet less often.
    const ExprPtr copy_start = source::binary(
        "*",
        source::binary("%",
                       source::binary("/", source::variable(thread), source::integer(kWarpLanes)),
                       source::integer(copies)),
        length);
    const Block body =
        source::rewrite_statements(kernel.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          if (updated_table(*stmt) != global) return std::nullopt;
          ExprPtr index = updated_index(*stmt);
          if (copies > 1) index = source::binary("+", copy_start, index);
          auto update = std::make_shared<Stmt>(*stmt);
          update->value = source::call(table.function,
                                       {source::unary("&", source::element(local_table, {index})),
                                        stmt->value->operands[1]});
          return Block{update};
        });
    result.insert(result.end(), body.begin(), body.end());
    result.push_back(source::barrier());

    const std::string merged = names.fresh(global + "_bin");
    // What was subtracted from a copy of zeros is negative already.
    const std::string merge = table.function == "atomicSub" ? "atomicAdd" : table.function;
    Block merges;
    for (int copy = 0; copy < copies; ++copy) {
      const ExprPtr place = source::binary("+", source::variable(merged),
                                           source::binary("*", length, source::integer(copy)));
      merges.push_back(source::evaluate(source::call(
          merge, {source::unary("&", source::element(source::variable(global, scalar),
                                                     {source::variable(merged)})),
                  source::element(local_table, {copy == 0 ? source::variable(merged) : place})})));
    }
    result.push_back(
        source::counted_loop(merged, source::variable(thread), length, threads, std::move(merges)));
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_atomic_privatize() {
  return std::make_unique<AtomicPrivatize>();
}

}  // namespace regraph::rewrite
