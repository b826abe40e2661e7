// Kernels in the styles that people write, through the front end: which the rewriter can work on,
// which stay opaque, which are refused, and what is inferred when there is no manifest.
#include "cli/search_program.h"

namespace regraph::styles_test {
namespace {

enum class Outcome {
  rewritable,
  opaque,   // searched with an explanation why the rewriter has no form for it
  missing,  // something has to be said in a manifest
  refused,
};

struct Style {
  const char* name;
  Outcome outcome;
  std::vector<std::string> parts;  // of the manifest, or of the message
  std::vector<std::string> flags = {};
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for it.
void PrintTo(const Style& style, std::ostream* out) {
  *out << style.name;
}

const Style kStyles[] = {
    {"guard_1d", Outcome::rewritable, {"x: {dir: in, shape: [n]", "y: {dir: inout, shape: [n]"}},
    {"early_return", Outcome::rewritable, {"out: {dir: out, shape: [n]"}},
    {"index_macro", Outcome::rewritable, {"A: {dir: in, shape: [\"K * M\"]"}},
    {"size_t_index", Outcome::rewritable, {"m: {dir: inout, shape: [\"cols * rows\"]"}},
    {"grid_stride", Outcome::rewritable, {"min(cdiv(n, bx), 1024)"}},
    {"stencil_3d", Outcome::rewritable, {"u: {dir: in, shape: [\"nx * ny * nz\"]", "[8, 8, 4]"}},
    {"template_type", Outcome::rewritable, {"clamp_all<float> is taken", "shape: [n]"}},
    {"template_tile",
     Outcome::rewritable,
     {"n: 4194304", "out: {dir: out, shape: [\"cdiv(n, 128)"}},
    {"host_program", Outcome::rewritable, {"n: 1000000", "[128, 1, 1]", "as in line 39"}},
    {"constant_filter", Outcome::rewritable, {"taps: {dir: in, shape: [5]"}},
    {"half_data", Outcome::rewritable, {"x: {dir: in, shape: [n]", "y: {dir: inout, shape: [n]"}},
    {"double_dot", Outcome::rewritable, {"a: {dir: in, shape: [\"cols * rows\"]"}},
    {"integer_output", Outcome::rewritable, {"above: {dir: out, shape: [n]"}},
    {"vector_type", Outcome::rewritable, {"v: {dir: in, shape: [n]", "out: {dir: out, shape: [n]"}},
    {"uint_alias",
     Outcome::rewritable,
     {"state: {dir: inout, shape: [n]", "'uint' is taken as unsigned int"}},
    {"old_shuffle",
     Outcome::rewritable,
     {"in: {dir: in, shape: [n]", "taken as __shfl_down_sync with the whole warp"}},
    {"size_from_grid", Outcome::rewritable, {"[1024, 1, 1]", "[262144]"}},
    {"extern_c", Outcome::rewritable, {"x: {dir: inout, shape: [n]"}},
    {"namespaced", Outcome::rewritable, {"x: {dir: inout, shape: [n]"}},
    {"block_per_row",
     Outcome::rewritable,
     {"m: {dir: in, shape: [\"cols * rows\"]", "grid: [rows"}},
    {"modulo_index", Outcome::rewritable, {"bias: {dir: in, shape: [d]"}},
    {"own_header", Outcome::rewritable, {"x: {dir: inout, shape: [n]"}},
    {"front_matter", Outcome::rewritable, {"table: {dir: in, shape: [m]"}},
    {"histogram", Outcome::rewritable, {"bins: {dir: inout, shape: [64]"}},
    {"two_kernels", Outcome::rewritable, {"x: {dir: inout, shape: [n]"}, {"--kernel", "second"}},
    {"do_while", Outcome::rewritable, {"start: {dir: in, shape: [n]"}},
    {"inline_ptx", Outcome::opaque, {"out: {dir: out, shape: [n]", "has no form for this code"}},
    {"lambda_inside",
     Outcome::rewritable,
     {"x: {dir: inout, shape: [n]", "'x': inout, n elements"}},
    {"pointer_bump", Outcome::rewritable, {"m: {dir: in, shape: [\"cols * rows\"]", "rows: 4096"}},
    {"switch_case", Outcome::rewritable, {"op: {dir: in, shape: [n]"}},
    {"div_mod",
     Outcome::rewritable,
     {"[1024, 1, 1]", "A: {dir: in, shape: [\"K * M\"]", "cdiv(M, 32)"}},
    {"tile_macro", Outcome::rewritable, {"[16, 16, 1]", "in: {dir: in, shape: [\"n * n\"]"}},
    {"while_loop", Outcome::rewritable, {"in: {dir: in, shape: [n]", "out: {dir: out, shape: [n]"}},
    {"helper_in_loop", Outcome::rewritable, {"signal: {dir: in, shape: [length]"}},
    {"compound_operator", Outcome::rewritable, {"position: {dir: inout, shape: [n]"}},
    {"vector_operators",
     Outcome::rewritable,
     {"x: {dir: in, shape: [quads]", "y: {dir: inout, shape: [quads]"}},
    {"stream_operator",
     Outcome::rewritable,
     {"v: {dir: inout, shape: [n]", "n: 65536", "[\"cdiv(n, bx)\""}},
    {"std_names", Outcome::rewritable, {"m: {dir: in, shape: [\"cols * rows\"]"}},
    {"angle_header",
     Outcome::rewritable,
     {"x: {dir: inout, shape: [n]"},
     {"--include-dir", REGRAPH_SOURCE_DIR "/tests/cli/styles/include_here"}},
    {"angle_header", Outcome::refused, {"constants.cuh"}},
    {"thrust_host", Outcome::rewritable, {"in: {dir: in, shape: [n]", "n: 1048576"}},
    {"host_scope",
     Outcome::rewritable,
     {"[192, 1, 1]", "count: 300000", "in: {dir: in, shape: [\"8 * count\"]"}},
    {"several_launches",
     Outcome::refused,
     {"block 64, grid 64", "block 256, grid 4096", "say which is meant, e.g. --launch"}},
    {"several_launches", Outcome::rewritable, {"[256, 1, 1]", "n: 1048576"}, {"--launch", "9"}},
    {"template_wrapper",
     Outcome::rewritable,
     {"fill<double, 4> is taken", "cdiv(count, 4 * bx)", "data: {dir: out, shape: [count]"}},
    {"row_pointer", Outcome::rewritable, {"matrix: {dir: inout, shape: [\"cols * rows\"]"}},
    {"read_only_loads", Outcome::rewritable, {"base: {dir: in, shape: [n]", "delta: {dir: in"}},
    {"one_total", Outcome::rewritable, {"sum: {dir: inout, shape: [1]"}},
    {"call_macros",
     Outcome::rewritable,
     {"points: {dir: in, shape: [\"count * dims\"]", "cdiv(count, bx)"}},
    {"byte_order_mark", Outcome::rewritable, {"x: {dir: inout, shape: [n]"}},
    {"same_names", Outcome::refused, {"v1::run, v2::run"}},
    {"same_names",
     Outcome::rewritable,
     {"x: {dir: inout, shape: [n]", "bytes: \"16 * n\""},
     {"--kernel", "v2::run"}},
    {"hidden_kernel", Outcome::rewritable, {"x: {dir: inout, shape: [n]"}},
    {"block_sums",
     Outcome::rewritable,
     {"grid: [blocks,", "in: {dir: in, shape: [\"blocks * columns\"]", "out: {dir: out"}},
    {"argument_grid", Outcome::rewritable, {"cdiv(words, 128)", "'words' of the host code"}},
    {"dynamic_shared", Outcome::rewritable, {"smem: \"4 * bx\"", "out: {dir: out, shape: [n]"}},
    {"cooperative", Outcome::rewritable, {"out: {dir: inout, shape: [1]"}},
    {"comma_loop", Outcome::rewritable, {"text: {dir: in, shape: [\"length * rows\"]"}},
    {"structure_of_points",
     Outcome::rewritable,
     {"points: {dir: inout, shape: [count]", "centers: {dir: in, shape: [k]"}},
    {"rgb_image", Outcome::rewritable, {"rgb: {dir: in, shape: [\"3 * height * width\"]"}},
    {"flag_parameter", Outcome::rewritable, {"c: {dir: out, shape: [n]"}},
    {"break_in_loop", Outcome::rewritable, {"m: {dir: in, shape: [\"cols * rows\"]"}},
    {"guard_in_a_variable", Outcome::rewritable, {"out: {dir: out, shape: [n]", "cdiv(n, bx)"}},
    {"padded_tile",
     Outcome::rewritable,
     {"[32, 8, 1]", "cdiv(height, 32)", "idata: {dir: in, shape: [\"height * width\"]"}},
    {"class_functor",
     Outcome::rewritable,
     {"apply<Gaussian> is taken", "in: {dir: in, shape: [n]"}},
    {"device_lambda", Outcome::rewritable, {"y: {dir: out, shape: [n]"}},
    {"cublas_types", Outcome::rewritable, {"x: {dir: in, shape: [n]", "y: {dir: out, shape: [n]"}},
    {"cub_limits", Outcome::rewritable, {"m: {dir: in, shape: [\"cols * rows\"]"}},
    {"torch_extension",
     Outcome::rewritable,
     {"silu<c10::BFloat16> is taken", "in: {dir: in, shape: [n]", "cdiv(n, bx)"}},
    {"aten_sums",
     Outcome::rewritable,
     {"kernel: \"at::native::row_sums<at::Half, acc_type<at::Half,true>>\"",
      "in: {dir: in, shape: [\"rows * width\"]"}},
    {"tensor_accessor",
     Outcome::opaque,
     {"its integers are 64", "a.data_: {dir: inout, shape: [\"64 * n + 3969\"]"}},
    {"declared_later", Outcome::rewritable, {"the compiler did not know cube", "y: {dir: out"}},
    {"file_shared", Outcome::rewritable, {"smem: 1024", "x: {dir: in, shape: [n]"}},
    {"file_tile", Outcome::rewritable, {"x: {dir: in, shape: [n]", "y: {dir: out, shape: [n]"}},
    {"hidden_in_namespace",
     Outcome::rewritable,
     {"x: {dir: inout, shape: [n]", "n elements, seen when it ran"}},
    {"made_by_macro",
     Outcome::rewritable,
     {"DEFINE_BINARY", "a: {dir: in, shape: [n]", "c: {dir: out, shape: [n]"},
     {"--kernel", "mul_kernel"}},
    {"enumerators", Outcome::rewritable, {"x: {dir: in, shape: [n]", "y: {dir: out, shape: [n]"}},
    {"assertions", Outcome::rewritable, {"x: {dir: in, shape: [n]", "y: {dir: out, shape: [n]"}},
    {"array_parameter", Outcome::missing, {"FILL IN args.a.shape"}},
    {"two_kernels", Outcome::refused, {"several kernels (first, second)"}},
    {"struct_parameter",
     Outcome::rewritable,
     {"the structure 'p' holds: its integers are 64", "p: {bytes: \"0000c03f40000000\"}",
      "there is 'i < p.n' (line 7): give the launch"}},
    {"texture", Outcome::refused, {"texture.cu:1: texture and surface references were removed"}},
    {"device_table", Outcome::rewritable, {"x: {dir: in, shape: [n]"}},
    {"grid_barrier", Outcome::refused, {"'two_phases' waits for all blocks of its grid"}},
    {"macro_kernel", Outcome::refused, {"several kernels (square_all, negate_all)"}},
    {"csr_product",
     Outcome::rewritable,
     {"init: \"csr_offsets(nnz)\"", "init: \"csr_columns(columns_range)\""}},
    {"guarded_sum", Outcome::rewritable, {"total: {dir: inout, shape: [1]"}},
    {"triangle_rows",
     Outcome::rewritable,
     {"packed: {dir: in, shape: [packed_length]", "another size needs another length",
      "sums: {dir: out, shape: [n]"}},
    {"structure_by_value", Outcome::rewritable, {"the structure 'window' holds"}},
    {"structure_chooses", Outcome::rewritable, {"cells: {dir: in, shape: [n]"}},
    {"template_unsaid", Outcome::rewritable, {"so that 'T' is float, 'VEC' is 4"}},
    {"overloaded_kernels", Outcome::rewritable, {"x: {dir: inout"}, {"--kernel", "clamp_up"}},
    {"register_class", Outcome::rewritable, {"x: {dir: inout, shape: [n]"}},
    {"typedef_enumerators", Outcome::rewritable, {"by_mode<kNegate> is taken"}},
    {"bound_function_below", Outcome::rewritable, {"did not know relu, so that what declares it"}},
    {"packs_in_two_scopes", Outcome::rewritable, {"x: {dir: in"}},
    {"unnamed_parameter", Outcome::rewritable, {"unnamed_2: {bytes: \"00\"}"}},
    {"void_pointer", Outcome::rewritable, {"data: {dir: inout, shape: [\"4 * n\"]"}},
    {"own_dispatch", Outcome::rewritable, {"in: {dir: in, shape: [n]", "out: {dir: inout"}},
    {"guard_of_a_square", Outcome::rewritable, {"guessed from 'i * i >= n' (line 4)"}},
    {"device_counter",
     Outcome::refused,
     {"device_counter.cu:1: __device__ 'finished' keeps state"}},
};

// What --init printed without its comments.
std::string manifest_of(const std::string& output) {
  const std::size_t begin = output.find("\nkernel: ");
  return begin == std::string::npos ? "" : output.substr(begin + 1);
}

// Whether the kernel is called by a template's instance or with its namespaces.
bool names_more_than_an_identifier(const std::string& output) {
  const std::string manifest = manifest_of(output);
  return manifest.substr(0, manifest.find('\n')).find('"') != std::string::npos;
}

class Styles : public test::SearchProgram, public ::testing::WithParamInterface<Style> {};

TEST_P(Styles, AreReadAsExpected) {
  const Style& style = GetParam();
  std::vector<std::string> arguments = {
      std::string(REGRAPH_SOURCE_DIR) + "/tests/cli/styles/" + style.name + ".cu", "--init"};
  arguments.insert(arguments.end(), style.flags.begin(), style.flags.end());
  const test::ProgramRun done = run(arguments);
  const bool asked = done.error.find("several ways") != std::string::npos;
  const int refused = asked ? 2 : 4;
  EXPECT_EQ(done.exit_code, style.outcome == Outcome::refused ? refused : 0) << done.error;
  const std::string& text = style.outcome == Outcome::refused ? done.error : done.output;
  for (const std::string& part : style.parts)
    EXPECT_NE(text.find(part), std::string::npos) << "wanted: " << part << "\ngot: " << text;
  const bool missing = done.output.find("# FILL IN") != std::string::npos;
  EXPECT_EQ(missing, style.outcome == Outcome::missing) << done.output;
  const bool opaque = done.output.find("has no form for this code") != std::string::npos ||
                      done.output.find("rewriter cannot work on") != std::string::npos;
  if (style.outcome != Outcome::missing) {
    EXPECT_EQ(opaque, style.outcome == Outcome::opaque) << done.output;
  }
  if (done.exit_code == 0 && names_more_than_an_identifier(done.output)) {
    std::filesystem::copy(arguments.front(), path(std::string(style.name) + ".cu"));
    file(std::string(style.name) + ".regraph.yaml", done.output);
    arguments.front() = std::string(style.name) + ".cu";
    const test::ProgramRun again = run(arguments);
    EXPECT_EQ(manifest_of(again.output), manifest_of(done.output)) << again.error;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Styles, ::testing::ValuesIn(kStyles), [](const auto& style) {
  return std::to_string(style.index) + "_" + style.param.name;
});

class FrontEnd : public test::SearchProgram {};

// What --init prints is a manifest that runs.
TEST_F(FrontEnd, TheInitialManifestIsAnInput) {
  file("k.cu",
       "__global__ void k(const float* a, float* b, int n) {\n"
       "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
       "  if (i < n) b[i] = 2.0f * a[i];\n}\n");
  const test::ProgramRun init = run({"k.cu", "--init"});
  ASSERT_EQ(init.exit_code, 0) << init.error;
  file("k.regraph.yaml", init.output);
  const test::ProgramRun again = run({"k.cu", "--init"});
  EXPECT_EQ(again.exit_code, 0) << again.error;
  EXPECT_NE(again.output.find("shape: [n]"), std::string::npos);
  EXPECT_EQ(again.output.find("assumed: 'a': in"), std::string::npos) << again.output;
}

TEST_F(FrontEnd, MacrosFollowTheLaunch) {
  file("k.cu",
       "/*@regraph\ndefines: {B: bx}\nlaunch: {block: 64, grid: \"cdiv(n, bx)\"}\n*/\n"
       "__global__ void k(float* a, int n) {\n  __shared__ float s[B];\n"
       "  int i = blockIdx.x * B + threadIdx.x;\n  s[threadIdx.x] = 1.0f;\n"
       "  __syncthreads();\n  if (i < n) a[i] = s[B - 1 - threadIdx.x];\n}\n");
  const test::ProgramRun init = run({"k.cu", "--init", "--block", "96"});
  EXPECT_EQ(init.exit_code, 0) << init.error;
  EXPECT_EQ(init.output.find("FILL IN"), std::string::npos) << init.output;
  // A macro that does not agree is found by the check of the original.
  const test::ProgramRun wrong = run({"k.cu", "--init", "--block", "96", "--define", "B=32"});
  EXPECT_NE(wrong.output.find("FILL IN"), std::string::npos) << wrong.output;
}

TEST_F(FrontEnd, ASidecarGoesBeforeTheComment) {
  file("k.cu",
       "/*@regraph\nsizes: {n: 10}\n*/\n__global__ void k(float* a, int n) {\n"
       "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) a[i] = 1.0f;\n}\n");
  EXPECT_NE(run({"k.cu", "--init"}).output.find("sizes: {n: 10}"), std::string::npos);
  file("k.regraph.yaml", "sizes: {n: 20}\n");
  EXPECT_NE(run({"k.cu", "--init"}).output.find("sizes: {n: 20}"), std::string::npos);
}

}  // namespace
}  // namespace regraph::styles_test
