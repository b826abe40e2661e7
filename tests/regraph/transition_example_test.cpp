#include "regraph/transition_example.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace regraph::transition_example_test {
namespace {

TransitionExample sound() {
  TransitionExample example;
  example.before = "x = 1;\n\ty = 2;\r\n";
  example.after = "x = 2; // \xc3\xa9";
  example.log_gain = 0.5;
  example.device = "h200";
  example.name = "scale";
  example.kernel = "k1";
  example.family = "map";
  example.run = "r";
  return example;
}

TEST(TransitionExample, SaysWhatIsWrong) {
  EXPECT_EQ(sound().nonsense(), "");
  const auto wrong = [](auto change) {
    TransitionExample example = sound();
    change(example);
    return example.nonsense();
  };
  EXPECT_NE(wrong([](TransitionExample& one) { one.before.clear(); }), "");
  EXPECT_NE(wrong([](TransitionExample& one) { one.after.clear(); }), "");
  EXPECT_NE(wrong([](TransitionExample& one) { one.after = one.before; }), "");
  EXPECT_NE(wrong([](TransitionExample& one) { one.before += '\0'; }), "");
  EXPECT_NE(wrong([](TransitionExample& one) { one.before += '\x1b'; }), "");
  EXPECT_NE(wrong([](TransitionExample& one) { one.after += '\xff'; }), "");
  EXPECT_EQ(wrong([](TransitionExample& one) { one.after.resize(kLargestExampleSide, 'x'); }), "");
  EXPECT_NE(wrong([](TransitionExample& one) { one.after.resize(kLargestExampleSide + 1, 'x'); }),
            "");
  EXPECT_NE(wrong([](TransitionExample& one) { one.family.clear(); }), "");
  EXPECT_NE(wrong([](TransitionExample& one) { one.kernel.clear(); }), "");
  EXPECT_NE(wrong([](TransitionExample& one) { one.run.resize(kLongestExampleName + 1, 'x'); }),
            "");
  EXPECT_NE(wrong([](TransitionExample& one) { one.name = "\xc3"; }), "");
  for (const double gain : {0.0, -1.0, 65.0, std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity()})
    EXPECT_NE(wrong([&](TransitionExample& one) { one.log_gain = gain; }), "") << gain;
}

TEST(TransitionExample, MeasuredThenLargerThenShorterIsBetter) {
  TransitionExample more = sound();
  more.log_gain = 0.6;
  EXPECT_TRUE(is_better(more, sound()));
  TransitionExample measured = sound();
  measured.method = TimeMethod::measured;
  EXPECT_TRUE(is_better(measured, more));
  TransitionExample shorter = sound();
  shorter.after = "x;";
  EXPECT_TRUE(is_better(shorter, sound()));
  EXPECT_FALSE(is_better(sound(), sound()));
}

TEST(TransitionExample, OfTwoThatDifferOneIsBetter) {
  std::mt19937 random(3);
  const auto letter = [&] { return std::string(1, static_cast<char>('a' + random() % 2)); };
  std::vector<TransitionExample> examples;
  for (int count = 0; count < 60; ++count) {
    TransitionExample example = sound();
    example.before = letter();
    example.after = letter();
    example.family = letter();
    example.kernel = letter();
    example.run = letter();
    example.device = letter();
    example.name = letter();
    examples.push_back(example);
  }
  for (const TransitionExample& one : examples) {
    for (const TransitionExample& other : examples)
      EXPECT_EQ(is_better(one, other) || is_better(other, one), one != other);
  }
}

}  // namespace
}  // namespace regraph::transition_example_test
