// convolution: a convolution is tiled at all levels at once.
//
//   A block copies the neighbourhood of its outputs and the filter to shared memory, strips of
//   channels one after another; a thread produces several rows that follow each other, of several
//   output channels or columns a block apart, and keeps their sums in registers.
//
// It is what these steps make of a kernel one after another: restrict_ldg and block_size (where
// they apply), thread_coarsen along y with order=contiguous, along z and x, window_tile, and
// async_pipeline (where `stages` says so). Alone the first of them make most kernels slower, so
// that no search that looks one step ahead goes on there. Legal where each of them is. One output
// channel a thread is refused where channels read the same input and could share it: the members
// are there for who wants it.
#include "affine/guarded_access.h"
#include "affine/varying.h"
#include "rewrite/steps/macro_step.h"
#include "rewrite/steps/parameter_reader.h"

#include <memory>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {
namespace {

class Convolution final : public MacroStep {
 public:
  std::string_view id() const override { return "convolution"; }
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    const auto add = [&](const char* block, const char* rows, const char* outputs,
                         const char* depth, const char* columns = nullptr) {
      result.push_back({{"block", block}, {"rows", rows}, {"outputs", outputs}, {"depth", depth}});
      if (columns != nullptr) result.back()["columns"] = columns;
    };
    add("32x8", "8", "1", "all");
    add("32x8", "4", "1", "all");
    add("32x4", "16", "1", "all");
    add("32x8", "2", "16", "4");
    add("32x8", "4", "8", "4");
    add("32x8", "2", "8", "4");
    add("32x4", "2", "8", "4");
    add("32x8", "2", "8", "all");
    add("32x4", "4", "8", "all");
    add("32x8", "4", "1", "2");
    // Large filters, or strides: a channel fills the tile.
    add("32x4", "2", "16", "1");
    add("32x4", "2", "8", "1");
    // Along one dimension, where rows are output channels.
    add("32x8", "8", "1", "4", "4");
    add("32x4", "16", "1", "4", "4");
    // Filled by vectors, and several strips ahead where there are any.
    const auto fill = [&](std::size_t like, const char* stages) {
      result.push_back(result[like]);
      result.back()["copy"] = "vector";
      if (stages != nullptr) result.back()["stages"] = stages;
    };
    for (const std::size_t whole : {0, 2})
      fill(whole, nullptr);
    for (const std::size_t strips : {3, 5, 6})
      fill(strips, "2");
    return result;
  }

 protected:
  Result<std::vector<MacroMember>> sequence(const KernelAnalysis& kernel,
                                            const StepParameters& parameters) const override {
    ParameterReader reader(parameters);
    const std::string block = reader.text("block");
    const int rows = reader.integer("rows");
    const int outputs = reader.integer("outputs");
    const std::string depth = reader.text("depth");
    const int columns = parameters.contains("columns") ? reader.integer("columns") : 1;
    const std::string copy = parameters.contains("copy") ? reader.text("copy") : "";
    const int stages = parameters.contains("stages") ? reader.integer("stages") : 1;
    if (!reader.status()) return reader.status().error();
    if (outputs == 1 && channels_share_input(kernel)) {
      return refuse(
          "output channels read the same input, which a thread that produces several of them reads "
          "once: 'outputs' of more than one");
    }
    std::vector<MacroMember> members;
    StepParameters tile = {{"depth", depth}};
    if (!copy.empty()) tile["copy"] = copy;
    const auto is_flat = begin_with_flat_index(kernel, kernel, {"window_tile", {tile}}, members);
    if (!is_flat) return is_flat.error();
    if (*is_flat)
      members.push_back({"delinearize", {{{"axis", "y"}, {"dimensions", "1"}}}, outputs == 1});
    members.push_back({"restrict_ldg", {{}}, true});
    members.push_back({"block_size", {{{"block", block}}}, is_block(kernel, block)});
    if (rows > 1) {
      members.push_back(
          {"thread_coarsen",
           {{{"axis", "y"}, {"factor", std::to_string(rows)}, {"order", "contiguous"}}}});
    }
    if (outputs > 1) {
      members.push_back({"thread_coarsen", {{{"axis", "z"}, {"factor", std::to_string(outputs)}}}});
    }
    if (columns > 1) {
      members.push_back({"thread_coarsen", {{{"axis", "x"}, {"factor", std::to_string(columns)}}}});
    }
    members.push_back({"window_tile", {tile}, false, stages > 1});
    if (stages > 1) members.push_back({"async_pipeline", {{{"stages", std::to_string(stages)}}}});
    return members;
  }

 private:
  // Whether blocks along z differ in the filter and not in the input, and may be merged.
  static bool channels_share_input(const KernelAnalysis& kernel) {
    const Kernel& code = kernel.kernel();
    const std::set<std::string> by_block = varying_names(code, "blockIdx.z");
    const std::set<std::string> by_thread = varying_names(code, "threadIdx.x");
    bool has_input = false;
    bool has_filter = false;
    for_each_guarded_access(code.body, [&](const GuardedAccess& access) {
      if (access.is_store) return;
      if (is_varying(access.access->index, "blockIdx.z", by_block)) {
        has_filter = true;
      } else {
        has_input = has_input || is_varying(access.access->index, "threadIdx.x", by_thread);
      }
    });
    const MacroMember merged = {"thread_coarsen", {{{"axis", "z"}, {"factor", "8"}}}};
    return has_input && has_filter && apply_members(kernel, {merged}).ok();
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_convolution() {
  return std::make_unique<Convolution>();
}

}  // namespace regraph::rewrite
