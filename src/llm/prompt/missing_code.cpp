#include "llm/prompt/missing_code.h"

#include "llm/prompt/prompt_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace regraph::llm {

namespace {

// Whether a text without code is a refusal, by the way it begins.
bool sounds_like_refusal(std::string_view prose) {
  std::string start(prose.substr(0, 400));
  std::ranges::transform(start, start.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  constexpr auto kPhrases = std::to_array<std::string_view>(
      {"i can't", "i can\u2019t", "i cannot", "i'm sorry", "i\u2019m sorry", "i am sorry",
       "i'm unable", "i\u2019m unable", "i am unable", "i won't", "i won\u2019t",
       "not able to help"});
  return std::ranges::any_of(
      kPhrases, [&](std::string_view phrase) { return start.find(phrase) != std::string::npos; });
}

}  // namespace

Error missing_code(std::string_view prose, bool has_diff, const CodeLanguage& language) {
  constexpr std::size_t kShown = 200;
  const auto error = [&](std::string_view what) {
    return fail(ErrorCode::parse, fmt::format("{}; {}", what, language.forms));
  };
  if (has_diff) return error("the answer is a diff");
  if (sounds_like_refusal(prose))
    return fail(ErrorCode::parse, "the model refused: " + one_line(prose, kShown));
  if (prose.find(language.mark) != std::string_view::npos) return error("the code is not fenced");
  return error("the answer holds no code");
}

}  // namespace regraph::llm
