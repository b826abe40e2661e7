// contraction: a contraction is tiled at all levels at once.
//
//   C[i][j] = sum over k of A[i][k] * B[k][j], one thread an element, becomes: a block for a tile of
//   C, a rectangle of it for each thread in registers, strips of A and B in shared memory that are
//   filled by vectors and alternate.
//
//   With tiles=kept, the strips lie as A and B do in memory. A thread's rows are a block apart then, so
//   that threads next to each other read vectors along k of neighbouring rows; its columns are
//   neighbours as ever.
//
// With a block of three extents, a block takes as many products as it has planes: for batches of
// products that a tile holds as a whole.
//
// It is what these steps make of a kernel one after another: untile (where somebody laid out tiles
// already) or reshape_block (where a block is flat), delinearize (where the index is flat),
// coalesce_swap (where it applies), block_size, thread_coarsen along y and x, smem_tile, slice_k
// (where `slices` says so), async_pipeline (where `stages` says so) or double_buffer (where it
// applies). Alone, the first of them make most kernels slower, so that no search that looks one
// step ahead goes on there. Legal where each of them is.
#include "rewrite/steps/macro_step.h"
#include "rewrite/steps/parameter_reader.h"

#include <charconv>
#include <memory>
#include <optional>
#include <utility>

namespace regraph::rewrite {
namespace {

struct Shape {
  int columns = 0;
  int rows = 0;
  int planes = 1;
};

// "8x4" or "16x4x8": columns, rows, planes.
std::optional<Shape> shape_of(const std::string& text) {
  Shape shape;
  const char* cursor = text.data();
  const char* const end = text.data() + text.size();
  for (int* const extent : {&shape.columns, &shape.rows, &shape.planes}) {
    const auto [next, error] = std::from_chars(cursor, end, *extent);
    if (error != std::errc() || *extent < 1) return std::nullopt;
    if (next == end) return extent != &shape.columns ? std::optional(shape) : std::nullopt;
    if (*next != 'x') return std::nullopt;
    cursor = next + 1;
  }
  return std::nullopt;
}

// Adds what gives a flat index of products three axes, where it applies to it.
void begin_with_planes(const KernelAnalysis& kernel, std::vector<MacroMember>& members) {
  const StepParameters planes = {{"axis", "x"}, {"dimensions", "2"}, {"to", "z"}};
  if (!find_built_in_step("delinearize")->match(kernel, planes)) return;
  members.push_back({"delinearize", {planes}});
  members.push_back({"delinearize", {{{"axis", "x"}, {"dimensions", "1"}}}});
}

MacroMember coarsen(const char* axis, int factor, bool grouped_first = true) {
  const StepParameters plain = {{"axis", axis}, {"factor", std::to_string(factor)}};
  StepParameters grouped = plain;
  grouped["order"] = "grouped";
  constexpr int kGroup = 4;
  if (factor % kGroup != 0 || !grouped_first) return {"thread_coarsen", {plain}};
  return {"thread_coarsen", {grouped, plain}};
}

class Contraction final : public MacroStep {
 public:
  std::string_view id() const override { return "contraction"; }
  // Tiles of 128 x 128 for large problems; smaller ones where there would be too few blocks.
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    const auto add = [&](const char* block, const char* outputs, const char* depth,
                         const char* slices = nullptr) {
      result.push_back({{"block", block}, {"outputs", outputs}, {"depth", depth}});
      if (slices != nullptr) result.back()["slices"] = slices;
    };
    add("16x16", "8x8", "16");
    add("16x16", "8x8", "8");
    add("16x8", "8x8", "16");
    add("16x16", "4x4", "16");
    add("8x8", "8x8", "16");
    add("16x8", "4x4", "32");
    // Where there are few outputs.
    add("16x8", "8x8", "8", "2");
    add("16x8", "4x4", "8", "4");
    // Where they are in few rows: 128 iterations of all slices together are staged at once.
    add("8x8", "4x8", "32", "4");
    result.back()["stages"] = "3";
    result.back()["tiles"] = "kept";
    // Many small products.
    add("16x2x16", "1x8", "16");
    add("16x4x8", "1x4", "16");
    return result;
  }

 protected:
  Result<std::vector<MacroMember>> sequence(const KernelAnalysis& kernel,
                                            const StepParameters& parameters) const override {
    ParameterReader reader(parameters);
    const std::string block = reader.text("block");
    const std::string outputs = reader.text("outputs");
    const int depth = reader.integer("depth");
    if (!reader.status()) return reader.status().error();
    const auto shape = shape_of(outputs);
    const auto block_shape = shape_of(block);
    if (!shape || !block_shape || shape->planes > 1) {
      return fail(ErrorCode::invalid_argument, "'block' and 'outputs' are written as 16x16");
    }
    const auto tiles = parameters.find("tiles");
    const bool is_kept = tiles != parameters.end();
    if (is_kept && tiles->second != "kept")
      return fail(ErrorCode::invalid_argument, "'tiles' must be kept");
    std::vector<MacroMember> members;
    const StepParameters tile = {{"loop", "1"}, {"depth", std::to_string(depth)}};
    const auto without = opened(kernel);
    if (!without) return without.error();
    const auto& plain = *without;
    if (plain != nullptr) members.push_back(plain->member);
    const KernelAnalysis& first = plain != nullptr ? plain->analysis : kernel;
    const std::size_t opening = members.size();
    if (block_shape->planes > 1) begin_with_planes(first, members);
    if (members.size() == opening) {
      const auto is_flat = begin_with_flat_index(first, first, {"smem_tile", {tile}}, members);
      if (!is_flat) return is_flat.error();
    }
    members.push_back({"coalesce_swap", {{}}, true});
    members.push_back({"block_size", {{{"block", block}}}, is_block(first, block)});
    if (shape->rows > 1) members.push_back(coarsen("y", shape->rows, !is_kept));
    if (shape->columns > 1) members.push_back(coarsen("x", shape->columns));
    StepParameters vectors = tile;
    vectors["copy"] = is_kept ? "kept" : "vector";
    const auto stages = parameters.find("stages");
    const bool has_stages = stages != parameters.end();
    members.push_back({"smem_tile", {vectors, tile}, false, has_stages});
    if (const auto slices = parameters.find("slices"); slices != parameters.end())
      members.push_back({"slice_k", {{{"slices", slices->second}}}, false, has_stages});
    if (has_stages) {
      members.push_back({"async_pipeline", {{{"stages", stages->second}}}});
    } else if (block_shape->planes == 1) {
      // Of several products a block, one strip holds all.
      members.push_back({"double_buffer", {{}}, true});
    }
    return members;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_contraction() {
  return std::make_unique<Contraction>();
}

}  // namespace regraph::rewrite
