// Whether patch(1) makes of a user's file what was meant, and of that the user's file again.
#include "base/child_process.h"
#include "base/files.h"
#include "base/unified_diff.h"
#include "handback/handback_support.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace regraph::handback::patch_program_test {
namespace {

using test::kSums;
using test::SearchedSums;
using test::text_of;

constexpr const char* kPatch = "/usr/bin/patch";

class PatchProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kPatch)) GTEST_SKIP() << "there is no patch(1)";
  }

  [[nodiscard]] std::string after(const std::string& text, const std::string& patch,
                                  bool backwards) const {
    EXPECT_TRUE(write_file(folder.path() / "main.cu", text).ok());
    ChildRequest request;
    request.program = kPatch;
    request.arguments = {"-p1", "-s"};
    if (backwards) request.arguments.emplace_back("-R");
    request.input = patch;
    request.working_directory = folder.path();
    const auto done = run_child(request, Cancellation{});
    EXPECT_TRUE(done.ok() && done->succeeded()) << (done.ok() ? done->output : "");
    const auto result = read_file(folder.path() / "main.cu", 1 << 20);
    return result.ok() ? *result : "";
  }

  TemporaryDirectory folder = *TemporaryDirectory::create("regraph-handback-");
};

TEST_F(PatchProgram, MakesWhatWasMeant) {
  const std::string host =
      "\n\n// Launches.\nvoid run(float* a, float* b, int m, int n) {\n\tsums<<<(m + 127) / 128, "
      "128>>>(a, b, m, n);\n}\n\nint main() {}";
  std::vector<std::string> files = {kSums + host, kSums + host + "\n",
                                    "// First.\n\n" + kSums + host, host + "\n" + kSums,
                                    host + "\n" + kSums.substr(0, kSums.size() - 1)};
  const std::size_t plain = files.size();
  for (std::size_t i = 0; i < plain; ++i) {
    std::string returns;
    for (const char c : files[i])
      returns += c == '\n' ? std::string("\r\n") : std::string(1, c);
    files.push_back(returns);
  }
  for (const std::string& file : files) {
    SearchedSums searched(file);
    const std::size_t begin = searched.winner.source.find("__global__ void sums(const");
    std::size_t end = searched.winner.source.find("\n}", begin);
    searched.winner.source.replace(begin, end + 2 - begin, test::kFastSums);
    searched.set_launch({256, 1, 1}, "cdiv(rows, 8)");
    const std::string wanted = text_of(searched.into(file));
    EXPECT_NE(wanted, file);
    const std::string patch = unified_diff(file, wanted, "a/main.cu", "b/main.cu");
    EXPECT_EQ(after(file, patch, false), wanted) << patch;
    EXPECT_EQ(after(wanted, patch, true), file) << patch;
  }
}

}  // namespace
}  // namespace regraph::handback::patch_program_test
