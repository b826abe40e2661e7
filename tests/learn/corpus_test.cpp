#include "learn/corpus.h"

#include "base/files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace regraph::learn::corpus_test {
namespace {

class CorpusTest : public ::testing::Test {
 protected:
  CorpusTest() : directory_(*TemporaryDirectory::create("regraph-corpus-")) {}

  [[nodiscard]] std::filesystem::path place() const { return directory_.path() / "corpus"; }
  void write(const std::string& name, const std::string& content = "__global__ void f() {}\n") {
    ASSERT_TRUE(write_file(place() / name, content));
  }
  [[nodiscard]] std::string message() const {
    const auto corpus = read_corpus(place());
    return corpus ? "accepted" : corpus.error().message;
  }
  // How many folds hold any of `families`.
  static std::size_t folds_with(const std::vector<std::vector<std::string>>& folds,
                                const std::set<std::string>& families) {
    return static_cast<std::size_t>(std::ranges::count_if(folds, [&](const auto& fold) {
      return std::ranges::any_of(fold, [&](const auto& one) { return families.contains(one); });
    }));
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(CorpusTest, FoldersAreFamilies) {
  write("map/scale.cu");
  write("map/deep/er.cu");
  write("alone.cu");
  write("map/README.md");
  write("sum/rows.cu");
  const auto corpus = read_corpus(place());
  ASSERT_TRUE(corpus) << corpus.error().message;
  std::vector<std::string> found;
  for (const CorpusKernel& kernel : corpus->kernels) {
    found.push_back(kernel.name + " of " + kernel.family);
    EXPECT_TRUE(std::filesystem::exists(kernel.file));
    EXPECT_FALSE(kernel.sealed);
    EXPECT_FALSE(kernel.control);
  }
  EXPECT_EQ(found, (std::vector<std::string>{"alone of alone", "map/deep/er of map",
                                             "map/scale of map", "sum/rows of sum"}));
  EXPECT_EQ(corpus->open_families(), (std::vector<std::string>{"alone", "map", "sum"}));
}

TEST_F(CorpusTest, AKernelAloneIsACorpus) {
  write("map/scale.cu");
  const auto corpus = read_corpus(place() / "map" / "scale.cu");
  ASSERT_TRUE(corpus) << corpus.error().message;
  ASSERT_EQ(corpus->kernels.size(), 1U);
  EXPECT_EQ(corpus->kernels[0].family, "scale");
  EXPECT_EQ(corpus->kernels[0].name, "scale");
}

TEST_F(CorpusTest, SealedFamiliesAndControlsAreInNoFold) {
  for (const char* family : {"a", "b", "c", "secret", "control"})
    write(std::string(family) + "/k.cu");
  write("corpus.yaml", "sealed: [secret]\ncontrols: [control]\n");
  const auto corpus = read_corpus(place());
  ASSERT_TRUE(corpus) << corpus.error().message;
  EXPECT_EQ(corpus->open_families(), (std::vector<std::string>{"a", "b", "c", "control"}));
  for (const CorpusKernel& kernel : corpus->kernels) {
    EXPECT_EQ(kernel.sealed, kernel.family == "secret");
    EXPECT_EQ(kernel.control, kernel.family == "control");
  }
  const auto folds = corpus->folds(2);
  EXPECT_EQ(folds_with(folds, {"secret", "control"}), 0U);
  EXPECT_EQ(folds[0].size() + folds[1].size(), 3U);
}

TEST_F(CorpusTest, FoldsAreEvenAndAlwaysTheSame) {
  for (char family = 'a'; family <= 'k'; ++family)
    write(std::string(1, family) + "/k.cu");
  const auto corpus = read_corpus(place());
  ASSERT_TRUE(corpus);
  const auto folds = corpus->folds(4);
  ASSERT_EQ(folds.size(), 4U);
  std::set<std::string> all;
  for (const auto& fold : folds) {
    EXPECT_GE(fold.size(), 2U);
    EXPECT_LE(fold.size(), 3U);
    all.insert(fold.begin(), fold.end());
  }
  EXPECT_EQ(all.size(), 11U);
  EXPECT_EQ(read_corpus(place())->folds(4), folds);
  EXPECT_EQ(corpus->folds(1).size(), 1U);
  EXPECT_EQ(corpus->folds(0).size(), 1U);
  EXPECT_EQ(corpus->folds(50).size(), 11U);  // none is empty
}

TEST_F(CorpusTest, KinStayInOneFold) {
  for (char family = 'a'; family <= 'k'; ++family)
    write(std::string(1, family) + "/k.cu");
  // Kin of kin are kin, and a family that is in no fold, or nowhere, does not part the others.
  write("corpus.yaml",
        "sealed: [k]\ncontrols: [j]\n"
        "kin: [[a, b], [c, b], [d, e], [k, f, g], [j, h], [h, i], [nobody, c, d]]\n");
  const auto corpus = read_corpus(place());
  ASSERT_TRUE(corpus) << corpus.error().message;
  EXPECT_EQ(corpus->kin.size(), 7U);
  for (const int count : {2, 3, 5}) {
    const auto folds = corpus->folds(count);
    EXPECT_EQ(folds_with(folds, {"a", "b", "c", "d", "e"}), 1U) << count;
    EXPECT_EQ(folds_with(folds, {"f", "g"}), 1U) << count;
    EXPECT_EQ(folds_with(folds, {"h", "i"}), 1U) << count;
  }
  EXPECT_EQ(corpus->folds(5).size(), 3U);
}

TEST_F(CorpusTest, JoinedFamiliesStayInOneFold) {
  for (char family = 'a'; family <= 'k'; ++family)
    write(std::string(1, family) + "/k.cu");
  // Also over a sealed family, and over kin.
  write("corpus.yaml", "sealed: [k]\ncontrols: [j]\nkin: [[a, b], [g, k]]\n");
  const auto corpus = read_corpus(place());
  ASSERT_TRUE(corpus) << corpus.error().message;
  const std::vector<std::vector<std::string>> joined = {{"b", "c"}, {"d", "e"}, {"f", "k"}};
  const auto folds = corpus->folds(8, joined);
  EXPECT_EQ(folds.size(), 5U);  // a b c, d e, f g, h, i
  EXPECT_EQ(folds_with(folds, {"a", "b", "c"}), 1U);
  EXPECT_EQ(folds_with(folds, {"d", "e"}), 1U);
  EXPECT_EQ(folds_with(folds, {"f", "g"}), 1U);
  EXPECT_EQ(folds_with(folds, {"k", "j"}), 0U);
  EXPECT_TRUE(corpus->kinships().together("a", "b"));
  EXPECT_FALSE(corpus->kinships().together("b", "c"));
}

TEST_F(CorpusTest, KernelsMayBeMadeFromOthers) {
  write("map/scale.cu");
  EXPECT_FALSE(read_corpus(place())->kernels[0].derived);
  write("corpus.yaml", "derived: true\nkin: [[map, sum]]\n");
  auto corpus = read_corpus(place());
  ASSERT_TRUE(corpus) << corpus.error().message;
  EXPECT_TRUE(corpus->kernels[0].derived);
  // Several corpora are one.
  Corpus whole;
  whole.kernels.push_back({"elsewhere", "sum", "sum/rows"});
  whole.add(std::move(*corpus));
  EXPECT_EQ(whole.kernels.size(), 2U);
  EXPECT_EQ(whole.folds(2).size(), 1U);
}

TEST_F(CorpusTest, ErrorsNameTheirLine) {
  const std::string yaml = (place() / "corpus.yaml").string();
  EXPECT_EQ(message(), place().string() + ": no such folder of kernels, nor a kernel");
  EXPECT_EQ(read_corpus(place()).error().code, ErrorCode::not_found);
  write("map/README.md");
  EXPECT_EQ(message(), place().string() + ": there is no .cu file in this folder");
  write("map/scale.cu");
  EXPECT_EQ(message(), "accepted");
  write("corpus.yaml", "");
  EXPECT_EQ(message(), "accepted");
  write("corpus.yaml", "sealed: []\nseeled: [map]\n");
  EXPECT_EQ(message(), yaml + ":2: unknown key 'seeled'");
  EXPECT_EQ(read_corpus(place()).error().code, ErrorCode::parse);
  for (const char* bad : {"sealed: []\nkin: [a, b]\n", "sealed: []\nderived: perhaps\n",
                          "sealed: []\ncontrols: map\n", "sealed: []\nkin: [[a, b]\n"}) {
    write("corpus.yaml", bad);
    EXPECT_TRUE(message().starts_with(yaml + ":")) << message();
    EXPECT_FALSE(message().starts_with(yaml + ":1:")) << message();
  }
  for (const char* bad : {"map", "[map]"}) {
    write("corpus.yaml", bad);
    EXPECT_TRUE(message().starts_with(yaml + ":1: ")) << message();
  }
  std::filesystem::remove(place() / "corpus.yaml");
  std::filesystem::create_directory(place() / "corpus.yaml");
  EXPECT_EQ(message(), "'" + yaml + "' is not a regular file");
}

}  // namespace
}  // namespace regraph::learn::corpus_test
