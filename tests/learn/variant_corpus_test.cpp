#include "learn/variant_corpus.h"

#include "base/files.h"

#include <gtest/gtest.h>

namespace regraph::learn::variant_corpus_test {
namespace {

KernelVariant variant(const std::string& label, const std::string& identity,
                      const std::string& machine_code = "") {
  return {label,         "from the kernel: its\nwits",
          1.5,           "__global__ void f() {}\n",
          "sizes: {}\n", identity,
          machine_code};
}

VariedKernel varied(const std::string& family, const std::string& name,
                    std::vector<KernelVariant> variants) {
  CorpusKernel kernel;
  kernel.family = family;
  kernel.name = name;
  VariationReport report;
  report.device = "h200";
  report.identity = "original of " + name;
  report.variants = std::move(variants);
  return {std::move(kernel), std::move(report)};
}

class VariantCorpus : public ::testing::Test {
 protected:
  VariantCorpus() : directory_(*TemporaryDirectory::create("regraph-variants-")) {}

  [[nodiscard]] std::filesystem::path folder() const { return directory_.path() / "slow"; }
  [[nodiscard]] std::string content(const std::string& name) const {
    const auto text = read_file(folder() / name, 1 << 20);
    return text ? *text : "";
  }
  [[nodiscard]] std::vector<std::string> write(const std::vector<VariedKernel>& kernels) const {
    const auto written = write_variants(folder(), corpus, kernels);
    EXPECT_TRUE(written) << written.error().message;
    return written ? written->names : std::vector<std::string>{};
  }

  Corpus corpus;

 private:
  TemporaryDirectory directory_;
};

TEST_F(VariantCorpus, IsACorpusOfTheSameFamilies) {
  corpus.kin = {{"map", "sum"}, {"x", "y"}};
  VariedKernel sealed = varied("secret", "secret/a", {variant("no_unroll", "3")});
  sealed.kernel.sealed = true;
  VariedKernel control = varied("control", "control/a", {variant("no_unroll", "4")});
  control.kernel.control = true;
  EXPECT_EQ(write({varied("map", "map/deep/a", {variant("without_tile", "1")}),
                   varied("alone", "alone", {variant("no_unroll", "2")}), sealed, control}),
            (std::vector<std::string>{"map/deep/a--without_tile", "alone/alone--no_unroll",
                                      "secret/a--no_unroll", "control/a--no_unroll"}));
  EXPECT_EQ(content("map/deep/a--without_tile.cu"),
            "// A slow variant of map/deep/a, to learn from.\n"
            "// Taken away from the kernel: its wits.\n"
            "// It takes 1.50 times as long as that on h200, predicted.\n"
            "// Identity 1\n__global__ void f() {}\n");
  EXPECT_EQ(content("map/deep/a--without_tile.regraph.yaml"), "sizes: {}\n");
  const auto read = read_corpus(folder());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->kin, corpus.kin);
  ASSERT_EQ(read->kernels.size(), 4U);
  for (const CorpusKernel& kernel : read->kernels) {
    EXPECT_TRUE(kernel.derived);
    EXPECT_EQ(kernel.sealed, kernel.family == "secret");
    EXPECT_EQ(kernel.control, kernel.family == "control");
  }
  EXPECT_EQ(read->kernels[3].family, "secret");
  EXPECT_EQ(read->kernels[0].family, "alone");
}

TEST_F(VariantCorpus, HoldsEachKernelOnce) {
  const VariedKernel first =
      varied("map", "map/a",
             {variant("one", "1", "code"), variant("other", "1"),
              variant("third", "original of map/b"), variant("fourth", "4", "code")});
  const VariedKernel second = varied("map", "map/b", {variant("one", "1"), variant("two", "2")});
  const std::vector<std::string> names = {"map/a--one", "map/b--two"};
  const auto written = write_variants(folder(), corpus, {first, second});
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->names, names);
  EXPECT_EQ(written->known, 4U);
  const std::string text = content("corpus.yaml");
  // Once more is the same, and what is there is known to others, and stays.
  EXPECT_EQ(write({first, second}), names);
  EXPECT_EQ(content("corpus.yaml"), text);
  EXPECT_EQ(write({varied("sum", "sum/c", {variant("one", "2"), variant("five", "5")})}),
            std::vector<std::string>{"sum/c--five"});
  EXPECT_EQ(read_corpus(folder())->kernels.size(), 3U);
}

TEST_F(VariantCorpus, NothingIsWrittenWhereThereIsNothing) {
  EXPECT_TRUE(write({varied("map", "map/a", {})}).empty());
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_F(VariantCorpus, KeepsOutOfFoldersOfOthers) {
  const std::filesystem::path source = folder().parent_path() / "corpus";
  EXPECT_TRUE(may_hold_variants(folder(), source));
  for (const auto& inside : {source, source / "slow"}) {
    const Status refused = may_hold_variants(inside, source);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(refused.error().message.find("lies in the corpus"), std::string::npos);
  }
  EXPECT_TRUE(may_hold_variants(source.string() + "-slow", source));
  static_cast<void>(write({varied("map", "map/a", {variant("one", "1")})}));
  EXPECT_TRUE(may_hold_variants(folder(), source));
  ASSERT_TRUE(write_file(source / "map/a.cu", "__global__ void f() {}\n"));
  const Status refused = may_hold_variants(source, folder());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("kernels that are no variants"), std::string::npos);
}

}  // namespace
}  // namespace regraph::learn::variant_corpus_test
