// Feeds damaged lines to the readers of items and scores. What is accepted must be bounded and
// survive being written and read again.
#include "fuzz/mutate.h"
#include "score/item_json.h"
#include "score/score_item.h"

#include <cmath>
#include <string>
#include <string_view>

namespace {

using namespace regraph;         // NOLINT: a program of its own
using namespace regraph::score;  // NOLINT

constexpr std::string_view kWords[] = {
    "\"id\":",
    "\"state\":",
    "\"completion\":",
    "\"cut_off\":true,",
    "\"outcome\":\"wrong\"",
    "\"seconds\":",
    "null",
    "1e999",
    "-1",
    "18446744073709551615",
    "\\u0000",
    "\\ud800",
    "\xff\xfe",
    "[[[[[[[[",
    "{\"a\":{",
    "\"",
    "\\",
    ",",
};

std::string damaged_text(std::string text, fuzz::Random& random) {
  fuzz::damage(text, random, kWords);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(fuzz::settings(argc, argv));
  const ScoreItem item = {"17", "0123456789abcdef", "```cuda\n__global__ void f() {}\n```\n", true};
  Score score;
  score.id = "17";
  score.facts = {learn::AnswerOutcome::correct, 1e-5, 2e-5, 3e-5, false};
  score.verdict = Verdict::correct;
  score.message = "slower";
  score.time = {1e-5, 0.9e-5, 1.1e-5, 1, TimeMethod::predicted};
  score.same_as_rewriter = true;
  if (!read_item(item_text(item)) || !read_score(score_text(score)))
    rounds.fail("what is sound cannot be read");

  return rounds.run([&](fuzz::Random& random) {
    const Result<ScoreItem> read = read_item(damaged_text(item_text(item), random));
    if (read) {
      if (read->completion.size() > kLargestCompletion || read->state.size() > kLargestName)
        rounds.fail("too large an item");
      const Result<ScoreItem> again = read_item(item_text(*read));
      if (!again || !(*again == *read)) rounds.fail("another item when read again");
    } else if (read.error().code != ErrorCode::parse) {
      rounds.fail("another error: " + read.error().message);
    }
    const Result<Score> said = read_score(damaged_text(score_text(score), random));
    if (said) {
      if (!std::isfinite(said->facts.seconds) || !std::isfinite(said->time.high_seconds))
        rounds.fail("a time that is none");
      const Result<Score> again = read_score(score_text(*said));
      if (!again || score_text(*again) != score_text(*said))
        rounds.fail("another score when read again");
    } else if (said.error().code != ErrorCode::parse) {
      rounds.fail("another error: " + said.error().message);
    }
  });
}
