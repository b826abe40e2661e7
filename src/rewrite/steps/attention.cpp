// attention: rows of softmax-weighted sums are computed in one pass, from tiles in shared memory.
//
//   One thread a row (a query) goes over all keys for the largest score, and once more for the sums
//   of what exp(score - largest) weights. Becomes: the row and its sums in registers, one pass that
//   carries the largest score so far, over strips of keys and values in shared memory that alternate,
//   dealt out to slices of the block.
//
// Kernels with a block a query, whose threads are the elements of its row and put scores together
// by trees, are taken for one thread a query first (thread_serialisation.h).
//
// It is what these steps make of a kernel one after another: block_size and scalar_replacement
// (where they apply), online_fusion (unless the kernel is online already), smem_tile, slice_k
// (where `slices` says so) and double_buffer (where it applies). Alone some of them make kernels
// slower, and each needs the one before it, so that no search that looks one step ahead goes on
// there. Legal where each of them is.
#include "rewrite/steps/macro_step.h"
#include "rewrite/steps/online_rows.h"
#include "rewrite/steps/parameter_reader.h"

#include <memory>
#include <string>
#include <utility>

namespace regraph::rewrite {
namespace {

class Attention final : public TriedStep {
 public:
  std::string_view id() const override { return "attention"; }
  // Small blocks with slices, as a thread holds a whole row; without slices for many rows.
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    const auto add = [&](const char* block, const char* depth, const char* slices) {
      result.push_back({{"block", block}, {"depth", depth}, {"slices", slices}});
    };
    add("64", "8", "4");
    add("64", "8", "2");
    add("64", "16", "2");
    add("128", "8", "2");
    add("128", "16", "1");
    return result;
  }

  Result<KernelState> apply(const KernelAnalysis& kernel,
                            const StepParameters& parameters) const override {
    const auto serialised = serialised_rows(kernel);
    if (!serialised) return refuse("smem_tile: " + serialised.error().message);
    if (!*serialised) return with_members(kernel, parameters);
    return with_members(KernelAnalysis(**serialised, kernel.problem(), kernel.limits()),
                        parameters);
  }

 private:
  static Result<KernelState> with_members(const KernelAnalysis& kernel,
                                          const StepParameters& parameters) {
    const auto members = sequence(kernel, parameters);
    if (!members) return members.error();
    return apply_members(kernel, *members);
  }

  static Result<std::vector<MacroMember>> sequence(const KernelAnalysis& kernel,
                                                   const StepParameters& parameters) {
    ParameterReader reader(parameters);
    const std::string block = reader.text("block");
    const int depth = reader.integer("depth");
    const int slices = reader.integer("slices");
    if (!reader.status()) return reader.status().error();
    if (slices < 1) return fail(ErrorCode::invalid_argument, "'slices' must be at least 1");
    if (const Status& status = require_online_sums(kernel); !status) return status.error();

    const StepParameters tile = {{"loop", "1"}, {"depth", std::to_string(depth)}};
    StepParameters vectors = tile;
    vectors["copy"] = "vector";
    std::vector<MacroMember> members;
    members.push_back({"block_size", {{{"block", block}}}, is_block(kernel, block + "x1")});
    for (MacroMember& member : online_members(kernel))
      members.push_back(std::move(member));
    members.push_back({"smem_tile", {vectors, tile}});
    if (slices > 1) members.push_back({"slice_k", {{{"slices", std::to_string(slices)}}}});
    members.push_back({"double_buffer", {{}}, true});
    return members;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_attention() {
  return std::make_unique<Attention>();
}

}  // namespace regraph::rewrite
