#include "eval/verify/ptx_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace regraph::verify::ptx_features_test {
namespace {

TEST(PtxFeatures, AreFoundOnceWithLineAndStatement) {
  const std::string ptx =
      ".visible .entry k()\n{\n.reg .b64 %rd<3>;\n.loc 1 7 3\nmov.u64 %rd1, %clock64;\n"
      ".loc 2 99 1\nmov.u64 %rd2, %clock64;\nld.global.L2::cache_hint.f32 %f1, [%rd1], %rd2;\n"
      ".loc 1 9 1\nmul.f16x2 %r1, %r2, %r3;\ncvt.rn.f16.f32 %rs1, %f1;\nret;\n}\n";
  const std::vector<PtxFeature> found = features_of(ptx);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].word, "%clock64");
  EXPECT_EQ(found[0].source_line, 7);
  EXPECT_EQ(found[1].word, "cache_hint");
  // Lines of another file, inlined, are not the source's.
  EXPECT_EQ(found[1].source_line, 7);
  EXPECT_EQ(found[2].word, "f16");
  EXPECT_TRUE(found[2].of_precision);
  EXPECT_EQ(found[2].statement, "mul.f16x2");
  EXPECT_EQ(found[2].source_line, 9);
}

TEST(PtxFeatures, CommentsStringsAndLikeNamesAreNone) {
  for (const char* text :
       {"// mov %clock64", "/* trap */", ".file 1 \"malloc\"", "st.global.f32 [trap_count], %f1;",
        "mov.u32 %r1, %tid.x;", "call.uni exit_code, ();", "ld.global.L1::evict_first.f32 %f1;",
        "fma.rn.f32x2 %rd1;", "prefetch.global.L2 [%rd1];"}) {
    EXPECT_TRUE(features_of(text).empty()) << text << ": " << features_of(text)[0].word;
  }
  EXPECT_EQ(features_of("@%p1 trap;").size(), 1u);
  EXPECT_EQ(features_of("mov.u32 %r1, %smid;").size(), 1u);
  EXPECT_EQ(features_of("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1};").size(), 1u);
}

}  // namespace
}  // namespace regraph::verify::ptx_features_test
