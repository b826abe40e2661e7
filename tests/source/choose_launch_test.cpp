#include "source/choose_launch.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::source::choose_launch_test {
namespace {

const KernelSignature kKernel = {"k",
                                 {{.name = "a", .type = ScalarType::f32, .is_pointer = true},
                                  {.name = "n", .type = ScalarType::i32}}};

TEST(ChooseLaunch, TheOnlyKindIsTaken) {
  const auto none = choose_launch("void f() {}", kKernel, {}, 0);
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->launch.has_value());
  const auto same = choose_launch(
      "void f(int n) {\n  k<<<(n + 63) / 64, 64>>>(a, n);\n  for (;;) k<<<(n + 63) / 64, 64>>>(a, "
      "n);\n}",
      kKernel, {}, 0);
  ASSERT_TRUE(same.ok()) << same.error().message;
  EXPECT_EQ(same->launch->line, 2);
  EXPECT_TRUE(same->note.empty()) << same->note;
}

TEST(ChooseLaunch, SeveralKindsAreAskedAbout) {
  const std::string source =
      "void f(int n) {\n  k<<<n / 64, 64>>>(a, n);\n  k<<<n / 128, 128>>>(a, n);\n  k<<<n / 64, "
      "64>>>(a, n);\n}";
  const auto asked = choose_launch(source, kKernel, {}, 0);
  ASSERT_FALSE(asked.ok());
  EXPECT_EQ(asked.error().message,
            "'k' is launched in several ways (line 2: block 64, grid n / 64; line 3: block 128, "
            "grid n / 128); say which is meant, e.g. --launch 2");
  const auto second = choose_launch(source, kKernel, {}, 3);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->launch->block, (Dim3{128, 1, 1}));
  EXPECT_NE(
      choose_launch(source, kKernel, {}, 9).error().message.find("line 9 does not launch 'k'"),
      std::string::npos);
  EXPECT_NE(choose_launch("void f() {}", kKernel, {}, 9).error().message.find("does not launch"),
            std::string::npos);
  // What cannot be read is told apart by its words.
  const auto unread = choose_launch(
      "void f(dim3 g, dim3 h) {\n  k<<<g, pick()>>>(a, 1);\n  k<<<h, pick()>>>(a, 1);\n}", kKernel,
      {}, 0);
  ASSERT_FALSE(unread.ok());
  EXPECT_NE(unread.error().message.find("line 3: <<<h , pick ( )>>>"), std::string::npos)
      << unread.error().message;
}

TEST(ChooseLaunch, OtherSizesAreSaid) {
  const auto chosen = choose_launch(
      "void f() {\n  k<<<8, 64>>>(a, 512);\n  k<<<8, 64>>>(a, 100);\n}", kKernel, {}, 0);
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  EXPECT_EQ(chosen->launch->integers.at("n"), 512);
  EXPECT_EQ(chosen->note, "'k' is launched with other sizes in line 3 (--launch 3)");
}

TEST(ChooseLaunch, LaunchesOfOtherInstancesDoNotCount) {
  const std::string source =
      "void f(int n) {\n  k<float, 64><<<n / 64, 64>>>(a, n);\n  k<float,  128><<<n / 128, "
      "128>>>(a, n);\n}";
  const auto chosen = choose_launch(source, kKernel, {"float", "128"}, 0);
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  EXPECT_EQ(chosen->launch->line, 3);
}

TEST(ChooseLaunch, AnOverlapElsewhereIsNotForgotten) {
  const auto chosen =
      choose_launch("void f() {\n  k2<<<8, 64>>>(a, b, 512);\n  k2<<<8, 64>>>(a, a, 512);\n}",
                    {"k2",
                     {{.name = "a", .type = ScalarType::f32, .is_pointer = true},
                      {.name = "b", .type = ScalarType::f32, .is_pointer = true},
                      {.name = "n", .type = ScalarType::i32}}},
                    {}, 2);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->launch->overlapping_line, 3);
}

}  // namespace
}  // namespace regraph::source::choose_launch_test
