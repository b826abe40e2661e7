#include "capture/problem/captured_kernel.h"

#include "base/files.h"
#include "capture/problem/kernel_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace regraph::capture::captured_kernel_test {
namespace {

class CapturedKernelTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(directory.ok()); }
  Result<TemporaryDirectory> directory = TemporaryDirectory::create("regraph-captured-");
};

CapturedKernel example() {
  CapturedKernel kernel;
  kernel.symbol = "_Z5scalePfi";
  kernel.command = {"./a.out", "1\xff"};
  kernel.directory = "/somewhere";
  kernel.device = "h200";
  kernel.launches = 7;
  kernel.overlapping = true;
  kernel.slots = {{0, 8}, {8, 4}};
  KeptLaunch launch;
  launch.sequence = 3;
  launch.grid = {4, 2, 1};
  launch.block = {256, 1, 1};
  launch.parameters = std::vector<std::byte>(12, std::byte{0xab});
  launch.pointers = {{0, 0, 5, 16, 400, "00.zst"}};
  launch.variables = {{"weights", 40, "01.zst"}};
  kernel.kept = {launch};
  return kernel;
}

TEST_F(CapturedKernelTest, IsReadBackAsItWas) {
  ASSERT_TRUE(write_captured_kernel(directory->path(), example()).ok());
  const auto read = read_captured_kernel(directory->path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->symbol, "_Z5scalePfi");
  EXPECT_EQ(read->launches, 7u);
  EXPECT_TRUE(read->overlapping);
  ASSERT_EQ(read->kept.size(), 1u);
  EXPECT_EQ(read->kept[0].grid, (Dim3{4, 2, 1}));
  EXPECT_EQ(read->kept[0].parameters, example().kept[0].parameters);
  EXPECT_EQ(read->kept[0].pointers[0].offset, 16u);
  EXPECT_EQ(read->kept[0].variables[0].name, "weights");
  const auto mode = std::filesystem::status(directory->path()).permissions();
  EXPECT_EQ(mode & (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
            std::filesystem::perms::none);
}

TEST_F(CapturedKernelTest, SeveralKernelsInARowAreReadBack) {
  CapturedKernel kernel = example();
  kernel.stages = {{"_Z5scalePfi", 2}, {"_Z4movePf", 1}};
  kernel.slots.push_back({12, 8});
  kernel.kept[0].parameters.resize(20);
  kernel.kept[0].stages = {{{4, 2, 1}, {256, 1, 1}, 0}, {{3, 1, 1}, {64, 1, 1}, 128}};
  ASSERT_TRUE(write_captured_kernel(directory->path(), kernel).ok());
  const auto read = read_captured_kernel(directory->path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->stages.size(), 2u);
  EXPECT_EQ(read->stages[1].symbol, "_Z4movePf");
  EXPECT_EQ(read->kept[0].stages[1].dynamic_shared_bytes, 128u);
  EXPECT_EQ(read->kept[0].threads(), 8u * 256 + 3 * 64);
  const auto slots = slots_of(*read, "_Z4movePf");
  ASSERT_EQ(slots.size(), 1u);
  EXPECT_EQ(slots[0].offset, 0u);
  EXPECT_TRUE(slots_of(*read, "_Z5otherv").empty());
  // Launches and kernels have to have the same stages.
  kernel.kept[0].stages.pop_back();
  ASSERT_TRUE(write_captured_kernel(directory->path(), kernel).ok());
  EXPECT_EQ(read_captured_kernel(directory->path()).error().code, ErrorCode::invalid_argument);
  kernel.kept[0].stages = {{}, {}};
  kernel.stages[1].slots = 7;
  ASSERT_TRUE(write_captured_kernel(directory->path(), kernel).ok());
  EXPECT_EQ(read_captured_kernel(directory->path()).error().code, ErrorCode::invalid_argument);
}

TEST_F(CapturedKernelTest, SaysWhatIsWrongWithOthers) {
  const auto read = [&] { return read_captured_kernel(directory->path()); };
  EXPECT_EQ(read().error().code, ErrorCode::not_found);
  ASSERT_TRUE(write_captured_kernel(directory->path(), example()).ok());
  const auto text = read_file(directory->path() / kCaptureFile, 1 << 20);
  ASSERT_TRUE(text.ok());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string other = *text;
    const std::size_t at = other.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    other.replace(at, from.size(), to);
    EXPECT_TRUE(write_file(directory->path() / kCaptureFile, other).ok());
    const auto result = read();
    EXPECT_FALSE(result.ok()) << to;
    if (!result.ok()) {
      EXPECT_NE(result.error().message.find("capture.json"), std::string::npos);
    }
  };
  with("folder/1", "folder/9");
  with("\"00.zst\"", "\"../../etc/passwd\"");  // outside of the folder
  with("abababab", "xyxyxyxy");
  with("\"parameter\": 0", "\"parameter\": 9");
  with("\"launches\": 7", "\"launches\": \"many\"");
  for (std::size_t length = 0; length < text->size(); length += 97) {
    ASSERT_TRUE(write_file(directory->path() / kCaptureFile, text->substr(0, length)).ok());
    EXPECT_FALSE(read().ok());
  }
}

TEST(KernelSource, NamesAreThoseOfTheSource) {
  EXPECT_EQ(kernel_name_of("_Z5scalePfi"), "scale");
  EXPECT_EQ(kernel_name_of("_ZN3lib4moveIfLi3EEEvPT_i"), "move<float, 3>");
  EXPECT_EQ(plain_name_of("_ZN3lib4moveIfLi3EEEvPT_i"), "move");
  EXPECT_EQ(kernel_name_of("plain"), "plain");
  EXPECT_EQ(qualified_name_of("_ZN3lib4moveIfLi3EEEvPT_i"), "lib::move<float, 3>");
  EXPECT_EQ(qualified_name_of("_ZN12_GLOBAL__N_15scaleEPfi"), "scale");
  EXPECT_EQ(qualified_name_of("_Z5scalePfi"), "scale");
}

TEST_F(CapturedKernelTest, FindsTheFileThatDefinesAKernel) {
  const auto put = [&](const char* name, const char* text) {
    ASSERT_TRUE(write_file(directory->path() / name, text).ok());
  };
  put("a.cu", "void f() { scale<<<1, 1>>>(p, 3); }\n");
  put("b.cu", "#include \"kernels.cuh\"\nint main() {}\n");
  put("kernels.cuh", "template <int K>\n__global__ void\nscale(float* p, int n) { p[0] = n; }\n");
  put("c.cu", "__global__ void scale_more(float* p) {}\n");
  const auto found = find_kernel_source(directory->path(), "_Z5scalePfi");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].path.filename(), "b.cu");
  put("d.cu", "__global__ void scale(float* p, int n) {}\n");
  ASSERT_EQ(find_kernel_source(directory->path(), "_Z5scalePfi").size(), 2u);
  EXPECT_EQ(find_kernel_source(directory->path(), "_Z5scalePfi")[0].path.filename(), "d.cu");
  EXPECT_TRUE(find_kernel_source(directory->path(), "_Z5otherPfi").empty());
  // A file that another one includes needs what stands there in front of it.
  put("main.cu", "#define STEP 2\n#include \"parts.cu\"\nint main() {}\n");
  put("parts.cu", "#include \"part.cu\"\n");
  put("part.cu", "__global__ void fill(float* p) { p[0] = STEP; }\n");
  EXPECT_EQ(find_kernel_source(directory->path(), "_Z4fillPf").at(0).path.filename(), "main.cu");
  // Not what was captured before, nor the best kernel of a run.
  for (const auto& [folder, marker] :
       {std::pair{"kept", "capture.json"}, std::pair{"run", "run.db"}}) {
    std::filesystem::create_directories(directory->path() / folder);
    ASSERT_TRUE(
        write_file(directory->path() / folder / "a.cu", "__global__ void scale(float*, int) {}"));
    ASSERT_TRUE(write_file(directory->path() / folder / marker, "{}"));
  }
  EXPECT_EQ(find_kernel_source(directory->path(), "_Z5scalePfi").size(), 2u);
}

}  // namespace
}  // namespace regraph::capture::captured_kernel_test
