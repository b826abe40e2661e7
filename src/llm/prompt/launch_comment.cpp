#include "llm/prompt/launch_comment.h"

#include "source/lexer.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace regraph::llm {

namespace {

struct Comment {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::string_view without_front(std::string_view text, std::string_view blanks) {
  return text.substr(std::min(text.find_first_not_of(blanks), text.size()));
}

// What stands behind "launch:", if that is a plan.
std::string_view plan_in(std::string_view comment) {
  std::string_view text = comment.substr(2);
  if (comment[1] == '*' && text.size() >= 2) text.remove_suffix(2);
  text = without_front(text, " \t\n*");
  if (text.substr(0, 7) != "launch:") return {};
  text.remove_prefix(7);
  const std::string_view plan = without_front(text, " \t\n");
  const bool is_plan =
      plan.substr(0, 1) == "{" || plan.substr(0, 6) == "block:" || plan.substr(0, 5) == "grid:";
  return is_plan ? text : std::string_view();
}

// The comments between tokens; those within preprocessor lines are left alone.
std::vector<Comment> comments_of(std::string_view text) {
  std::vector<Comment> comments;
  std::vector<source::Token> tokens = source::tokenize(text);
  source::Token last;
  last.begin = last.end = static_cast<std::uint32_t>(text.size());
  tokens.push_back(last);
  std::size_t at = 0;
  for (const source::Token& token : tokens) {
    while (at + 1 < token.begin) {
      const std::string_view start = text.substr(at, 2);
      if (start != "//" && start != "/*") {
        ++at;
        continue;
      }
      std::size_t end = text.find(start == "//" ? "\n" : "*/", at + 2);
      if (end != std::string_view::npos && start == "/*") end += 2;
      end = std::min<std::size_t>(end, token.begin);
      comments.push_back({at, end});
      at = end;
    }
    at = token.end;
  }
  return comments;
}

}  // namespace

std::vector<std::string> take_launch_comments(std::string& source, std::string_view base) {
  constexpr std::size_t kMostPlans = 16;
  if (source.find("launch:") == std::string::npos) return {};
  std::set<std::string_view> own;
  for (const Comment& comment : comments_of(base))
    own.insert(base.substr(comment.begin, comment.end - comment.begin));
  const std::string_view text = source;
  std::vector<std::string> plans;
  std::string kept;
  std::size_t after = 0;
  for (const Comment& comment : comments_of(text)) {
    const std::string_view words = text.substr(comment.begin, comment.end - comment.begin);
    const std::string_view plan = plan_in(words);
    if (plan.empty() || own.contains(words) || plans.size() == kMostPlans) continue;
    plans.emplace_back(plan);
    kept += text.substr(after, comment.begin - after);
    if (words[1] == '*') kept += ' ';  // two halves of a token must not meet
    after = comment.end;
  }
  kept += text.substr(after);
  source = std::move(kept);
  return plans;
}

}  // namespace regraph::llm
