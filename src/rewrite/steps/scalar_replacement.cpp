// scalar_replacement: rows of array elements that a thread uses again and again live in registers
// meanwhile.
//
//   for (t < n) { for (d < 64) s += query[q * 64 + d] * keys[t * 64 + d]; ... }
// becomes
//   float query_row[64];
//   if (0 < n) { for (d < 64) query_row[d] = query[q * 64 + d]; }
//   for (t < n) { for (d < 64) s += query_row[d] * keys[t * 64 + d]; ... }
//
// and rows that are updated (out[q * 64 + d] += ...) are stored once, behind their last use. Loops
// that count a row's elements are written out, as registers cannot be indexed.
//
// Legal where the rest of the index is the same for all uses of the row, all elements are read
// (stored, where it is updated) whenever one of them is, and, for those that are updated, the array
// is accessed nowhere else between the first use and the last, nor may other threads take part
// there (element_rows.h). A single element is kept by the plain form already.
#include "rewrite/analysis/element_rows.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

// Rows of array elements in arrays of the thread's own, whose loops are written out so that they
// live in registers.

// A row and the array that stands for it.
struct KeptRow {
  const ElementRow* row = nullptr;
  std::string array;
};

// Puts the arrays in the place of accesses, and has the loops that count their elements unrolled.
class RowReplacer final : public Mutator {
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
    const auto counted = counted_loop_of(loop);
    if (!counted || counters_.erase(counted->name) == 0) return result;
    auto unrolled = std::make_shared<ForLoop>(to<ForLoop>(result));
    unrolled->unroll = kUnrollFully;
    return unrolled;
  }

  ExprPtr element_for(const Subscript& access) {
    for (const KeptRow* kept : rows_) {
      const auto found = kept->row->accesses.find(&access);
      if (found == kept->row->accesses.end()) continue;
      for (const std::string& counter : found->second.symbols())
        counters_.insert(counter);
      return with_type(
          source::element(variable(kept->array, access.type), {to_expression(found->second)}),
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
      const StmtPtr below = with_blocks(stmt, run(body_of(*stmt)), run(otherwise_of(*stmt)));
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
    const KernelParameter& parameter = *kernel_.parameter(kept.row->buffer);
    out.push_back(declare(
        local_variable(kept.array, parameter.type, parameter.scalar, {kept.row->extent}), nullptr));
    if (kept.row->is_loaded) out.push_back(moved(kept, assign(own_element(kept), element(kept))));
  }

  void put_end(const KeptRow& kept, Block& out) const {
    out.push_back(moved(kept, assign(element(kept), own_element(kept))));
  }

  static StmtPtr moved(const KeptRow& kept, StmtPtr move) {
    StmtPtr loop = counted_loop(kept.row->element, integer(0), integer(kept.row->extent), 1,
                                {std::move(move)}, kUnrollFully);
    return kept.row->condition ? branch(kept.row->condition, {std::move(loop)}) : loop;
  }

  ExprPtr element(const KeptRow& kept) const {
    const auto& scalar = kernel_.parameter(kept.row->buffer)->scalar;
    return with_type(source::element(variable(kept.row->buffer, scalar), {kept.row->index}),
                     scalar);
  }

  ExprPtr own_element(const KeptRow& kept) const {
    const auto& scalar = kernel_.parameter(kept.row->buffer)->scalar;
    return with_type(source::element(variable(kept.array, scalar), {variable(kept.row->element)}),
                     scalar);
  }

  const Kernel& kernel_;
  Names names_;
  std::vector<KeptRow> kept_;
};

// The kernel's body with the rows kept: loaded in front of their statements, stored behind them.
Block with_private_rows(const Kernel& kernel, const std::vector<ElementRow>& rows) {
  return RowKeeper(kernel, rows).run(kernel.body);
}

// Half of the registers that a thread can have: addresses, what is loaded and what is computed
// need the others.
constexpr std::int64_t kMostWords = 128;

struct RowsPlace {
  std::vector<ElementRow> rows;
};

// Words of the thread's own arrays.
std::int64_t words_of_arrays(const Kernel& kernel) {
  std::int64_t words = 0;
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration == nullptr || declaration->variable.extents.empty() ||
        declaration->variable.storage != Storage::automatic) {
      return;
    }
    std::int64_t elements = 1;
    for (const std::int64_t extent : declaration->variable.extents)
      elements *= extent;
    const auto& scalar = declaration->variable.scalar;
    words += elements * (scalar && size_in_bytes(*scalar) > 4 ? 2 : 1);
  });
  return words;
}

class ScalarReplacement final : public PlacedStep<RowsPlace> {
 public:
  std::string_view id() const override { return "scalar_replacement"; }

  std::vector<StepParameters> settings() const override {
    return {{{"rows", "all"}}, {{"rows", "read"}}, {{"rows", "updated"}}};
  }

 protected:
  Requirements requirements() const override {
    return {.one_launch = false, .distinct_buffers = "elements in registers could go stale"};
  }
  Result<RowsPlace> find(const KernelAnalysis& kernel,
                         const StepParameters& parameters) const override {
    auto which = text_parameter(parameters, "rows");
    if (!which) return which.error();
    if (*which != "all" && *which != "read" && *which != "updated")
      return fail(ErrorCode::invalid_argument, "'rows' must be all, read or updated");
    const KernelForm& form = *kernel.direct();
    auto rows = element_rows(form.kernel, form.analysis, kernel.problem().check.benign_races,
                             fresh_name(form.kernel, "element"));
    if (!rows) return rows.error();
    if (*which != "all") {
      const bool wanted = *which == "updated";
      const std::size_t found = rows->size();
      std::erase_if(*rows, [&](const ElementRow& row) { return row.is_updated != wanted; });
      if (rows->empty()) return refuse("no row is " + *which + (wanted ? "" : " only"));
      if (rows->size() == found)
        return refuse("all rows are " + *which + (wanted ? "" : " only") +
                      ", which 'all' keeps as well");
    }
    std::int64_t words = words_of_arrays(form.kernel);
    for (const ElementRow& row : *rows)
      words += row.words(form.kernel);
    if (words > kMostWords) {
      return refuse("rows and arrays of a thread would need " + std::to_string(words) +
                    " registers, of which " + std::to_string(kMostWords) + " are for them");
    }
    return RowsPlace{std::move(*rows)};
  }

  KernelState rewrite(const KernelAnalysis& kernel, const RowsPlace& place) const override {
    const KernelForm& form = *kernel.direct();
    KernelState result = kernel.state();
    result.unit.kernel = form.kernel;
    result.unit.kernel.body = with_private_rows(form.kernel, place.rows);
    rely_on(result, kNeedsDistinctBuffers);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_scalar_replacement() {
  return std::make_unique<ScalarReplacement>();
}

}  // namespace regraph::rewrite
