#include "rewrite/transform/rows_apart.h"

#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "affine/index_range.h"
#include "rewrite/analysis/row_tile.h"
#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

class RowSplitter final : public Mutator {
 public:
  RowSplitter(const Kernel& kernel, const Analysis& analysis, const Problem& problem,
              const Dim3& block, char axis, const RowNumbering& numbering)
      : analysis_(analysis),
        problem_(problem),
        numbering_(numbering),
        extent_(std::string("blockDim.") + axis),
        block_(block),
        tile_(row_tile(kernel, analysis, numbering)) {
    walk(kernel.body, [&](const Stmt& stmt) {
      if (const auto* declared = as<Declaration>(stmt)) ++declarations_[declared->variable.name];
      for_each_header(stmt, [&](const StmtPtr& part) {
        if (const auto* counter = as<Declaration>(part)) ++declarations_[counter->variable.name];
      });
    });
  }
  using Mutator::run;

  std::optional<Block> split(const Block& body) {
    // Where threads work together, loops without such an array only fill what they share.
    if (!tile_ || (tile_->arrays.empty() && analysis_.has_shared())) return std::nullopt;
    Block result = run(body);
    const bool is_told = std::ranges::none_of(
        stored_, [&](const auto& stored) { return reads_.contains(stored.first); });
    return failed_ || !is_told || loops_ == 0 ? std::nullopt : std::optional(std::move(result));
  }

 private:
  using Mutator::mutate;

  bool is_of_rows(const std::string& array) const { return tile_->arrays.contains(array); }

  void append(const StmtPtr& stmt, Block& out) override {
    const auto* loop = as<ForLoop>(stmt);
    if (loop != nullptr && !row_ && tile_->loops.contains(stmt.get())) {
      ++loops_;
      row_ = counted_loop_of(*stmt);
      own_ = declared_names(loop->body);
      Block body = run(loop->body);
      const bool is_unique = std::ranges::all_of(body, [&](const StmtPtr& part) {
        const auto* named = as<Declaration>(part);
        return named == nullptr || declarations_[named->variable.name] <= 1;
      });
      row_.reset();
      own_.clear();
      if (!is_unique) body = {scope(std::move(body))};
      out.insert(out.end(), body.begin(), body.end());
      return;
    }
    const auto* declared = as<Declaration>(stmt);
    if (declared != nullptr && is_of_rows(declared->variable.name)) {
      Variable one = declared->variable;
      const auto index = static_cast<std::ptrdiff_t>(tile_->arrays.at(one.name));
      one.extents.erase(one.extents.begin() + index);
      const bool is_scalar = one.extents.empty() && declared->value;
      out.push_back(declare(one, is_scalar ? zero_of(*one.scalar) : declared->value));
      return;
    }
    require_apart(*stmt);
    out.push_back(run(stmt));
  }

  StmtPtr mutate(const StmtPtr& stmt, const Branch& choice) override {
    const std::size_t outside = guards_.size();
    for (const ExprPtr& guard : conjuncts(choice.condition))
      guards_.push_back(guard);
    Block body = run(choice.body);
    guards_.resize(outside);
    for (const ExprPtr& guard : conjuncts(negate(choice.condition)))
      guards_.push_back(guard);
    Block otherwise = run(choice.otherwise);
    guards_.resize(outside);
    return source::branch(run(choice.condition), std::move(body), std::move(otherwise), stmt->line);
  }

  // What the statement itself does, not those below it.
  void require_apart(const Stmt& stmt) {
    switch (stmt.kind()) {
      case StmtKind::declaration:
      case StmtKind::branch:
      case StmtKind::scope:
      case StmtKind::for_loop:
        break;
      case StmtKind::barrier:
        failed_ = failed_ || row_.has_value();
        break;
      case StmtKind::assignment:
        require_own_place(to<Assignment>(stmt));
        break;
      default:
        failed_ = true;
    }
    walk_own_expressions(stmt, [&](const Expr& expr) {
      const auto* call = as<Call>(expr);
      failed_ = failed_ || is<OpaqueExpression>(expr) || (call != nullptr && !is_pure(*call)) ||
                (call != nullptr && is_warp_intrinsic(call->function));
      const auto* element = as<Subscript>(expr);
      const auto* base = element != nullptr ? base_variable(expr) : nullptr;
      if (base != nullptr && &expr != target_of(stmt).get()) reads_.insert(base->name);
    });
  }

  void require_own_place(const Assignment& stored) {
    const auto* base = place_variable(*stored.target);
    if (base == nullptr) {
      failed_ = true;
      return;
    }
    const bool is_global = analysis_.is_global_pointer(base->name);
    const Variable* local = analysis_.local(base->name);
    if (is_global || (local != nullptr && local->storage != Storage::automatic)) {
      // Several threads would store what one does.
      failed_ = failed_ || !row_;
      if (is_global) require_told_by_row(stored, base->name);
      return;
    }
    if (is_of_rows(base->name)) return;
    failed_ =
        failed_ || local == nullptr || local->is_pointer || (row_ && !own_.contains(base->name));
  }

  void require_told_by_row(const Assignment& stored, const std::string& buffer) {
    const auto* element = as<Subscript>(stored.target);
    const auto index = element != nullptr ? analysis_.polynomial(element->index) : std::nullopt;
    if (!row_ || !index || stored.op != AssignmentOperator::assign) {
      failed_ = true;
      return;
    }
    // Stores of one statement and of another would have to be told apart, too.
    const auto [before, is_first] = stored_.emplace(buffer, *index);
    failed_ = failed_ || !numbering_.by_thread(*index, *row_) || analysis_.is_viewed(buffer) ||
              !(is_first || before->second == *index) ||
              !rows_stay_apart(*index, *row_, guards_, analysis_, block_, problem_);
  }

  ExprPtr number_of(const ExprPtr& expr) const {
    if (!row_ || !is_index_type(expr->type) || !is_mentioned(expr, row_->name)) return nullptr;
    const auto index = analysis_.polynomial(expr);
    if (!index || !index->mentions(row_->name) || !index->mentions(numbering_.thread()))
      return nullptr;
    const auto number = numbering_.by_thread(*index, *row_);
    if (!number) return nullptr;
    const bool is_wide = size_in_bytes(*expr->type) == sizeof(std::int64_t);
    const ExprPtr value = to_expression(*number, is_wide);
    if (value->type == expr->type) return value;
    return with_type(cast(std::string(cuda_name(*expr->type)), value), expr->type);
  }

  ExprPtr mutate(const ExprPtr& expr, const Binary& binary) override {
    const ExprPtr number = number_of(expr);
    return number ? number : Mutator::mutate(expr, binary);
  }
  ExprPtr mutate(const ExprPtr& expr, const Cast& converted) override {
    const ExprPtr number = number_of(expr);
    return number ? number : Mutator::mutate(expr, converted);
  }
  ExprPtr mutate(const ExprPtr& expr, const Builtin& builtin) override {
    if (builtin.name == extent_) return integer(numbering_.threads());
    if (builtin.name != numbering_.thread()) return expr;
    return with_type(numbering_.is_contiguous() ? divide(expr, integer(numbering_.rows()))
                                                : remainder(expr, integer(numbering_.threads())),
                     ScalarType::u32);
  }
  ExprPtr mutate(const ExprPtr& expr, const VariableReference& name) override {
    if (row_ && name.name == row_->name) {
      const ExprPtr thread = builtin(numbering_.thread());
      const ExprPtr row = numbering_.is_contiguous()
                              ? remainder(thread, integer(numbering_.rows()))
                              : divide(thread, integer(numbering_.threads()));
      const ExprPtr number =
          source::add(row_->first, multiply(cast("int", row), integer(row_->stride)));
      return in_type_of(name, number);
    }
    failed_ = failed_ || is_of_rows(name.name);  // handed on
    return expr;
  }
  ExprPtr mutate(const ExprPtr& expr, const Subscript& element) override {
    const auto* base = base_variable(*expr);
    if (base == nullptr || !is_of_rows(base->name)) return Mutator::mutate(expr, element);
    const std::size_t at = tile_->arrays.at(base->name);
    std::vector<ExprPtr> indices = indices_of(*expr);
    const Variable* array = analysis_.local(base->name);
    const bool is_whole = array != nullptr && indices.size() == array->extents.size();
    failed_ = failed_ || !is_whole || !row_ || !is_named(indices[at], row_->name) ||
              row_->stride != 1 || !row_->starts_at_zero();
    if (failed_) return expr;
    indices.erase(indices.begin() + static_cast<std::ptrdiff_t>(at));
    for (ExprPtr& index : indices)
      index = run(index);
    return source::element(source::variable(base->name, expr->type), indices);
  }

  const Analysis& analysis_;
  const Problem& problem_;
  const RowNumbering& numbering_;
  const std::string extent_;
  const Dim3 block_;
  const std::optional<RowTile> tile_;
  std::map<std::string, int> declarations_;
  std::optional<CountedLoop> row_;  // of the loop over rows that is gone through
  std::set<std::string> own_;       // what that declares
  std::set<std::string> reads_;
  std::map<std::string, Polynomial> stored_;  // by buffer, where
  std::vector<ExprPtr> guards_;               // around the statement
  int loops_ = 0;
  bool failed_ = false;
};

}  // namespace

std::optional<RowsApart> with_rows_apart(const Kernel& kernel, const Launch& launch,
                                         const Problem& problem, char axis) {
  const Analysis analysis(kernel);
  for (const std::int64_t rows : possible_rows(kernel)) {
    if (extent(launch.block, axis - 'x') * rows > kMaxThreadsPerBlock) continue;
    for (const bool is_contiguous : {false, true}) {
      const RowNumbering numbering(launch.block, axis, rows, is_contiguous);
      auto body =
          RowSplitter(kernel, analysis, problem, launch.block, axis, numbering).split(kernel.body);
      if (!body) continue;
      RowsApart result{kernel, launch};
      result.kernel.body = std::move(*body);
      for (IntegerExpression& grid : result.launch.grid)
        grid = with_block_extents(grid, launch.block);
      set_extent(result.launch.block, axis - 'x',
                 static_cast<std::uint32_t>(numbering.threads() * rows));
      return result;
    }
  }
  return std::nullopt;
}

}  // namespace regraph::rewrite
