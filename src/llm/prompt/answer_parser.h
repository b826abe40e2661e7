// From the text of an answer to device code and a launch, or the reason why not, in words that go
// into the next prompt. Answers are hostile until shown otherwise: reading one takes time and
// memory linear in its length, and nothing of it is ever executed or looked up here.
#pragma once

#include "base/result.h"
#include "kernel/candidate.h"
#include "kernel/launch_change.h"
#include "kernel/problem.h"
#include "llm/chat/chat.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace regraph::llm {

struct AnswerLimits {
  std::size_t answer = 512 << 10;  // bytes, reasoning included
  std::size_t code = 128 << 10;    // bytes
  std::size_t notes = 2000;        // bytes; what is longer is cut
};

// Device code, or a decline: the answer says that the step is of no use here, or changes nothing.
struct ParsedAnswer {
  std::optional<std::string> declined = {};  // set: why, on a line; there is no code and no launch
  std::string source;                        // device code, UTF-8, lines end in "\n"
  std::optional<LaunchChange> launch;        // none: the launch stays as it is
  std::string notes;                         // what the model said beside it; for people
};

// Reads answers to the prompts `apply` and `repair`. Accepted are
//   - a fenced block of CUDA C++, and perhaps one of JSON or YAML with the launch;
//   - a block with the launch alone, where the code stays as it is;
//   - blocks of search and replace (answer_edits.h) in its place, fenced or not;
//   - one object {"code": ..., "launch": {...}, "notes": ...}, fenced or not;
//   - code that gives the launch in a comment "launch: {...}", which is then taken out;
//   - without code, a line "DECLINE: reason" or an object {"declined": "reason"}.
// Where `base` is a Triton kernel, the code is its module in Python with its comment, which holds
// the launch as well (triton_answer.h); checks of its text are left to Python. Every error is a
// sentence or two that the model can act on, docs/prompts.md lists them; its code is `parse`.
// Thread-safe.
class AnswerParser {
 public:
  explicit AnswerParser(AnswerLimits limits = {}) : limits_(limits) {}

  // `base` is the candidate that the model was given: the parent, or for a repair the candidate
  // that failed. `shown` is what the prompt showed of its code, which edits are made to; without it
  // all of the code but its #line directives. Code with the tokens of either and no other launch
  // is a decline.
  [[nodiscard]] Result<ParsedAnswer> parse(const ChatChoice& choice, const Problem& problem,
                                           const Candidate& base, std::string_view shown) const;
  [[nodiscard]] Result<ParsedAnswer> parse(const ChatChoice& choice, const Problem& problem,
                                           const Candidate& base) const;

 private:
  AnswerLimits limits_;
};

// The text of a choice that is fit to be read at all, without reasoning in front; for answers of
// every kind. A view into `choice`. Errors (parse): cut off, withheld or refused by the server, too
// long, NUL bytes, invalid UTF-8, empty.
[[nodiscard]] Result<std::string_view> answer_text(const ChatChoice& choice, std::size_t limit);

}  // namespace regraph::llm
