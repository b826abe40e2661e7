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
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/names.h"
#include "rewrite/transform/private_rows.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace regraph::rewrite {
namespace {

using source::Kernel;

// Half of the registers that a thread can have: addresses, what is loaded and what is computed
// need the others.
constexpr std::int64_t kMostWords = 128;

struct RowsPlace {
  std::vector<ElementRow> rows;
};

// Words of the thread's own arrays.
std::int64_t words_of_arrays(const Kernel& kernel) {
  std::int64_t words = 0;
  source::walk(kernel.body, [&](const source::Stmt& stmt) {
    const auto* declaration = source::as<source::Declaration>(stmt);
    if (declaration == nullptr || declaration->variable.extents.empty() ||
        declaration->variable.storage != source::Storage::automatic) {
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
  Result<RowsPlace> find(const KernelAnalysis& kernel,
                         const StepParameters& parameters) const override {
    auto which = text_parameter(parameters, "rows");
    if (!which) return which.error();
    if (*which != "all" && *which != "read" && *which != "updated")
      return fail(ErrorCode::invalid_argument, "'rows' must be all, read or updated");
    if (!kernel.problem().assume.noalias) {
      return refuse(
          "the problem does not grant 'assume: {noalias: true}', so elements in registers could go "
          "stale");
    }
    if (const Status& status = kernel.transparent(); !status) return status.error();
    const KernelForm& form = *kernel.direct();
    auto rows = element_rows(form.kernel, form.analysis, kernel.problem().check.benign_races,
                             source::fresh_name(form.kernel, "element"));
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
