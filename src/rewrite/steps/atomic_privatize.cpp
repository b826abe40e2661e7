// atomic_privatize: atomic updates of a small table in global memory go to a copy of the table in
// the block's shared memory, which is merged into the table at the end.
//
//   if (i < n) atomicAdd(&bins[data[i]], 1);
// becomes
//   clear bins_of_block; barrier; if (i < n) atomicAdd(&bins_of_block[data[i]], 1); barrier;
//   for each bin: atomicAdd(&bins[bin], bins_of_block[bin])
//
// With "rounds" the block first gets the work of several blocks, as in grid_stride, and its threads
// load by vectors where vectorize_global applies, which gains nothing while atomics meet in global
// memory. Several copies are put together before they are merged.
//
// Legal when the kernel does nothing with the table but one kind of atomic whose result is not
// used, the operation can be done in any order (floating sums: with the problem's leave), and the
// table's length is known and fits. Indices are within the table, or the original would be wrong.
#include "rewrite/analysis/block_geometry.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/analysis/size_expression.h"
#include "rewrite/steps/macro_step.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/names.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>

namespace regraph::rewrite {
namespace {

using source::Block;
using source::Expr;
using source::ExprPtr;
using source::Kernel;
using source::Stmt;
using source::StmtPtr;

constexpr int kWarpLanes = 32;

struct Table {
  const source::KernelParameter* parameter = nullptr;
  std::string function;
  IntegerExpression length;
  ExprPtr length_in_kernel;
};

// atomicAdd(&table[index], value) or atomicAdd(table + index, value), as a statement;
// atomicAdd(table, value) is of element 0.
struct Update {
  std::string table;
  std::string function;
  ExprPtr index;
  ExprPtr value;
};

// Nothing for any other statement.
std::optional<Update> update_of(const Stmt& stmt) {
  const auto* evaluation = source::as<source::Evaluation>(stmt);
  if (evaluation == nullptr) return std::nullopt;
  const source::Call& call = evaluation->call();
  if (!source::is_atomic(call.function) || call.arguments.size() != 2) return std::nullopt;
  Update update{"", call.function, nullptr, call.arguments[1]};
  const auto table = source::some_variable(update.table);
  const auto index = source::any(update.index);
  const bool is_update =
      source::matches(call.arguments[0], source::address_of(source::subscript(table, index))) ||
      source::matches(call.arguments[0], source::sum(table, index));
  if (is_update) return update;
  if (!source::matches(call.arguments[0], table)) return std::nullopt;
  update.index = source::integer(0);
  return update;
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
  if (function == "atomicMax") {
    return is_unsigned ? source::integer(0)
                       : source::integer(-2147483648LL, "(-2147483647 - 1)", scalar);
  }
  if (function == "atomicMin") {
    return is_unsigned ? source::integer(4294967295LL, "4294967295u", scalar)
                       : source::integer(2147483647LL, "2147483647", scalar);
  }
  return nullptr;
}

// Emits the kernel with the block's copies of the table.
class Privatizer {
 public:
  Privatizer(const Kernel& kernel, const Table& table, int copies, const Dim3& block)
      : kernel_(kernel),
        table_(table),
        names_(kernel),
        copies_(copies),
        block_(block),
        scalar_(*table.parameter->scalar),
        local_(names_.fresh(table.parameter->name + "_of_block")),
        thread_(names_.fresh("thread")) {}

  Block run() {
    Block result = {source::declare(copies_variable(), nullptr),
                    source::declare_integer(thread_, linear_thread(block_)), clear(),
                    source::barrier()};
    const Block body = with_local_updates();
    result.insert(result.end(), body.begin(), body.end());
    result.push_back(source::barrier());
    result.push_back(merge());
    return result;
  }

 private:
  source::Variable copies_variable() const {
    const auto* length = source::as<source::IntegerLiteral>(table_.length_in_kernel);
    source::Variable array = source::local_variable(
        local_, table_.parameter->type, scalar_, {length != nullptr ? length->value * copies_ : 0});
    array.storage = length != nullptr ? source::Storage::shared : source::Storage::dynamic_shared;
    return array;
  }

  ExprPtr local_slot(const ExprPtr& index) const {
    return source::element(source::variable(local_, scalar_), {index});
  }

  // The block's threads go through `count` numbers in turn.
  StmtPtr for_all(const std::string& name, const ExprPtr& count, Block body) const {
    return source::counted_loop(name, source::variable(thread_), count,
                                static_cast<std::int64_t>(block_.count()), std::move(body));
  }

  StmtPtr clear() {
    const std::string slot = names_.fresh(table_.parameter->name + "_slot");
    return for_all(slot, source::multiply(table_.length_in_kernel, source::integer(copies_)),
                   {source::assign(local_slot(source::variable(slot)),
                                   neutral_value(table_.function, scalar_))});
  }

  Block with_local_updates() const {
    // Neighbouring warps use different copies, so that they meet less often.
    const ExprPtr warp = source::divide(source::variable(thread_), source::integer(kWarpLanes));
    const ExprPtr copy_start = source::multiply(source::remainder(warp, source::integer(copies_)),
                                                table_.length_in_kernel);
    return source::rewrite_statements(
        kernel_.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          const auto update = update_of(*stmt);
          if (!update || update->table != table_.parameter->name) return std::nullopt;
          const ExprPtr index =
              copies_ > 1 ? source::add(copy_start, update->index) : update->index;
          auto local = std::make_shared<source::Evaluation>(
              source::call(table_.function, {source::address(local_slot(index)), update->value}));
          local->line = stmt->line;
          return Block{local};
        });
  }

  StmtPtr merge() {
    const std::string merged = names_.fresh(table_.parameter->name + "_bin");
    const ExprPtr bin = source::variable(merged);
    const ExprPtr global =
        source::element(source::variable(table_.parameter->name, scalar_), {bin});
    // What was subtracted from a copy of zeros is negative already.
    const std::string function = table_.function == "atomicSub" ? "atomicAdd" : table_.function;
    const auto slot_of = [&](int copy) {
      return local_slot(copy == 0 ? bin
                                  : source::add(bin, source::multiply(table_.length_in_kernel,
                                                                      source::integer(copy))));
    };
    const auto update = [&](const ExprPtr& value) {
      return source::evaluate(source::call(function, {source::address(global), value}));
    };
    Block merges;
    if (function == "atomicAdd") {
      ExprPtr sum = slot_of(0);
      for (int copy = 1; copy < copies_; ++copy)
        sum = source::add(sum, slot_of(copy));
      merges.push_back(update(sum));
    } else {
      for (int copy = 0; copy < copies_; ++copy)
        merges.push_back(update(slot_of(copy)));
    }
    return for_all(merged, table_.length_in_kernel, std::move(merges));
  }

  const Kernel& kernel_;
  const Table& table_;
  Names names_;
  int copies_;
  Dim3 block_;
  ScalarType scalar_;
  std::string local_;
  std::string thread_;
};

bool updates_atomically(const Block& block) {
  bool found = false;
  source::walk(block, [&](const Stmt& stmt) { found = found || update_of(stmt).has_value(); });
  return found;
}

// A block of one round merges as often as it updates, so the rounds of grid_stride and the vectors
// of vectorize_global can come along: then the state is what those steps give.
struct TablePlace {
  std::shared_ptr<const KernelState> prepared;     // null: the state itself
  std::shared_ptr<const KernelAnalysis> analysis;  // of `prepared`
  Table table;
  int copies = 0;
};

class AtomicPrivatize final : public PlacedStep<TablePlace> {
 public:
  std::string_view id() const override { return "atomic_privatize"; }
  int position() const override { return 130; }
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* rounds : {"1", "64"}) {
      for (const char* copies : {"1", "2", "4", "8"})
        result.push_back({{"copies", copies}, {"rounds", rounds}});
    }
    return result;
  }

 protected:
  // This applies the steps that come along: whether the table is still one after them depends on
  // what they do to its analysis. Kernels without atomics do not get that far.
  Result<TablePlace> find(const KernelAnalysis& kernel,
                          const StepParameters& parameters) const override {
    TablePlace place;
    auto rounds = integer_parameter(parameters, "rounds");
    if (!rounds) return rounds.error();
    auto copies = integer_parameter(parameters, "copies");
    if (!copies) return copies.error();
    if (*copies < 1) return fail(ErrorCode::invalid_argument, "'copies' must be at least 1");
    place.copies = *copies;
    if (!updates_atomically(kernel.kernel().body))
      return refuse("the kernel updates no array in global memory atomically");
    std::vector<MacroMember> first;
    if (*rounds >= 2) {
      // Neighbouring threads take neighbouring elements, where a thread has several.
      first.push_back({"parallel_loop", {{{"axis", "x"}, {"loop", "1"}}}, true});
      // A loop over the grid gets its own rounds instead.
      first.push_back({"thread_per_element", {{}}, true});
      first.push_back({"vectorize_global", {{{"width", "4"}}}, true});
      first.push_back({"grid_stride", {{{"rounds", parameters.at("rounds")}}}});
    }
    if (!first.empty()) {
      auto prepared = apply_members(kernel, first);
      if (!prepared) return prepared.error();
      place.prepared = std::make_shared<const KernelState>(std::move(*prepared));
      place.analysis = std::make_shared<const KernelAnalysis>(*place.prepared, kernel.problem(),
                                                              kernel.limits());
    }
    const KernelAnalysis& state = place.analysis ? *place.analysis : kernel;
    auto table = table_of(state, *copies);
    if (!table) return table.error();
    place.table = std::move(*table);
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const TablePlace& place) const override {
    const KernelAnalysis& state = place.analysis ? *place.analysis : kernel;
    const Kernel& form = (*state.single_exit())->kernel;
    KernelState result = state.state();
    if (is_floating(*place.table.parameter->scalar)) rely_on(result, kReordersSums);
    Launch& launch = result.plan.launches.front();
    result.unit.kernel = form;
    result.unit.kernel.body = Privatizer(form, place.table, place.copies, launch.block).run();
    if (!place.table.length.is_constant()) {
      launch.dynamic_shared_bytes = bytes_of(place.table, place.copies);
    }
    return result;
  }

 private:
  // Error: refused.
  static Result<Table> table_of(const KernelAnalysis& state, int copies) {
    auto launch = state.launch();
    if (!launch) return launch.error();
    if (const Status& status = state.transparent(); !status) return status.error();
    auto form = state.single_exit();
    if (!form) return form.error();
    auto table = find_table(**form, state.problem());
    if (!table) return table.error();
    if (merges_shared_memory(**form, *table)) {
      return refuse("what is added to '" + table->parameter->name +
                    "' was collected in shared memory already");
    }
    const std::uint64_t threads = (*launch)->block.count();
    if (threads < static_cast<std::uint64_t>(copies) * kWarpLanes) {
      return refuse("the block of " + std::to_string(threads) + " threads has fewer warps than " +
                    std::to_string(copies) + " copies");
    }
    if (is_floating(*table->parameter->scalar) && !state.problem().assume.reassociate) {
      return refuse("'" + table->parameter->name +
                    "' holds floating-point sums and the problem does not grant 'assume: "
                    "{reassociate: true}'");
    }
    if (Status status = require_room(*table, copies, **launch, (*form)->kernel, state); !status)
      return status.error();
    return table;
  }

  static IntegerExpression bytes_of(const Table& table, int copies) {
    const auto size = static_cast<std::int64_t>(size_in_bytes(*table.parameter->scalar));
    return IntegerExpression::multiply(table.length, IntegerExpression(size * copies));
  }

  static Result<Table> find_table(const KernelForm& form, const Problem& problem) {
    Error reason = refuse("the kernel updates no array in global memory atomically");
    for (const source::KernelParameter& parameter : form.kernel.parameters) {
      if (!parameter.is_pointer || !parameter.scalar) continue;
      const auto function = only_function(form.kernel, parameter);
      if (!function) {
        reason = function.error();
        continue;
      }
      if (function->empty()) continue;
      if (form.analysis.is_viewed(parameter.name)) {
        reason = refuse("'" + parameter.name + "' is accessed as another type too");
        continue;
      }
      const auto argument =
          std::find_if(problem.arguments.begin(), problem.arguments.end(),
                       [&](const Argument& one) { return one.name == parameter.name; });
      if (argument == problem.arguments.end()) continue;
      Table table{&parameter, *function, IntegerExpression(1), nullptr};
      for (const IntegerExpression& extent_value : argument->shape)
        table.length = IntegerExpression::multiply(table.length, extent_value);
      table.length_in_kernel = size_in_kernel(table.length, form.kernel, form.analysis, false);
      if (!table.length_in_kernel) {
        reason = refuse("the length " + table.length.text() + " of '" + parameter.name +
                        "' is not made of the kernel's parameters");
        continue;
      }
      return table;
    }
    return reason;
  }

  // Whether all that reaches a table of several elements comes from shared memory, as this step
  // leaves it: each block updates each element once.
  static bool merges_shared_memory(const KernelForm& form, const Table& table) {
    if (table.length == IntegerExpression(1)) return false;
    bool all_shared = true;
    source::walk(form.kernel.body, [&](const Stmt& stmt) {
      const auto update = update_of(stmt);
      if (!update || update->table != table.parameter->name) return;
      bool reads_shared = false;
      source::walk(update->value, [&](const Expr& part) {
        const auto* variable = source::as<source::VariableReference>(part);
        reads_shared =
            reads_shared || (variable != nullptr && form.analysis.is_shared(variable->name));
      });
      all_shared = all_shared && reads_shared;
    });
    return all_shared;
  }

  // The one atomic function that the parameter is used with, "" for none. Error: refused, when it
  // is used for anything else.
  static Result<std::string> only_function(const Kernel& kernel,
                                           const source::KernelParameter& parameter) {
    std::string function;
    std::size_t updates = 0;
    bool mixed = false;
    source::walk(kernel.body, [&](const Stmt& stmt) {
      const auto update = update_of(stmt);
      if (!update || update->table != parameter.name) return;
      ++updates;
      mixed = mixed || (!function.empty() && function != update->function);
      function = update->function;
    });
    if (updates == 0) return function;
    std::size_t mentions = 0;
    source::walk_expressions(kernel.body, [&](const Expr& expr) {
      if (source::is_named(expr, parameter.name)) ++mentions;
    });
    if (mixed || mentions != updates) {
      return refuse("'" + parameter.name +
                    "' is used for more than one kind of atomic without a result");
    }
    if (!neutral_value(function, *parameter.scalar)) {
      return refuse(function + " on " + parameter.type + " has no value to start a copy of '" +
                    parameter.name + "' from");
    }
    return function;
  }

  static Status require_room(const Table& table, int copies, const Launch& launch,
                             const Kernel& kernel, const KernelAnalysis& state) {
    const std::int64_t left = state.limits().shared_bytes_per_block - shared_bytes(kernel);
    const IntegerExpression bytes = bytes_of(table, copies);
    if (!bytes.is_constant() && !(launch.dynamic_shared_bytes == IntegerExpression(0))) {
      return refuse("the kernel has dynamic shared memory already");
    }
    for (const std::vector<Symbols>* sizes : {&state.problem().tests, &state.problem().bench}) {
      for (const Symbols& symbols : *sizes) {
        auto needed = bytes.evaluate(symbols);
        if (!needed) return needed.error();
        if (*needed > left) {
          return refuse("copies of '" + table.parameter->name + "' need " +
                        std::to_string(*needed) + " bytes of the " + std::to_string(left) +
                        " that are left");
        }
      }
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_atomic_privatize() {
  return std::make_unique<AtomicPrivatize>();
}

}  // namespace regraph::rewrite
