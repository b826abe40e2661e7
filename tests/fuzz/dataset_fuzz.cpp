// Feeds damaged lines to the readers of data sets and of registered states. What is accepted must
// survive being written and read again.
#include "dataset/collected.h"
#include "dataset/sample_items.h"
#include "fuzz/mutate.h"
#include "score/state_registry.h"

#include <string>
#include <string_view>

namespace {

using namespace regraph;           // NOLINT: a program of its own
using namespace regraph::dataset;  // NOLINT

constexpr std::string_view kWords[] = {
    "\"id\":",
    "\"state\":",
    "\"task\":\"choose\"",
    "\"parameters\":{}",
    "\"seconds_fast\":",
    "null",
    "1e999",
    "-1",
    "\\u0000",
    "\\ud800",
    "\xff\xfe",
    "[[[[[[[[",
    "{\"a\":{",
    "\"",
    "\\",
    ",",
    "pair ",
    "dropped ",
    "\n",
    "regraph-collected/2",
};

// A reader given damaged text; what it accepts must be the same when written and read again.
template <typename Read, typename Write>
void try_reader(fuzz::Rounds& rounds, fuzz::Random& random, std::string text, const Read& read,
                const Write& write) {
  fuzz::damage(text, random, kWords);
  const auto found = read(text);
  if (!found) {
    if (found.error().code != ErrorCode::parse)
      rounds.fail("another error: " + found.error().message);
    return;
  }
  const auto again = read(write(*found));
  if (!again || write(*again) != write(*found)) rounds.fail("another one when read again");
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(fuzz::settings(argc, argv));
  Collected collected;
  collected.problems = {sample::problem("adding", "k")};
  collected.pairs = {sample::pair(collected.problems.front(), "loop_unroll")};
  collected.states = {sample::state(collected.problems.front(), "loop_unroll")};
  collected.answers = {sample::answer(collected.states.front(), 1.0, "text")};
  collected.dropped["reason"] = 2;
  const auto read_all = [](const std::string& text) { return read_collected(text, "c"); };
  if (!read_all(collected_text(collected))) rounds.fail("what is sound cannot be read");

  return rounds.run([&](fuzz::Random& random) {
    try_reader(rounds, random, item_text(collected.pairs.front()), read_pair,
               [](const PairRecord& pair) { return item_text(pair); });
    try_reader(rounds, random, item_text(collected.states.front()), read_state_item,
               [](const StateItem& state) { return item_text(state); });
    try_reader(rounds, random, item_text(collected.answers.front()), read_answer,
               [](const AnswerItem& answer) { return item_text(answer); });
    try_reader(rounds, random, collected.states.front().state, score::read_state,
               [](const score::RegisteredState& state) { return score::state_text(state); });
    try_reader(
        rounds, random, score::problem_text(collected.problems.front()), score::read_problem,
        [](const score::RegisteredProblem& problem) { return score::problem_text(problem); });
    try_reader(rounds, random, collected_text(collected), read_all, collected_text);
  });
}
