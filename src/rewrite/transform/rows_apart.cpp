#include "rewrite/transform/rows_apart.h"

#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "affine/index_range.h"
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

namespace regraph::rewrite {

namespace {

// A symbol that no kernel has: the number of a thread's row.
constexpr const char* kRow = "row.of.thread";

// Arrays of the thread's own with an element for each of its rows.
std::set<std::string> arrays_of_rows(const Kernel& kernel, std::int64_t rows) {
  std::set<std::string> names;
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* declared = as<Declaration>(stmt);
    if (declared == nullptr) return;
    const Variable& variable = declared->variable;
    const auto* list = as<InitializerList>(declared->value);
    const bool is_cleared = !declared->value || (list != nullptr && list->values.empty());
    if (variable.storage == Storage::automatic && variable.scalar && !variable.is_pointer &&
        is_cleared && variable.extents == std::vector<std::int64_t>{rows}) {
      names.insert(variable.name);
    }
  });
  return names;
}

class RowSplitter final : public Mutator {
 public:
  // `is_contiguous`: a thread's rows follow each other; else those of neighbouring threads do.
  RowSplitter(const Kernel& kernel, const Dim3& block, char axis, std::int64_t rows,
              bool is_contiguous)
      : is_contiguous_(is_contiguous),
        analysis_(kernel),
        thread_(std::string("threadIdx.") + axis),
        extent_(std::string("blockDim.") + axis),
        threads_(affine::extent(block, axis - 'x')),
        rows_(rows),
        block_(block),
        arrays_(arrays_of_rows(kernel, rows)) {
    walk(kernel.body, [&](const Stmt& stmt) {
      if (const auto* declared = as<Declaration>(stmt)) ++declarations_[declared->variable.name];
      for_each_header(stmt, [&](const StmtPtr& part) {
        if (const auto* counter = as<Declaration>(part)) ++declarations_[counter->variable.name];
      });
    });
  }
  using Mutator::run;

  std::optional<Block> split(const Block& body) {
    if (arrays_.empty()) return std::nullopt;
    Block result = run(body);
    const bool is_told = std::ranges::none_of(
        stored_, [&](const std::string& buffer) { return reads_.contains(buffer); });
    return failed_ || !is_told || loops_ == 0 ? std::nullopt : std::optional(std::move(result));
  }

 private:
  using Mutator::mutate;

  // What goes through the thread's rows: as many iterations, and an element of an array for each,
  // or places that follow from the thread and the iteration as one number.
  bool goes_through_rows(const ForLoop& loop, const CountedLoop& counted) const {
    const auto trips = counted.trip_count();
    if (trips != rows_ || !counted.first || !as<IntegerLiteral>(counted.first)) return false;
    return any_expression(loop.body, [&](const Expr& expr) {
      const auto* element = as<Subscript>(expr);
      if (element == nullptr) return false;
      const auto* base = as<VariableReference>(element->base);
      if (base != nullptr && arrays_.contains(base->name) && is_named(element->index, counted.name))
        return true;
      const auto index = analysis_.polynomial(element->index);
      if (!index || !index->mentions(counted.name) || !index->mentions(thread_)) return false;
      return !by_thread(*index, counted).mentions(kRow);
    });
  }

  // The index with the row's number and the old thread's as the new thread's number, which has the
  // old one's name; with the row's where they make no such number.
  Polynomial by_thread(const Polynomial& index, const CountedLoop& counted) const {
    const std::int64_t first = as<IntegerLiteral>(counted.first)->value;
    const Polynomial row = Polynomial::symbol(kRow);
    const Polynomial thread = Polynomial::symbol(thread_);
    const Polynomial whole =
        affine::with_block_extents(index, block_)
            .substitute(counted.name, Polynomial(first) + Polynomial(counted.stride) * row);
    const auto by_row = whole.coefficient(kRow);
    const auto by_place = whole.coefficient(thread_);
    if (!by_row || !by_place || by_row->is_zero()) return whole;
    if (is_contiguous_ && *by_place == *by_row * Polynomial(rows_))
      return whole - *by_place * thread - *by_row * row + *by_row * thread;
    if (!is_contiguous_ && *by_row == *by_place * Polynomial(threads_))
      return whole - *by_row * row;
    return whole;
  }

  void append(const StmtPtr& stmt, Block& out) override {
    const auto* loop = as<ForLoop>(stmt);
    const auto counted = loop != nullptr && !row_ ? counted_loop_of(*stmt) : std::nullopt;
    if (counted && goes_through_rows(*loop, *counted)) {
      ++loops_;
      row_ = counted;
      own_ = declared_names(loop->body);
      Block body = run(loop->body);
      const bool is_unique = std::ranges::all_of(
          own_, [&](const std::string& name) { return declarations_[name] <= 1; });
      row_.reset();
      own_.clear();
      if (!is_unique) body = {scope(std::move(body))};
      out.insert(out.end(), body.begin(), body.end());
      return;
    }
    const auto* declared = as<Declaration>(stmt);
    if (declared != nullptr && arrays_.contains(declared->variable.name)) {
      Variable one = declared->variable;
      one.extents.clear();
      out.push_back(declare(one, declared->value ? zero_of(*one.scalar) : nullptr));
      return;
    }
    require_apart(*stmt);
    out.push_back(run(stmt));
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
    if (arrays_.contains(base->name)) return;
    failed_ =
        failed_ || local == nullptr || local->is_pointer || (row_ && !own_.contains(base->name));
  }

  void require_told_by_row(const Assignment& stored, const std::string& buffer) {
    stored_.insert(buffer);
    const auto* element = as<Subscript>(stored.target);
    const auto index = element != nullptr ? analysis_.polynomial(element->index) : std::nullopt;
    if (!row_ || !index || stored.op != AssignmentOperator::assign) {
      failed_ = true;
      return;
    }
    const Polynomial place = by_thread(*index, *row_);
    const bool follows_others = std::ranges::any_of(own_, [&](const std::string& name) {
      return analysis_.loop(name) && place.mentions(name);
    });
    failed_ = failed_ || place.mentions(kRow) || !place.mentions(thread_) || follows_others;
  }

  ExprPtr number_of(const ExprPtr& expr) const {
    if (!row_ || !is_index_type(expr->type) || !is_mentioned(expr, row_->name)) return nullptr;
    const auto index = analysis_.polynomial(expr);
    if (!index || !index->mentions(row_->name) || !index->mentions(thread_)) return nullptr;
    const Polynomial number = by_thread(*index, *row_);
    if (number.mentions(kRow)) return nullptr;
    const bool is_wide = size_in_bytes(*expr->type) == sizeof(std::int64_t);
    const ExprPtr value = to_expression(number, is_wide);
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
    if (builtin.name == extent_) return integer(threads_);
    if (builtin.name != thread_) return expr;
    return with_type(
        is_contiguous_ ? divide(expr, integer(rows_)) : remainder(expr, integer(threads_)),
        ScalarType::u32);
  }
  ExprPtr mutate(const ExprPtr& expr, const VariableReference& name) override {
    if (row_ && name.name == row_->name) {
      const ExprPtr row = is_contiguous_ ? remainder(builtin(thread_), integer(rows_))
                                         : divide(builtin(thread_), integer(threads_));
      const ExprPtr number =
          source::add(row_->first, multiply(cast("int", row), integer(row_->stride)));
      return in_type_of(name, number);
    }
    failed_ = failed_ || arrays_.contains(name.name);  // handed on
    return expr;
  }
  ExprPtr mutate(const ExprPtr& expr, const Subscript& element) override {
    const auto* base = as<VariableReference>(element.base);
    if (base == nullptr || !arrays_.contains(base->name)) return Mutator::mutate(expr, element);
    failed_ = failed_ || !row_ || !is_named(element.index, row_->name) || row_->stride != 1 ||
              !row_->starts_at_zero();
    return source::variable(base->name, expr->type);
  }

  const bool is_contiguous_;
  const Analysis analysis_;
  const std::string thread_;
  const std::string extent_;
  const std::int64_t threads_;
  const std::int64_t rows_;
  const Dim3 block_;
  const std::set<std::string> arrays_;
  std::map<std::string, int> declarations_;
  std::optional<CountedLoop> row_;  // of the loop over rows that is gone through
  std::set<std::string> own_;       // what that declares
  std::set<std::string> reads_;
  std::set<std::string> stored_;
  int loops_ = 0;
  bool failed_ = false;
};

// How many elements the thread's own arrays have.
std::set<std::int64_t> lengths_of_arrays(const Kernel& kernel) {
  std::set<std::int64_t> lengths;
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* declared = as<Declaration>(stmt);
    if (declared != nullptr && declared->variable.storage == Storage::automatic &&
        declared->variable.extents.size() == 1 && declared->variable.extents.front() > 1) {
      lengths.insert(declared->variable.extents.front());
    }
  });
  return lengths;
}

}  // namespace

std::optional<RowsApart> with_rows_apart(const Kernel& kernel, const Launch& launch, char axis) {
  for (const std::int64_t rows : lengths_of_arrays(kernel)) {
    for (const bool is_contiguous : {false, true}) {
      auto body = RowSplitter(kernel, launch.block, axis, rows, is_contiguous).split(kernel.body);
      if (!body) continue;
      RowsApart result{kernel, launch};
      result.kernel.body = std::move(*body);
      const int number = axis - 'x';
      const std::int64_t threads = affine::extent(launch.block, number) * rows;
      set_extent(result.launch.block, number, static_cast<std::uint32_t>(threads));
      return result;
    }
  }
  return std::nullopt;
}

}  // namespace regraph::rewrite
