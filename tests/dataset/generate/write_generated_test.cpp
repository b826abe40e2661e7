#include "base/files.h"
#include "dataset/generate/canonical_text.h"
#include "dataset/generate/generator.h"
#include "learn/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <unordered_set>

namespace regraph::dataset::write_generated_test {
namespace {

class WriteGenerated : public ::testing::Test {
 protected:
  WriteGenerated() : directory_(*TemporaryDirectory::create("regraph-generated-")) {}

  [[nodiscard]] const std::filesystem::path& parent() const { return directory_.path(); }
  [[nodiscard]] std::filesystem::path folder() const { return parent() / "corpus"; }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(parent()),
                                                  std::filesystem::directory_iterator()));
  }
  void expect_refused(const std::filesystem::path& place, const GeneratorRequest& request,
                      ErrorCode code) const {
    const std::size_t before = entries();
    const auto report = write_generated(place, request);
    ASSERT_FALSE(report) << place;
    EXPECT_EQ(report.error().code, code) << report.error().message;
    EXPECT_EQ(entries(), before) << report.error().message;
  }

 private:
  TemporaryDirectory directory_;
};

// No file may be longer while it lives.
class ShortFiles {
 public:
  explicit ShortFiles(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    rlimit less = before_;
    less.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &less);
  }
  ShortFiles(const ShortFiles&) = delete;
  ShortFiles& operator=(const ShortFiles&) = delete;
  ~ShortFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_ = {};
  void (*handler_)(int) = SIG_DFL;
};

TEST_F(WriteGenerated, IsACorpus) {
  const auto report = write_generated(folder(), {{}, 3, 2});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->written + report->repeated, 2 * generator_families().size());
  const auto corpus = learn::read_corpus(folder());
  ASSERT_TRUE(corpus) << corpus.error().message;
  EXPECT_EQ(corpus->kernels.size(), report->written);
  EXPECT_EQ(corpus->open_families().size(), generator_families().size());
  for (const learn::CorpusKernel& kernel : corpus->kernels) {
    const std::string name = kernel.file.stem().string();
    EXPECT_EQ(kernel.file.parent_path(), folder() / kernel.family);
    EXPECT_TRUE(std::filesystem::exists(kernel.file.parent_path() / (name + ".regraph.yaml")));
  }
  // Kin are families that exist.
  for (const std::vector<std::string>& kin : corpus->kin) {
    for (const std::string& family : kin)
      EXPECT_EQ(std::ranges::count(generator_families(), family), 1) << family;
  }
  const auto first = generate_kernel("map", 3, 0);
  EXPECT_EQ(*read_file(folder() / "map" / (first->name + ".cu"), 1 << 20), first->source);
  EXPECT_EQ(*read_file(folder() / "map" / (first->name + ".regraph.yaml"), 1 << 20),
            first->manifest);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(WriteGenerated, LeavesOutWhatOnlyNamesTellApart) {
  const GeneratorRequest request = {{"transpose", "map"}, 1, 400};
  std::unordered_set<Hash128> texts;
  for (const std::string& family : request.families) {
    for (std::uint64_t index = 0; index < request.per_family; ++index)
      texts.insert(canonical_identity(generate_kernel(family, 1, index)->source));
  }
  ASSERT_LT(texts.size(), 800U);
  const auto report = write_generated(folder(), request);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->written, texts.size());
  EXPECT_EQ(report->repeated, 800U - texts.size());
  const auto corpus = learn::read_corpus(folder());
  ASSERT_TRUE(corpus);
  EXPECT_EQ(corpus->kernels.size(), texts.size());
  EXPECT_EQ(corpus->open_families(), (std::vector<std::string>{"map", "transpose"}));
}

TEST_F(WriteGenerated, TakesAnEmptyFolderAndATrailingSlash) {
  std::filesystem::create_directory(folder());
  EXPECT_TRUE(write_generated(folder(), {{"map"}, 1, 1}));
  const auto slash = write_generated(folder().string() + "2/", {{"map"}, 1, 1});
  EXPECT_TRUE(slash) << slash.error().message;
  EXPECT_TRUE(std::filesystem::exists(parent() / "corpus2" / "corpus.yaml"));
}

TEST_F(WriteGenerated, RefusesWhatIsThere) {
  ASSERT_TRUE(write_file(folder() / "mine.txt", "mine"));
  ASSERT_TRUE(write_file(parent() / "file", "mine"));
  expect_refused(folder(), {{"map"}, 1, 1}, ErrorCode::invalid_argument);
  expect_refused(parent() / "file", {{"map"}, 1, 1}, ErrorCode::invalid_argument);
  EXPECT_EQ(*read_file(folder() / "mine.txt", 100), "mine");
}

TEST_F(WriteGenerated, RefusesWrongRequests) {
  expect_refused(folder(), {{"map", "no_such_family"}, 1, 1}, ErrorCode::invalid_argument);
  expect_refused(folder(), {{"map", "map"}, 1, 1}, ErrorCode::invalid_argument);
  expect_refused(folder(), {{}, 1, 0}, ErrorCode::invalid_argument);
  expect_refused(parent() / "no" / "such" / "place", {{"map"}, 1, 1}, ErrorCode::io);
}

TEST_F(WriteGenerated, LeavesNothingBehindAfterAnError) {
  std::size_t longest = 0;
  for (std::uint64_t index = 0; index < 20; ++index)
    longest = std::max(longest, generate_kernel("map", 1, index)->manifest.size());
  // Some kernels are there by the time one is too long.
  const ShortFiles limit(longest - 1);
  expect_refused(folder(), {{"map"}, 1, 20}, ErrorCode::io);
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

}  // namespace
}  // namespace regraph::dataset::write_generated_test
