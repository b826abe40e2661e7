// no_padding: shortens the rows of two- and higher-dimensional shared arrays to a multiple of eight
// elements, float tile[32][33] to tile[32][32], so that walking down a column meets few banks.
// Legal when every use indexes the array completely and no index reaches into the padding.
#include "affine/index_range.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/inverse/inverse_rewrite.h"
#include "source/build.h"
#include "source/walk.h"

#include <set>

namespace regraph::rewrite {
namespace {

class NoPadding final : public InverseRewrite {
 public:
  std::string id() const override { return "no_padding"; }
  std::string_view undone_by() const override { return "smem_pad"; }
  std::string taken_away() const override { return "the padding of shared rows"; }

  Result<KernelState> apply(const KernelAnalysis& kernel) const override {
    const Analysis& analysis = kernel.analysis();
    if (const auto opaque = analysis.opaque()) return refuse("uses cannot be told, " + *opaque);
    if (!analysis.unknown_calls().empty()) {
      return refuse("'" + *analysis.unknown_calls().begin() + "' may use a shared array");
    }
    auto launch = kernel.launch();
    if (!launch) return launch.error();
    const Dim3& block = (*launch)->block;
    bool changed = false;
    KernelState result = kernel.state();
    result.unit.kernel.body =
        rewrite_statements(kernel.kernel().body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          const auto* declaration = as<Declaration>(stmt);
          if (declaration == nullptr || !has_padding(declaration->variable, kernel, block))
            return std::nullopt;
          changed = true;
          Variable array = declaration->variable;
          array.extents.back() = unpadded(array);
          return Block{declare(array, declaration->value)};
        });
    if (!changed) return refuse("no shared array is known to have rows longer than it uses");
    return result;
  }

 private:
  static std::int64_t unpadded(const Variable& array) {
    const std::int64_t length = array.extents.back();
    return length - length % kUnpaddedRowMultiple;
  }

  static bool has_padding(const Variable& array, const KernelAnalysis& kernel, const Dim3& block) {
    if (array.storage != Storage::shared || array.extents.size() < 2) return false;
    const std::int64_t length = unpadded(array);
    if (length == 0 || length == array.extents.back()) return false;
    if (!is_fully_indexed(kernel.kernel(), array)) return false;
    return all_expressions(kernel.kernel().body, [&](const Expr& expr) {
      const auto* element = as<Subscript>(expr);
      if (element == nullptr) return true;
      const auto* base = base_variable(expr);
      if (base == nullptr || base->name != array.name) return true;
      // The rows' own subscripts are met on the way down.
      if (indices_of(expr).size() != array.extents.size()) return true;
      const auto range = range_of(element->index, kernel.analysis(), block);
      return range && range->low >= 0 && range->high < length;
    });
  }
};

}  // namespace

std::unique_ptr<InverseRewrite> make_no_padding() {
  return std::make_unique<NoPadding>();
}

}  // namespace regraph::rewrite
