#include "sass/line_table.h"

#include "base/child_process.h"
#include "base/files.h"
#include "eval/compile/same_code.h"
#include "sass/sass_test_support.h"

#include <gtest/gtest.h>

#include <sstream>

namespace regraph::sass::line_table_test {
namespace {

const char* const kTwoKernels = R"cuda(
__global__ void other(float* p) { p[threadIdx.x] = 1.0f / p[threadIdx.x]; }
__global__ void k(const float* in, float* out, int n) {
  __shared__ float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x] * 3.0f + n;
}
)cuda";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

TEST(LineTable, LeadsEachAccessToItsPtx) {
  for (const char* architecture : test::kArchitectures) {
    const CompiledKernel& kernel = test::compiled(kTwoKernels, architecture);
    const MachineCode code = test::machine_code(kernel);
    const std::vector<std::string> lines = lines_of(kernel.ptx);
    int accesses = 0;
    for (const CodeInstruction& one : code.instructions) {
      const char* expected = nullptr;
      switch (one.what.operation_class) {
        case OperationClass::load_global:
          expected = "ld.global";
          break;
        case OperationClass::store_global:
          expected = "st.global";
          break;
        case OperationClass::load_shared:
          expected = "ld.shared";
          break;
        case OperationClass::store_shared:
          expected = "st.shared";
          break;
        case OperationClass::barrier:
          expected = "bar";
          break;
        default:
          continue;
      }
      ++accesses;
      ASSERT_GT(one.ptx_line, 0);
      ASSERT_LE(one.ptx_line, static_cast<int>(lines.size()));
      const std::string& line = lines[static_cast<std::size_t>(one.ptx_line) - 1];
      EXPECT_NE(line.find(expected), std::string::npos) << architecture << ": " << line;
    }
    EXPECT_EQ(accesses, 5) << architecture;
  }
}

TEST(LineTable, RowsAreInOrderAndKeptApartBySection) {
  const CompiledKernel& kernel = test::compiled(kTwoKernels);
  const auto image = ElfImage::open(kernel.cubin);
  ASSERT_TRUE(image.has_value());
  const std::vector<LineRow> rows = read_line_table(*image);
  ASSERT_FALSE(rows.empty());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_LE(std::pair(rows[i - 1].section, rows[i - 1].address),
              std::pair(rows[i].section, rows[i].address));
  }
  EXPECT_EQ(line_at(rows, 9999, 0), 0);
  EXPECT_EQ(line_at(rows, rows.back().section, ~std::uint64_t{0}), 0);
  EXPECT_EQ(line_at({}, 1, 0), 0);
}

// Rows hold until the next one.
TEST(LineTable, ARowHoldsUntilTheNext) {
  const std::vector<LineRow> rows = {{3, 0, 10}, {3, 32, 20}, {3, 64, 0}, {5, 16, 7}};
  EXPECT_EQ(line_at(rows, 3, 0), 10);
  EXPECT_EQ(line_at(rows, 3, 16), 10);
  EXPECT_EQ(line_at(rows, 3, 32), 20);
  EXPECT_EQ(line_at(rows, 3, 64), 0);
  EXPECT_EQ(line_at(rows, 4, 0), 0);
  EXPECT_EQ(line_at(rows, 5, 0), 0);
  EXPECT_EQ(line_at(rows, 5, 48), 7);
}

// What the model counts in must be what runs without a line table.
TEST(LineTable, DoesNotChangeTheCode) {
  const auto toolkit = find_cuda_toolkit();
  ASSERT_TRUE(toolkit.ok());
  const std::filesystem::path ptxas = toolkit->root / "bin" / "ptxas";
  if (!std::filesystem::exists(ptxas)) GTEST_SKIP() << "no ptxas in " << toolkit->root;
  const auto directory = TemporaryDirectory::create("regraph-line-table-");
  ASSERT_TRUE(directory.ok());
  const std::string source = directory->path() / "k.ptx";
  for (const char* architecture : test::kArchitectures) {
    const CompiledKernel& kernel = test::compiled(kTwoKernels, architecture);
    std::string without;
    std::string with;
    ASSERT_TRUE(write_file(source, code_only(kernel.ptx)).ok());
    for (std::string* cubin : {&without, &with}) {
      ChildRequest child;
      child.program = ptxas;
      child.arguments = {std::string("-arch=") + architecture, source, "-o", source + ".cubin"};
      if (cubin == &with) child.arguments.emplace_back("-lineinfo");
      const auto outcome = run_child(child, Cancellation());
      ASSERT_TRUE(outcome.ok() && outcome->succeeded()) << outcome->error;
      auto bytes = read_file(source + ".cubin", 1 << 24);
      ASSERT_TRUE(bytes.ok());
      *cubin = *bytes;
    }
    const auto text = [&](const std::string& cubin) {
      const auto image = ElfImage::open(std::as_bytes(std::span(cubin)));
      const Elf64_Shdr* section = image ? image->find(".text." + kernel.entry) : nullptr;
      return section == nullptr ? std::string() : std::string(image->content(*section));
    };
    EXPECT_FALSE(text(with).empty());
    EXPECT_EQ(text(with), text(without)) << architecture;
    EXPECT_FALSE(read_machine_code(std::as_bytes(std::span(without)), kernel.entry).ok());
    EXPECT_TRUE(read_machine_code(std::as_bytes(std::span(with)), kernel.entry).ok());
  }
}

}  // namespace
}  // namespace regraph::sass::line_table_test
