#include "llm/prompt/example_text.h"

#include "base/unified_diff.h"
#include "llm/prompt/prompt_text.h"
#include "source/extract.h"

namespace regraph::llm {

namespace {

// As it is shown, and with a line break at its end: whether there was one is nothing to learn from.
std::string shown_side(std::string_view source) {
  std::string text = clean_text(source::without_line_directives(source));
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

}  // namespace

std::string change_text(std::string_view before, std::string_view after,
                        const PromptLimits& limits) {
  const std::string old_side = shown_side(before);
  const std::string new_side = shown_side(after);
  const std::size_t whole = old_side.size() + new_side.size();
  if (whole > limits.whole_example) {
    const std::string diff = unified_diff(old_side, new_side, "before", "after");
    if (!diff.empty() && diff.size() < whole) return fenced("change", diff, 2 * limits.example);
  }
  return fenced("before", old_side, limits.example) + "\n" +
         fenced("after", new_side, limits.example);
}

}  // namespace regraph::llm
