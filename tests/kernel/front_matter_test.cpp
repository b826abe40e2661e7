#include "kernel/front_matter.h"

#include "kernel/manifest.h"

#include <gtest/gtest.h>

namespace regraph::front_matter_test {
namespace {

constexpr const char* kSource =
    "// title\n/*@regraph\nsizes: {n: 7}\nlunch: 3\n*/\n__global__ void k() {}\n";

TEST(FrontMatter, IsFoundWithItsLines) {
  const auto found = find_front_matter(kSource);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->line, 2);
  const auto manifest = parse_manifest(found->yaml, "k.cu");
  ASSERT_FALSE(manifest.ok());
  EXPECT_EQ(manifest.error().message.find("k.cu:4: "), 0u) << manifest.error().message;
}

TEST(FrontMatter, IsTakenOutWithoutMovingLines) {
  std::string source = kSource;
  blank_front_matter(*find_front_matter(source), source);
  EXPECT_EQ(source, "// title\n\n\n\n\n__global__ void k() {}\n");
}

TEST(FrontMatter, OnlyTheFirstBlockCommentCounts) {
  EXPECT_FALSE(find_front_matter("/* other */ /*@regraph a: 1 */").has_value());
  EXPECT_FALSE(find_front_matter("/*@regraph never closed").has_value());
  EXPECT_FALSE(find_front_matter("").has_value());
}

}  // namespace
}  // namespace regraph::front_matter_test
