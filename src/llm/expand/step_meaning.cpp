#include "llm/expand/step_meaning.h"

#include <algorithm>
#include <array>

namespace regraph::llm {

namespace {

// They stand in names of any step.
constexpr auto kEmptyWords = std::to_array<std::string_view>(
    {"a",        "an",      "and",  "apply", "as",    "at",           "by",           "do",
     "each",     "for",     "from", "in",    "into",  "it",           "its",          "kernel",
     "mapping",  "more",    "of",   "on",    "one",   "optimisation", "optimization", "optimise",
     "optimize", "or",      "over", "per",   "some",  "step",         "that",         "the",
     "this",     "through", "to",   "use",   "using", "via",          "with",         "its"});
// They say that something is taken back.
constexpr auto kTakingBack = std::to_array<std::string_view>(
    {"avoid", "disable", "drop", "eliminate", "remove", "restore", "revert", "undo", "without"});

// "tiles", "tiling" and "tiled" are one word; what is left need not be one.
std::string stem(std::string word) {
  const auto ends = [&](std::string_view end) {
    constexpr std::size_t kShortestStem = 3;
    return word.size() >= end.size() + kShortestStem && word.ends_with(end);
  };
  if (ends("s") && !ends("ss")) word.pop_back();
  for (const std::string_view end : {"ly", "ing", "ed", "ion", "e"}) {
    if (!ends(end)) continue;
    word.resize(word.size() - end.size());
    break;
  }
  return word;
}

std::set<std::string> words_of(std::string_view name) {
  std::set<std::string> words;
  std::string word;
  const auto end_word = [&] {
    const bool tells = !word.empty() && std::ranges::find(kEmptyWords, word) == kEmptyWords.end();
    if (tells) words.insert(stem(word));
    word.clear();
  };
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool kept = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                      static_cast<unsigned char>(c) >= 0x80;
    if (kept) {
      word += upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else {
      end_word();
    }
  }
  end_word();
  return words;
}

std::size_t shared_words(const std::set<std::string>& one, const std::set<std::string>& other) {
  return static_cast<std::size_t>(
      std::ranges::count_if(one, [&](const std::string& word) { return other.contains(word); }));
}

}  // namespace

std::set<std::string> telling_words(std::string_view name) {
  return words_of(name);
}

bool mean_the_same(std::string_view one, std::string_view other) {
  const std::set<std::string> left = words_of(one);
  const std::set<std::string> right = words_of(other);
  if (left.empty() || right.empty()) return one == other;
  if (left == right) return true;
  const std::size_t shared = shared_words(left, right);
  const std::size_t either = left.size() + right.size() - shared;
  return shared >= 2 && 3 * shared >= 2 * either;
}

const Step* step_meant_by(std::string_view name, const StepGraph& graph) {
  const std::set<std::string> wanted = words_of(name);
  if (wanted.empty()) return nullptr;
  for (const Step* step : graph.steps()) {
    const auto means = [&](std::string_view other) { return words_of(other) == wanted; };
    if (means(step->id) || means(step->name) || std::ranges::any_of(step->aliases, means))
      return step;
  }
  return nullptr;
}

bool takes_back(std::string_view name, std::string_view last) {
  std::set<std::string> words = words_of(name);
  std::size_t removing = 0;
  for (const std::string_view word : kTakingBack)
    removing += words.erase(stem(std::string(word)));
  if (removing == 0 || words.empty()) return false;
  const std::set<std::string> known = words_of(last);
  return std::ranges::all_of(words, [&](const std::string& word) { return known.contains(word); });
}

}  // namespace regraph::llm
