#include "eval/verify/ptx_features.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace regraph::verify {

namespace {

enum class Match : std::uint8_t { token, prefix, part, mnemonic };

struct Rule {
  std::string_view word;
  Match match;  // of a whole token, of its beginning, of a part between dots, of an instruction
  std::string_view why;
  bool of_precision = false;
};

constexpr std::string_view kClock = "reads a clock: results must not depend on time";
constexpr std::string_view kIdentity = "asks which launch or multiprocessor it runs on";
constexpr std::string_view kCache = "steers what stays in the cache between launches";
constexpr std::string_view kTiming = "changes when the launch counts as finished, or waits";
constexpr std::string_view kCall = "calls into the runtime, which a kernel under test must not";
constexpr std::string_view kEnd = "ends threads or the launch behind the compiler's back";
constexpr std::string_view kAddress = "calls by address, which hides what is called";
constexpr std::string_view kPrecision =
    "computes with less precision than the original; allow it with assume: {precision: any}";

constexpr Rule kRules[] = {
    {"%clock", Match::prefix, kClock},
    {"%globaltimer", Match::prefix, kClock},
    {"%pm", Match::prefix, kClock},
    {"%smid", Match::token, kIdentity},
    {"%nsmid", Match::token, kIdentity},
    {"%gridid", Match::token, kIdentity},
    {"%envreg", Match::prefix, kIdentity},
    {"%current_graph_exec", Match::token, kIdentity},
    {"vprintf", Match::token, kCall},
    {"malloc", Match::token, kCall},
    {"free", Match::token, kCall},
    {"cudaLaunchDevice", Match::prefix, kCall},
    {"cudaGetParameterBuffer", Match::prefix, kCall},
    {"nanosleep", Match::part, kTiming},
    {"brkpt", Match::part, kTiming},
    {"pmevent", Match::part, kTiming},
    {"griddepcontrol", Match::part, kTiming},
    {"createpolicy", Match::part, kCache},
    {"cache_hint", Match::part, kCache},
    {"applypriority", Match::part, kCache},
    {"discard", Match::part, kCache},
    {"evict_last", Match::part, kCache},
    {"exit", Match::token, kEnd},
    {"trap", Match::token, kEnd},
    {".callprototype", Match::token, kAddress},
    {".calltargets", Match::token, kAddress},
    {"sin.approx", Match::mnemonic, kPrecision, true},
    {"cos.approx", Match::mnemonic, kPrecision, true},
    {"tanh.approx", Match::mnemonic, kPrecision, true},
    {"tf32", Match::part, kPrecision, true},
    {"f16", Match::part, kPrecision, true},
    {"bf16", Match::part, kPrecision, true},
    {"e4m3", Match::part, kPrecision, true},
    {"e5m2", Match::part, kPrecision, true},
    {"e2m1", Match::part, kPrecision, true},
    {"e2m3", Match::part, kPrecision, true},
    {"e3m2", Match::part, kPrecision, true},
};

bool is_token_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%' || c == '.';
}

// All the words of a text, one after another.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // The next token; empty at the end.
  std::string_view next() {
    while (at_ < text_.size()) {
      if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_, 2) == "/*") {
        skip_past(text_.find("*/", at_ + 2), 2);
      } else if (text_[at_] == '"') {
        skip_past(text_.find('"', at_ + 1), 1);
      } else if (!is_token_character(text_[at_])) {
        ++at_;
      } else {
        const std::size_t start = at_;
        while (at_ < text_.size() && is_token_character(text_[at_]))
          ++at_;
        return text_.substr(start, at_ - start);
      }
    }
    return {};
  }

 private:
  void skip_past(std::size_t found, std::size_t length) {
    at_ = found == std::string_view::npos ? text_.size() : found + length;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

int number(std::string_view token) {
  int value = 0;
  std::from_chars(token.data(), token.data() + token.size(), value);
  return value;
}

// Two or four at a time are the same arithmetic.
std::string_view without_packing(std::string_view part) {
  return part.ends_with("x2") || part.ends_with("x4") ? part.substr(0, part.size() - 2) : part;
}

const Rule* rule_for_part(std::string_view part) {
  static const std::map<std::string_view, const Rule*> parts = [] {
    std::map<std::string_view, const Rule*> made;
    for (const Rule& rule : kRules) {
      if (rule.match == Match::part) made[rule.word] = &rule;
    }
    return made;
  }();
  const auto found = parts.find(part);
  return found == parts.end() ? nullptr : found->second;
}

const Rule* rule_for_token(std::string_view token) {
  for (const Rule& rule : kRules) {
    if (rule.match == Match::mnemonic) continue;
    if (rule.match == Match::token ? token == rule.word
                                   : rule.match == Match::prefix && token.starts_with(rule.word)) {
      return &rule;
    }
  }
  return nullptr;
}

const Rule* rule_for_mnemonic(std::string_view token) {
  for (const Rule& rule : kRules) {
    if (rule.match == Match::mnemonic && token.starts_with(rule.word)) return &rule;
  }
  return nullptr;
}

}  // namespace

std::vector<PtxFeature> features_of(std::string_view ptx) {
  std::vector<PtxFeature> found;
  int line = 0;
  const auto add = [&](const Rule& rule, std::string_view word, std::string_view statement) {
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&](const PtxFeature& one) { return one.word == word; });
    if (!known) found.push_back({word, statement, rule.why, rule.of_precision, line});
  };
  Scanner scanner(ptx);
  int main_file = 0;
  for (std::string_view token = scanner.next(); !token.empty(); token = scanner.next()) {
    if (token == ".loc") {  // .loc file line column
      const int file = number(scanner.next());
      const int stated = number(scanner.next());
      if (main_file == 0) main_file = file;
      if (file == main_file) line = stated;
      continue;
    }
    // %f1 and %rd12 are most of a text, and nothing.
    if (token.front() == '%' || token.find('.') == std::string_view::npos || token[0] == '.') {
      if (const Rule* rule = rule_for_token(token)) {
        add(*rule, rule->match == Match::token ? rule->word : token, token);
        continue;
      }
    }
    if (token.front() == '%') continue;
    if (const Rule* rule = rule_for_mnemonic(token)) {
      add(*rule, rule->word, token);
      continue;
    }
    for (std::string_view rest = token; !rest.empty();) {
      const std::size_t dot = rest.find('.');
      if (const Rule* rule = rule_for_part(without_packing(rest.substr(0, dot))))
        add(*rule, rule->word, token);
      rest.remove_prefix(dot == std::string_view::npos ? rest.size() : dot + 1);
    }
  }
  return found;
}

}  // namespace regraph::verify
