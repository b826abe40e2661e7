#include "rewrite/transform/private_rows.h"

#include "rewrite/transform/names.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <memory>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Block;
using source::ExprPtr;
using source::ForLoop;
using source::Kernel;
using source::StmtPtr;
using source::Subscript;

namespace {

// A row and the array that stands for it.
struct KeptRow {
  const ElementRow* row = nullptr;
  std::string array;
};

// Puts the arrays in the place of accesses, and has the loops that count their elements unrolled.
class RowReplacer final : public source::Mutator {
 public:
  explicit RowReplacer(std::vector<const KeptRow*> rows) : rows_(std::move(rows)) {}

 private:
  using Mutator::mutate;

  ExprPtr mutate(const ExprPtr& expr, const Subscript& access) override {
    const ExprPtr kept = element_for(access);
    return kept ? kept : Mutator::mutate(expr, access);
  }

  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    StmtPtr result = Mutator::mutate(stmt, loop);
    const auto counted = source::counted_loop_of(loop);
    if (!counted || counters_.erase(counted->name) == 0) return result;
    auto unrolled = std::make_shared<ForLoop>(source::to<ForLoop>(result));
    unrolled->unroll = source::kUnrollFully;
    return unrolled;
  }

  ExprPtr element_for(const Subscript& access) {
    for (const KeptRow* kept : rows_) {
      const auto found = kept->row->accesses.find(&access);
      if (found == kept->row->accesses.end()) continue;
      for (const std::string& counter : found->second.symbols())
        counters_.insert(counter);
      return source::with_type(source::element(source::variable(kept->array, access.type),
                                               {source::to_expression(found->second)}),
                               access.type);
    }
    return nullptr;
  }

  std::vector<const KeptRow*> rows_;
  std::set<std::string> counters_;  // of loops around what was replaced, as long as they are open
};

class RowKeeper {
 public:
  RowKeeper(const Kernel& kernel, const std::vector<ElementRow>& rows)
      : kernel_(kernel), names_(kernel) {
    for (const ElementRow& row : rows) {
      names_.take(row.element);
      kept_.push_back({&row, names_.fresh(row.buffer + "_row")});
    }
  }

  Block run(const Block& block) const {
    Block result;
    std::vector<const KeptRow*> open;
    for (const StmtPtr& stmt : block) {
      for (const KeptRow& kept : kept_) {
        if (kept.row->first != stmt) continue;
        open.push_back(&kept);
        put_begin(kept, result);
      }
      const StmtPtr below =
          source::with_blocks(stmt, run(body_of(*stmt)), run(otherwise_of(*stmt)));
      result.push_back(open.empty() ? below : RowReplacer(open).run(below));
      for (const KeptRow& kept : kept_) {
        if (kept.row->last != stmt) continue;
        std::erase(open, &kept);
        if (kept.row->is_updated) put_end(kept, result);
      }
    }
    return result;
  }

 private:
  void put_begin(const KeptRow& kept, Block& out) const {
    const source::KernelParameter& parameter = *kernel_.parameter(kept.row->buffer);
    out.push_back(source::declare(
        source::local_variable(kept.array, parameter.type, parameter.scalar, {kept.row->extent}),
        nullptr));
    if (kept.row->is_loaded)
      out.push_back(moved(kept, source::assign(own_element(kept), element(kept))));
  }

  void put_end(const KeptRow& kept, Block& out) const {
    out.push_back(moved(kept, source::assign(element(kept), own_element(kept))));
  }

  static StmtPtr moved(const KeptRow& kept, StmtPtr move) {
    StmtPtr loop = source::counted_loop(kept.row->element, source::integer(0),
                                        source::integer(kept.row->extent), 1, {std::move(move)},
                                        source::kUnrollFully);
    return kept.row->condition ? source::branch(kept.row->condition, {std::move(loop)}) : loop;
  }

  ExprPtr element(const KeptRow& kept) const {
    const auto& scalar = kernel_.parameter(kept.row->buffer)->scalar;
    return source::with_type(
        source::element(source::variable(kept.row->buffer, scalar), {kept.row->index}), scalar);
  }

  ExprPtr own_element(const KeptRow& kept) const {
    const auto& scalar = kernel_.parameter(kept.row->buffer)->scalar;
    return source::with_type(source::element(source::variable(kept.array, scalar),
                                             {source::variable(kept.row->element)}),
                             scalar);
  }

  const Kernel& kernel_;
  Names names_;
  std::vector<KeptRow> kept_;
};

}  // namespace

Block with_private_rows(const Kernel& kernel, const std::vector<ElementRow>& rows) {
  return RowKeeper(kernel, rows).run(kernel.body);
}

}  // namespace regraph::rewrite
