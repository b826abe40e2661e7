// row_kernel: a kernel with a block a row, threads that take its elements in turn and a tree in
// shared memory, is laid out anew.
//
// It is taken for one thread a row (raised_rows.h), and the row is dealt out as
// cross_thread_reduction does it: any number of threads, neighbouring elements as vectors, rows in
// registers between the loops, sums by shuffles. Legal where both are.
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/raised_rows.h"

#include <memory>

namespace regraph::rewrite {
namespace {

class RowKernel final : public StepRewriter {
 public:
  std::string_view id() const override { return "row_kernel"; }

  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* width : {"4", "1"}) {
      result.push_back({{"threads", "32"}, {"rows", "4"}, {"width", width}});
      for (const char* threads : {"64", "128", "256", "512"})
        result.push_back({{"threads", threads}, {"rows", "1"}, {"width", width}});
    }
    return result;
  }

  Status match(const KernelAnalysis& kernel, const StepParameters& parameters) const override {
    const auto raised = raise(kernel, parameters);
    if (!raised) return raised.error();
    return dealing().match(KernelAnalysis(*raised, kernel.problem(), kernel.limits()),
                           dealt(parameters));
  }

  Result<KernelState> apply(const KernelAnalysis& kernel,
                            const StepParameters& parameters) const override {
    const auto raised = raise(kernel, parameters);
    if (!raised) return raised.error();
    return dealing().apply(KernelAnalysis(*raised, kernel.problem(), kernel.limits()),
                           dealt(parameters));
  }

 private:
  static const StepRewriter& dealing() { return *find_built_in_step("cross_thread_reduction"); }

  static Result<KernelState> raise(const KernelAnalysis& kernel, const StepParameters& parameters) {
    for (const char* name : {"threads", "rows", "width"}) {
      if (auto number = integer_parameter(parameters, name); !number) return number.error();
    }
    return raised_rows(kernel);
  }

  static StepParameters dealt(const StepParameters& parameters) {
    StepParameters result = {{"threads_per_row", parameters.at("threads")},
                             {"rows_per_block", parameters.at("rows")}};
    if (parameters.at("width") != "1") result["width"] = parameters.at("width");
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_row_kernel() {
  return std::make_unique<RowKernel>();
}

}  // namespace regraph::rewrite
