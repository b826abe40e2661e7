#include "dataset/generate/generator.h"

#include "dataset/generate/canonical_text.h"
#include "dataset/generate/dice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <unordered_set>

namespace regraph::dataset::generator_test {
namespace {

GeneratedKernel kernel(const std::string& family, std::uint64_t seed, std::uint64_t index) {
  auto made = generate_kernel(family, seed, index);
  EXPECT_TRUE(made) << made.error().message;
  return made ? std::move(*made) : GeneratedKernel{};
}

TEST(Generator, HasThirtyFamilies) {
  const std::vector<std::string>& families = generator_families();
  EXPECT_EQ(families.size(), 30U);
  EXPECT_EQ(std::set<std::string>(families.begin(), families.end()).size(), families.size());
}

TEST(Generator, IsAFunctionOfFamilySeedAndIndex) {
  for (const std::string& family : generator_families()) {
    const GeneratedKernel first = kernel(family, 7, 11);
    // What was made in between does not matter.
    (void)kernel(family, 7, 12);
    const GeneratedKernel again = kernel(family, 7, 11);
    EXPECT_EQ(first.source, again.source);
    EXPECT_EQ(first.manifest, again.manifest);
    EXPECT_EQ(first.name, again.name);
    EXPECT_EQ(first.family, family);
    std::size_t changed = 0;
    for (std::uint64_t seed = 8; seed < 13; ++seed)
      changed += kernel(family, seed, 11).source != first.source ? 1 : 0;
    EXPECT_GE(changed, 4U) << family;
  }
}

TEST(Generator, DrawsTheSameOnEveryMachine) {
  const Dice dice("map", 1, 0);
  EXPECT_EQ(dice.below("site", 1000000), 882677U);
  EXPECT_EQ(dice.below("other site", 1000000), 808908U);
  EXPECT_EQ(Dice("map", 2, 0).below("site", 1000000), 78429U);
  EXPECT_EQ(Dice("map", 1, 1).below("site", 1000000), 521817U);
  EXPECT_EQ(Dice("transpose", 1, 0).below("site", 1000000), 241187U);
}

TEST(Generator, KnowsNoOtherFamily) {
  for (const char* family : {"", "Map", "map ", "no_such_family"}) {
    const auto made = generate_kernel(family, 1, 0);
    ASSERT_FALSE(made) << family;
    EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
  }
}

TEST(Generator, NamesAreUniqueInAFamily) {
  for (const std::string& family : generator_families()) {
    std::set<std::string> names;
    for (std::uint64_t index = 0; index < 100; ++index) {
      const GeneratedKernel made = kernel(family, 1, index);
      EXPECT_TRUE(names.insert(made.name).second) << family << ": " << made.name;
      EXPECT_NE(made.source.find("__global__ void " + made.name + "("), std::string::npos)
          << made.source;
    }
  }
}

TEST(Generator, ManyTextsAreDistinctAndSmall) {
  constexpr std::uint64_t kEach = 200;
  std::unordered_set<Hash128> all;
  for (const std::string& family : generator_families()) {
    std::unordered_set<Hash128> texts;
    for (std::uint64_t index = 0; index < kEach; ++index) {
      const GeneratedKernel made = kernel(family, 1, index);
      texts.insert(canonical_identity(made.source));
      EXPECT_GT(made.source.size(), 120U) << made.source;
      EXPECT_LT(made.source.size(), 2500U) << made.source;
      EXPECT_EQ(made.source.find('$'), std::string::npos) << made.source;
      EXPECT_EQ(made.manifest.find('$'), std::string::npos) << made.manifest;
    }
    EXPECT_GE(texts.size(), kEach * 3 / 4) << family;
    all.insert(texts.begin(), texts.end());
  }
  EXPECT_GE(all.size(), generator_families().size() * kEach * 9 / 10);
}

}  // namespace
}  // namespace regraph::dataset::generator_test
