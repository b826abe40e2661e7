#include "dataset/data_items.h"

#include "dataset/sample_items.h"

#include <gtest/gtest.h>

namespace regraph::dataset::data_items_test {
namespace {

TEST(DataItems, AreReadBackAsTheyWere) {
  const auto problem = sample::problem("adding", "k");
  const PairRecord pair = sample::pair(problem, "loop_unroll");
  const auto pair_again = read_pair(item_text(pair));
  ASSERT_TRUE(pair_again.ok()) << pair_again.error().message;
  EXPECT_EQ(item_text(*pair_again), item_text(pair));
  const StateItem state = sample::state(problem, "smem_tile");
  EXPECT_EQ(item_text(*read_state_item(item_text(state))), item_text(state));
  const AnswerItem answer = sample::answer(state, 1.0, "```cuda\n\"\\\n```");
  EXPECT_EQ(item_text(*read_answer(item_text(answer))), item_text(answer));
}

TEST(DataItems, OtherTextIsRefused) {
  const std::string pair = item_text(sample::pair(sample::problem("adding", "k"), "loop_unroll"));
  std::string more = pair;
  more.insert(1, "\"extra\":1,");
  for (const std::string& line : {std::string("{}"), std::string("[]"), pair.substr(0, 40), more,
                                  std::string("\xff"), std::string(200'000, '{')}) {
    EXPECT_FALSE(read_pair(line).ok());
    EXPECT_FALSE(read_answer(line).ok());
    EXPECT_FALSE(read_state_item(line).ok());
  }
}

TEST(DataItems, TheIdIsOfWhatMatters) {
  const auto problem = sample::problem("adding", "k");
  PairRecord pair = sample::pair(problem, "loop_unroll");
  const std::string id = pair.id;
  pair.seconds_fast = 5.0;
  pair.split = "test";
  EXPECT_EQ(pair_id(pair), id);
  pair.fast += " ";
  EXPECT_NE(pair_id(pair), id);
}

TEST(DataItems, NamesNumbersAndLayoutMakeNoOtherFingerprint) {
  const char* const slow =
      "__global__ void add(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) b[i] = a[i] + 1.0f;\n}\n";
  const char* const renamed =
      "__global__ void plus(const float* in, float* out, int count) {"
      " int at = blockIdx.x * blockDim.x + threadIdx.x; if (at < count) out[at] = in[at] + 2.0f; }";
  const char* const other =
      "__global__ void add(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) b[i] = sqrtf(a[i]) * "
      "a[i];\n}\n";
  const auto fingerprint = [](const char* text, const char* step, const char* parameters) {
    PairRecord pair;
    pair.slow = pair.fast = text;
    pair.step = step;
    pair.parameters = parameters;
    return pair_fingerprint(pair);
  };
  EXPECT_EQ(fingerprint(slow, "s", "{}"), fingerprint(renamed, "s", "{}"));
  EXPECT_NE(fingerprint(slow, "s", "{}"), fingerprint(other, "s", "{}"));
  EXPECT_NE(fingerprint(slow, "s", "{}"), fingerprint(slow, "t", "{}"));
  EXPECT_NE(fingerprint(slow, "s", "{}"), fingerprint(slow, "s", R"({"factor":"4"})"));
}

}  // namespace
}  // namespace regraph::dataset::data_items_test
