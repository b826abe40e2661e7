#include "source/host_launch.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::source::host_launch_test {
namespace {

const KernelSignature kKernel = {"k",
                                 {{.name = "a", .type = ScalarType::f32, .is_pointer = true},
                                  {.name = "n", .type = ScalarType::i32},
                                  {.name = "m", .type = ScalarType::i32}}};

TEST(HostLaunch, FollowsConstantsAndDim3) {
  const auto launch = find_host_launch(R"cuda(
#define BLOCK 32
int main() {
  const int count = 1 << 20, rows = 4 * BLOCK;
  dim3 block(BLOCK, 8);
  dim3 grid((count + BLOCK - 1) / BLOCK, (rows + block.y - 1) / block.y);
  k<<<grid, block, BLOCK * sizeof(float)>>>(p, count, rows);
}
)cuda",
                                       kKernel);
  ASSERT_TRUE(launch.has_value());
  EXPECT_EQ(launch->line, 7);
  EXPECT_EQ(launch->block, (Dim3{32, 8, 1}));
  ASSERT_TRUE(launch->grid.has_value());
  EXPECT_EQ((*launch->grid)[0].text(), "cdiv(n, bx)");
  EXPECT_EQ((*launch->grid)[1].text(), "cdiv(m, by)");
  EXPECT_EQ(launch->dynamic_shared_bytes->text(), "4 * bx");
  EXPECT_EQ(launch->integers.at("n"), 1 << 20);
  EXPECT_EQ(launch->integers.at("m"), 128);
}

TEST(HostLaunch, VariablesOfTheHostAreSizesOfAnOpenGrid) {
  const auto launch = find_host_launch(
      "int main(int argc, char** argv) { int rows = atoi(argv[1]); Image image = read();\n"
      "  int blocks = (rows + 3) / 4; dim3 grid(blocks, image.width / 16);\n"
      "  k<<<grid, 64>>>(p, 7, 8); }",
      kKernel);
  ASSERT_TRUE(launch.has_value());
  EXPECT_FALSE(launch->grid.has_value());
  ASSERT_TRUE(launch->open_grid.has_value());
  EXPECT_EQ((*launch->open_grid)[0].text(), "cdiv(rows, 4)");
  EXPECT_EQ((*launch->open_grid)[1].text(), "image_width / 16");
  EXPECT_EQ(launch->host_sizes, (std::vector<std::string>{"image_width", "rows"}));
  // The host's n is not the kernel's.
  const auto other = find_host_launch("void f(int n) { k<<<n, 64>>>(p, n / 2, 8); }", kKernel);
  ASSERT_TRUE(other && other->open_grid);
  EXPECT_EQ((*other->open_grid)[0].text(), "host_n");
  // What a function returns is no size.
  EXPECT_FALSE(find_host_launch("void f() { k<<<count(), 64>>>(p, 1, 8); }", kKernel)->open_grid);
}

TEST(HostLaunch, QuotientsAreRoundedUpByCeil) {
  const auto launch = find_host_launch(
      "void f(int c) { k<<<(int)ceil((float)c / 256.0f), 256>>>(p, c, 1); }", kKernel);
  ASSERT_TRUE(launch && launch->grid);
  EXPECT_EQ((*launch->grid)[0].text(), "cdiv(n, 256)");
}

TEST(HostLaunch, LinesAreThoseOfTheirFile) {
  const auto launch = find_host_launch(
      "#line 1 \"k.h\"\n__global__ void k(float*, int, int);\n\n#line 2 \"main.cu\"\n"
      "void f() {\n  k<<<1, 64>>>(p, 1, 8); }",
      kKernel);
  ASSERT_TRUE(launch.has_value());
  EXPECT_EQ(launch->line, 3);
}

TEST(HostLaunch, FollowsSeveralDim3InOneDeclaration) {
  const auto launch = find_host_launch(
      "void f(int c) { const dim3 block(64), grid{(unsigned)(c + 63) / 64}, other(1, 2);\n"
      "  k<<<grid, block>>>(p, c, 1); }",
      kKernel);
  ASSERT_TRUE(launch.has_value());
  EXPECT_EQ(launch->block, (Dim3{64, 1, 1}));
  ASSERT_TRUE(launch->grid.has_value());
  EXPECT_EQ((*launch->grid)[0].text(), "cdiv(n, bx)");
}

TEST(HostLaunch, FindsAll) {
  const auto launches = find_host_launches(
      "void f(int c) { k<<<c, 32>>>(p, c, 1); }\nvoid g(int d) { k<<<d, 64>>>(p, d, 2); }",
      kKernel);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].block, (Dim3{32, 1, 1}));
  EXPECT_EQ(launches[1].block, (Dim3{64, 1, 1}));
  EXPECT_EQ((*launches[1].grid)[0].text(), "n");
  EXPECT_EQ(launches[1].line, 2);
  EXPECT_GT(launches[1].begin, launches[0].begin);
}

TEST(HostLaunch, ReadsTemplatesAndPlainNumbers) {
  const auto launch =
      find_host_launch("void f(int n) { k<float, 4><<<n / 256, 256>>>(p, n, 7); }", kKernel);
  ASSERT_TRUE(launch.has_value());
  EXPECT_EQ(launch->block, (Dim3{256, 1, 1}));
  EXPECT_EQ((*launch->grid)[0].text(), "n / 256");
  EXPECT_FALSE(launch->integers.contains("n"));
  EXPECT_EQ(launch->integers.at("m"), 7);
}

TEST(HostLaunch, WhatIsNoConstantStaysOpen) {
  const auto launch = find_host_launch(
      "int main(int c, char** v) { int n = atoi(v[1]); int b = 64; b *= 2; k<<<n, b>>>(p, n, b); }",
      kKernel);
  ASSERT_TRUE(launch.has_value());
  EXPECT_FALSE(launch->block.has_value());
  EXPECT_TRUE(launch->integers.empty());
}

TEST(HostLaunch, AnotherKernelsLaunchIsNone) {
  EXPECT_FALSE(find_host_launch("void f() { other<<<1, 2>>>(); }", kKernel).has_value());
  EXPECT_FALSE(find_host_launch("", kKernel).has_value());
}

// A constant defined by itself ends.
TEST(HostLaunch, SurvivesCycles) {
  const auto launch =
      find_host_launch("#define A B\n#define B A\nvoid f() { k<<<A, B>>>(p, A, B); }", kKernel);
  ASSERT_TRUE(launch.has_value());
  EXPECT_FALSE(launch->block.has_value());
}

// A name means what its own function says, then what the file does, then what others do; device
// code says nothing of the host's names.
TEST(HostLaunch, NamesMeanWhatTheirScopeSays) {
  const KernelSignature kernel = {"k", {{.name = "n", .type = ScalarType::i32}}};
  const std::string device = "__global__ void k(int n) { int block = 4; for (;;) block += 1; }\n";
  const auto block_of = [&](const std::string& host) {
    const auto launch = find_host_launch(device + host, kernel);
    return launch && launch->block ? launch->block->x : 0;
  };
  EXPECT_EQ(block_of("int main() { const int block = 128; k<<<1, block>>>(5); }"), 128U);
  EXPECT_EQ(block_of("const int block = 64;\n"
                     "void other() { int block = 32; }\nint main() { k<<<1, block>>>(5); }"),
            64U);
  EXPECT_EQ(block_of("void other() { const int block = 32; }\nint main() { k<<<1, block>>>(5); }"),
            32U);
  EXPECT_EQ(block_of("int main() { int block = 128; block *= 2; k<<<1, block>>>(5); }"), 0U);
}

// The first extent of the grid of a launch with the parameters n and m of kKernel.
std::string grid_of(const std::string& host) {
  const auto launch = find_host_launch(host, kKernel);
  return launch && launch->grid ? (*launch->grid)[0].text() : "none";
}

TEST(HostLaunch, CastsChangeNothing) {
  EXPECT_EQ(grid_of("void f(long c) { k<<<static_cast<unsigned int>((c + 255) / 256), 256>>>(p, "
                    "static_cast<int>(c), 1); }"),
            "cdiv(n, bx)");
  EXPECT_EQ(grid_of("void f(long c) { k<<<(unsigned int)(c / 32), 256>>>(p, (int)c, 1); }"),
            "n / 32");
  EXPECT_EQ(grid_of("void f(long c) { k<<<int(c) * (std::size_t)2, 256>>>(p, int(c), 1); }"),
            "2 * n");
}

TEST(HostLaunch, FunctionsThatAreOneExpressionAreOpened) {
  const std::string launch = "void f(int c) { const int t = 256; k<<<up(c, t), t>>>(p, c, 1); }";
  for (const std::string up :
       {"inline int up(int a, int b) { return (a + b - 1) / b; }\n",
        "template <typename T> constexpr T up(T a, T b) { return (a + b - 1) / b; }\n",
        "int up(int x, int c) { return (x % c != 0) ? (x / c + 1) : (x / c); }\n",
        "int up(int x, int c) { return x / c + (x % c == 0 ? 0 : 1); }\n",
        "#define up(a, b) (((a) + (b) - 1) / (b))\n",
        "#define up(a, b) \\\n  ((a) + (b) - 1) / (b)\n"})
    EXPECT_EQ(grid_of(up + launch), "cdiv(n, bx)") << up;
  EXPECT_EQ(grid_of("void f(int c) { auto up = [](int a, int b) -> int { return (a + b - 1) / b; };"
                    " k<<<up(c, 256), 256>>>(p, c, 1); }"),
            "cdiv(n, bx)");
  EXPECT_EQ(grid_of("void f(int c) { k<<<std::min(c, 64), 256>>>(p, c, 1); }"), "min(n, 64)");
  // Two meanings are none, nor is a body of several statements.
  EXPECT_EQ(grid_of("int up(int a) { return a; }\nint up(long a) { return 2 * a; }\n"
                    "void f(int c) { k<<<up(c), 256>>>(p, c, 1); }"),
            "none");
  EXPECT_EQ(grid_of("int up(int a) { a += 1; return a; }\n"
                    "void f(int c) { k<<<up(c), 256>>>(p, c, 1); }"),
            "none");
  // A function's own names, not those around the call.
  EXPECT_EQ(grid_of("int up(int c, int m) { return c - m; }\n"
                    "void f(int m, int c) { k<<<up(m, c), 256>>>(p, m, c); }"),
            "n - m");
}

TEST(HostLaunch, ProductsThatArePassedAreTheParameter) {
  EXPECT_EQ(grid_of("void f(int a, int b) { k<<<(a * b + 255) / 256, 256>>>(p, a * b, 1); }"),
            "cdiv(n, bx)");
  EXPECT_EQ(grid_of("void f(int a, int b) { k<<<2 / a * b, 256>>>(p, a * b, 1); }"), "none");
}

TEST(HostLaunch, TheLastValueBeforeTheLaunchCounts) {
  EXPECT_EQ(grid_of("void f(int c) { int g = c; other<<<g, 1>>>(); g = (c + 63) / 64;"
                    " k<<<g, 64>>>(p, c, 1); g = 7; third<<<g, 1>>>(); }"),
            "cdiv(n, bx)");
  // Not where a branch or a loop may lead past it.
  EXPECT_EQ(grid_of("void f(int c) { int g = c; if (c > 9) g = 1; k<<<g, 64>>>(p, c, 1); }"),
            "none");
  EXPECT_EQ(grid_of("void f(int c) { int g = c; if (c > 9) { g = 1; } k<<<g, 64>>>(p, c, 1); }"),
            "none");
  EXPECT_EQ(grid_of("void f(int c) { int g = c; for (;;) { k<<<g, 64>>>(p, c, 1); g = 1; } }"),
            "none");
  EXPECT_EQ(grid_of("void f(int c) { int b = 2; int g = b * c; b = 3; g = b; g = 2 * b * c; b = 4;"
                    " k<<<g, 64>>>(p, c, 1); }"),
            "none");
}

// A block under another name than the launch's, by its extents.
TEST(HostLaunch, ExtentsOfOtherBlocksAreNumbers) {
  EXPECT_EQ(
      grid_of("void f(int c) { dim3 tile(16, 8), block(128); k<<<c / (tile.x * tile.y * tile.z),"
              " block>>>(p, c, 1); }"),
      "n / 128");
}

// One buffer for two parameters: in the first launch, or in any.
TEST(HostLaunch, SeesBuffersThatArePassedTwice) {
  const KernelSignature kernel = {"k",
                                  {{.name = "in", .type = ScalarType::f32, .is_pointer = true},
                                   {.name = "out", .type = ScalarType::f32, .is_pointer = true},
                                   {.name = "n", .type = ScalarType::i32}}};
  const auto twice = find_host_launch("void f() { k<<<1, 32>>>(x, x, 5); }", kernel);
  ASSERT_TRUE(twice.has_value());
  EXPECT_EQ(twice->same_buffer.at("out"), "in");
  EXPECT_EQ(twice->overlapping_line, 1);
  const auto later =
      find_host_launch("void f() { k<<<1, 32>>>(x, y, 5);\nk<<<1, 32>>>(x, x, 5); }", kernel);
  ASSERT_TRUE(later.has_value());
  EXPECT_TRUE(later->same_buffer.empty());
  EXPECT_EQ(later->overlapping_line, 2);
  const auto none = find_host_launch("void f() { k<<<1, 32>>>(nullptr, nullptr, 5); }", kernel);
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->overlapping_line, 0);
}

}  // namespace
}  // namespace regraph::source::host_launch_test
