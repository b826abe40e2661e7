// cross_thread_reduction: the loops that one thread runs over a row are dealt out to the threads of
// a warp or a block.
//
//   row = blockIdx.x * blockDim.x + threadIdx.x;  for (c = 0; c < n; ++c) sum += A[row * n + c];
// becomes, with T threads a row,
//   for (c = lane; c < n; c += T) sum += ...;  sum = total of sum over the T threads
//
// Legal when a thread is known by its global index alone, so that all threads of a row can do the
// rest of the kernel alike (stores by the first of them only), and each shared loop has no other
// dependence between iterations than accumulators. Sums need the problem's leave to be reordered.
// Rows that share a warp with others do not exist: a row has whole warps.
#include "rewrite/analysis/global_index.h"
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/analysis/row_sharing.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/names.h"
#include "rewrite/transform/warp_shuffle.h"
#include "source/build.h"
#include "source/walk.h"

#include <cstdlib>
#include <memory>

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

bool is_number(const ExprPtr& expr, double value) {
  if (expr->kind == ExprKind::integer) return static_cast<double>(expr->number) == value;
  return expr->kind == ExprKind::floating && std::strtod(expr->text.c_str(), nullptr) == value;
}

// Emits the kernel in which `threads` threads share a row and a block has `rows` rows.
class RowSharer {
 public:
  RowSharer(const Kernel& kernel, const RowPlan& plan, int threads, int rows)
      : kernel_(kernel), plan_(plan), names_(kernel), threads_(threads), rows_(rows) {
    lane_ = names_.fresh("lane");
    row_in_block_ = names_.fresh("row_in_block");
    offset_ = names_.fresh("offset");
    warp_offset_ = names_.fresh("warp_offset");
    count_loops();
  }

  Block run() {
    const Block body = with_new_indices(convert(kernel_.body));
    const ExprPtr thread = source::builtin("threadIdx.x");
    const bool block_per_row = rows_ == 1;
    Block result = shared_;
    result.push_back(source::declare_integer(
        lane_, source::cast("int", block_per_row
                                       ? thread
                                       : source::binary("%", thread, source::integer(threads_)))));
    if (!block_per_row) {
      result.push_back(source::declare_integer(
          row_in_block_,
          source::cast("int", source::binary("/", thread, source::integer(threads_)))));
    }
    result.insert(result.end(), body.begin(), body.end());
    return result;
  }

 private:
  ExprPtr lane() const { return source::variable(lane_); }

  // A loop variable's name keeps one meaning, so shared loops need another where some are not.
  void count_loops() {
    std::map<std::string, int> loops;
    std::map<std::string, int> shared;
    source::walk(kernel_.body, [&](const Stmt& stmt) {
      if (stmt.kind != StmtKind::loop || !stmt.init || stmt.init->kind != StmtKind::declare) return;
      ++loops[stmt.init->variable.name];
      if (plan_.contains(&stmt)) ++shared[stmt.init->variable.name];
    });
    for (const auto& [name, count] : shared) {
      if (loops.at(name) != count) mixed_.insert(name);
    }
  }

  Block convert(const Block& block) {
    Block result;
    std::set<std::string> fresh;  // accumulators that hold their neutral value here
    for (const StmtPtr& stmt : block) {
      const auto found = plan_.find(stmt.get());
      if (found != plan_.end()) {
        share(*stmt, found->second, fresh, result);
        fresh.clear();
        continue;
      }
      switch (stmt->kind) {
        case StmtKind::declare:
          if (stmt->value && (is_number(stmt->value, 0.0) || is_number(stmt->value, 1.0))) {
            fresh.insert(stmt->variable.name);
            literals_[stmt->variable.name] = stmt->value;
          }
          result.push_back(stmt);
          break;
        case StmtKind::assign: {
          const Expr* base = source::base_variable(*stmt->target);
          if (base != nullptr) fresh.erase(base->text);
          if (base != nullptr && kernel_.parameter(base->text) != nullptr &&
              kernel_.parameter(base->text)->is_pointer) {
            once_a_row(stmt, result);
          } else {
            result.push_back(stmt);
          }
          break;
        }
        case StmtKind::evaluate:
          once_a_row(stmt, result);
          break;
        default: {
          if (stmt->body.empty() && stmt->otherwise.empty()) {
            result.push_back(stmt);
            break;
          }
          auto copy = std::make_shared<Stmt>(*stmt);
          copy->body = convert(stmt->body);
          copy->otherwise = convert(stmt->otherwise);
          result.push_back(std::move(copy));
          fresh.clear();
          break;
        }
      }
    }
    return result;
  }

  void once_a_row(const StmtPtr& stmt, Block& out) const {
    const ExprPtr first = source::binary("==", lane(), source::integer(0));
    const bool joins = !out.empty() && out.back()->kind == StmtKind::branch &&
                       out.back()->otherwise.empty() && source::equal(out.back()->value, first);
    if (!joins) {
      out.push_back(source::branch(first, {stmt}));
      return;
    }
    auto longer = std::make_shared<Stmt>(*out.back());
    longer->body.push_back(stmt);
    out.back() = longer;
  }

  void share(const Stmt& loop, const SharedLoop& shared, const std::set<std::string>& fresh,
             Block& out) {
    auto dealt = std::make_shared<Stmt>(loop);
    auto init = std::make_shared<Stmt>(*loop.init);
    init->value = source::binary(
        "+", loop.init->value, source::binary("*", lane(), source::integer(shared.counted.stride)));
    dealt->init = init;
    dealt->step =
        source::assign(loop.step->target, "+=", source::integer(shared.counted.stride * threads_));
    StmtPtr result = dealt;
    if (mixed_.contains(shared.counted.name)) result = names_.renamed(Block{result}).front();

    std::vector<Reduction> partial;
    std::vector<StmtPtr> merges;
    for (const Reduction& reduction : shared.reductions) {
      const ExprPtr neutral = reduction.neutral();
      const bool starts_neutral =
          !neutral || (fresh.contains(reduction.variable) &&
                       is_number(literals_.at(reduction.variable),
                                 std::strtod(neutral->text.c_str(), nullptr)));
      if (starts_neutral) {
        partial.push_back(reduction);
        continue;
      }
      Reduction part = reduction;
      part.variable = names_.fresh(reduction.variable + "_part");
      source::Variable variable;
      variable.name = part.variable;
      variable.type = part.type;
      variable.scalar = part.scalar;
      out.push_back(source::declare(variable, neutral));
      const ExprPtr part_value = source::variable(part.variable, part.scalar);
      result = source::rewrite_expressions(Block{result},
                                           source::replace_variable(reduction.variable, part_value))
                   .front();
      merges.push_back(
          reduction.combine(source::variable(reduction.variable, reduction.scalar), part_value));
      partial.push_back(part);
    }
    out.push_back(result);
    combine(partial, shared.repeats, out);
    out.insert(out.end(), merges.begin(), merges.end());
  }

  // Leaves every thread of the row with the row's result.
  void combine(const std::vector<Reduction>& reductions, bool repeats, Block& out) {
    const int warps = threads_ / kWarpLanes;
    for (const Reduction& reduction : reductions) {
      out.push_back(
          all_reduce(reduction, kWarpLanes, offset_, names_.fresh(reduction.variable + "_other")));
    }
    if (warps == 1 || reductions.empty()) return;
    Block stores;
    Block loads;
    for (const Reduction& reduction : reductions) {
      source::Variable array;
      array.name = names_.fresh(reduction.variable + "_of_warp");
      array.type = reduction.type;
      array.scalar = reduction.scalar;
      array.extents = {warps};
      array.storage = source::Storage::shared;
      shared_.push_back(source::declare(array, nullptr));
      const ExprPtr value = source::variable(reduction.variable, reduction.scalar);
      const ExprPtr slots = source::variable(array.name, reduction.scalar);
      stores.push_back(source::assign(
          source::element(slots, {source::binary("/", lane(), source::integer(kWarpLanes))}), "=",
          value));
      loads.push_back(source::assign(
          value, "=",
          source::element(slots, {source::binary("%", lane(), source::integer(warps))})));
      loads.push_back(
          all_reduce(reduction, warps, warp_offset_, names_.fresh(reduction.variable + "_other")));
    }
    out.push_back(source::branch(
        source::binary("==", source::binary("%", lane(), source::integer(kWarpLanes)),
                       source::integer(0)),
        std::move(stores)));
    out.push_back(source::barrier());
    out.insert(out.end(), loads.begin(), loads.end());
    // The slots are written again the next time round.
    if (repeats) out.push_back(source::barrier());
  }

  // threadIdx.x and blockDim.x as rows see them.
  ExprPtr with_new_indices(const ExprPtr& expr) const {
    if (expr->kind == ExprKind::builtin) {
      if (expr->text == "threadIdx.x") {
        return rows_ == 1 ? source::integer(0) : source::variable(row_in_block_);
      }
      if (expr->text == "blockDim.x") return source::integer(rows_);
      return expr;
    }
    bool changed = false;
    std::vector<ExprPtr> operands;
    for (const ExprPtr& operand : expr->operands) {
      operands.push_back(with_new_indices(operand));
      changed = changed || operands.back() != operand;
    }
    if (!changed) return expr;
    if (expr->kind == ExprKind::binary) {
      return source::binary(expr->text, operands[0], operands[1]);
    }
    auto copy = std::make_shared<Expr>(*expr);
    copy->operands = std::move(operands);
    return copy;
  }

  Block with_new_indices(const Block& block) const {
    return source::rewrite_expressions(block, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      return with_new_indices(expr);
    });
  }

  const Kernel& kernel_;
  const RowPlan& plan_;
  Names names_;
  int threads_;
  int rows_;
  std::string lane_;
  std::string row_in_block_;
  std::string offset_;
  std::string warp_offset_;
  std::set<std::string> mixed_;
  std::map<std::string, ExprPtr> literals_;
  Block shared_;
};

struct RowPlace {
  int threads = 0;  // a row
  int rows = 0;     // a block
  RowPlan plan;
  Launch launch;  // afterwards
};

class CrossThreadReduction final : public PlacedStep<RowPlace> {
 public:
  std::string_view id() const override { return "cross_thread_reduction"; }
  int position() const override { return 110; }

  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* rows : {"2", "4", "8"}) {
      result.push_back({{"threads_per_row", "32"}, {"rows_per_block", rows}});
    }
    for (const char* threads : {"64", "128", "256", "512", "1024"}) {
      result.push_back({{"threads_per_row", threads}, {"rows_per_block", "1"}});
    }
    return result;
  }

 protected:
  Result<RowPlace> find(const KernelAnalysis& kernel,
                        const StepParameters& parameters) const override {
    RowPlace place;
    if (Status status = read(parameters, place); !status) return status.error();
    auto launch = kernel.launch();
    if (!launch) return launch.error();
    if (Status status = require_thread_a_row(kernel, **launch); !status) return status.error();
    auto form = kernel.single_exit();
    if (!form) return form.error();
    auto plan = plan_rows((*form)->kernel, (*form)->analysis, place.threads, kernel.problem());
    if (!plan) return plan.error();
    auto grid = grid_for_rows(**form, **launch, place.rows);
    if (!grid) return grid.error();
    for (const auto& [loop, shared] : *plan) {
      if (Status status = permit_reordering(shared.reductions, kernel.problem()); !status)
        return status.error();
    }
    place.plan = std::move(*plan);
    place.launch = **launch;
    place.launch.block = {static_cast<std::uint32_t>(place.threads * place.rows), 1, 1};
    place.launch.grid[0] = *grid;
    if (Status status = require_possible(place.launch, kernel, "the launch would not be valid: ");
        !status) {
      return status.error();
    }
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const RowPlace& place) const override {
    const Kernel& form = (*kernel.single_exit())->kernel;
    KernelState result = kernel.state();
    for (const auto& [loop, shared] : place.plan) {
      if (any_rounds(shared.reductions)) rely_on(result, kReordersSums);
    }
    rely_on(result, kNeedsDistinctBuffers);
    result.unit.kernel.body = RowSharer(form, place.plan, place.threads, place.rows).run();
    result.plan.launches.front() = place.launch;
    if (result.unit.kernel.launch_bounds_threads) {
      result.unit.kernel.launch_bounds_threads = place.threads * place.rows;
    }
    return result;
  }

 private:
  static Status read(const StepParameters& parameters, RowPlace& place) {
    auto threads = integer_parameter(parameters, "threads_per_row");
    if (!threads) return threads.error();
    auto rows = integer_parameter(parameters, "rows_per_block");
    if (!rows) return rows.error();
    place.threads = *threads;
    place.rows = *rows;
    const bool valid = *threads >= kWarpLanes && (*threads & (*threads - 1)) == 0 && *rows >= 1 &&
                       (*rows == 1 || *threads == kWarpLanes);
    if (valid) return {};
    return fail(ErrorCode::invalid_argument,
                "'threads_per_row' must be a power of two, at least 32, and 'rows_per_block' 1 "
                "unless a row has one warp");
  }

  static Status require_thread_a_row(const KernelAnalysis& kernel, const Launch& launch) {
    if (const Status& status = kernel.transparent(); !status) return status;
    const Analysis& analysis = kernel.analysis();
    if (analysis.has_shared() || analysis.has_barrier() || analysis.uses_warp_intrinsics()) {
      return refuse("the threads of a block work together already");
    }
    if (!analysis.unknown_calls().empty()) {
      return refuse("the kernel calls '" + *analysis.unknown_calls().begin() +
                    "', which may write memory");
    }
    if (!kernel.problem().assume.noalias) {
      return refuse("the problem does not grant 'assume: {noalias: true}'");
    }
    if (launch.block.y != 1 || launch.block.z != 1) {
      return refuse("the block has more than one axis; threads of a row are found along x only");
    }
    if (!analysis.uses_builtin("threadIdx.x") || !analysis.uses_builtin("blockIdx.x")) {
      return refuse("the kernel does not give each thread of the grid a row of its own");
    }
    return require_global_index(kernel.kernel(), analysis, "x");
  }

  // Blocks that cover the same rows with `rows` of them a block.
  static Result<IntegerExpression> grid_for_rows(const KernelForm& form, const Launch& launch,
                                                 int rows) {
    const IntegerExpression& grid = launch.grid[0];
    if (launch.block.x % static_cast<std::uint32_t>(rows) != 0) {
      return refuse("the block of " + std::to_string(launch.block.x) +
                    " threads is no multiple of the rows of a block");
    }
    // Rows past the end are not worth blocks where the guard drops them anyway.
    if (grid.symbols().contains("bx") && grid_is_guarded(form.kernel, form.analysis, launch, 0)) {
      return grid.substitute({{"bx", IntegerExpression(rows)}});
    }
    const std::int64_t blocks = launch.block.x / static_cast<std::uint32_t>(rows);
    return IntegerExpression::multiply(grid.substitute({{"bx", IntegerExpression(launch.block.x)}}),
                                       IntegerExpression(blocks));
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_cross_thread_reduction() {
  return std::make_unique<CrossThreadReduction>();
}

}  // namespace regraph::rewrite
