#include "dataset/collected.h"

#include "learn/table_lines.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace regraph::dataset {

namespace {

constexpr std::string_view kCollectedHeader = "regraph-collected/1";
constexpr std::string_view kProblemTag = "problem ";
constexpr std::string_view kPairTag = "pair ";
constexpr std::string_view kStateTag = "state ";
constexpr std::string_view kAnswerTag = "answer ";
constexpr std::string_view kDroppedTag = "dropped ";

// Appends the entries whose key is not known yet; returns how many were.
template <typename Entry, typename Key>
int take_new(std::vector<Entry>& entries, std::set<std::string>& known, std::vector<Entry> more,
             const Key& key) {
  int repeated = 0;
  for (Entry& entry : more) {
    if (known.insert(key(entry)).second) {
      entries.push_back(std::move(entry));
    } else {
      ++repeated;
    }
  }
  return repeated;
}

template <typename Entry>
std::string taken(Result<Entry> read, std::vector<Entry>& entries) {
  if (!read) return read.error().message;
  entries.push_back(std::move(*read));
  return {};
}

std::string take_dropped(std::string_view text, Collected& collected) {
  const auto json = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object() || !json.contains("considered") || !json.contains("reasons"))
    return "no counts of what was dropped";
  if (!json["considered"].is_number_integer() || !json["reasons"].is_object())
    return "the counts are not numbers";
  collected.considered += json["considered"].get<int>();
  for (const auto& [reason, count] : json["reasons"].items()) {
    if (!count.is_number_integer()) return "the counts are not numbers";
    collected.dropped[reason] += count.get<int>();
  }
  return {};
}

}  // namespace

void CollectionMerger::add(Collected other) {
  take_new(merged_.problems, problems_, std::move(other.problems),
           [](const score::RegisteredProblem& problem) { return problem.id; });
  const int equal = take_new(merged_.pairs, pairs_, std::move(other.pairs),
                             [](const PairRecord& pair) { return pair.id; });
  take_new(merged_.states, states_, std::move(other.states),
           [](const StateItem& state) { return state.id; });
  take_new(merged_.answers, answers_, std::move(other.answers),
           [](const AnswerItem& answer) { return answer.state + '\n' + answer.completion; });
  for (const auto& [reason, count] : other.dropped)
    merged_.dropped[reason] += count;
  if (equal > 0) merged_.dropped["equal to another pair"] += equal;
  merged_.considered += other.considered;
}

std::string collected_text(const Collected& collected) {
  std::string text(kCollectedHeader);
  text += '\n';
  const auto line = [&](std::string_view tag, const std::string& content) {
    text.append(tag).append(content) += '\n';
  };
  for (const score::RegisteredProblem& problem : collected.problems)
    line(kProblemTag, score::problem_text(problem));
  for (const PairRecord& pair : collected.pairs)
    line(kPairTag, item_text(pair));
  for (const StateItem& state : collected.states)
    line(kStateTag, item_text(state));
  for (const AnswerItem& answer : collected.answers)
    line(kAnswerTag, item_text(answer));
  const nlohmann::ordered_json counts{{"considered", collected.considered},
                                      {"reasons", collected.dropped}};
  line(kDroppedTag, counts.dump());
  return text;
}

Result<Collected> read_collected(std::string_view text, std::string_view name) {
  Collected collected;
  const auto read_row = [&](std::string_view line) -> std::string {
    const auto content = [&](std::string_view tag) { return line.substr(tag.size()); };
    if (line.starts_with(kProblemTag))
      return taken(score::read_problem(content(kProblemTag)), collected.problems);
    if (line.starts_with(kPairTag)) return taken(read_pair(content(kPairTag)), collected.pairs);
    if (line.starts_with(kStateTag))
      return taken(read_state_item(content(kStateTag)), collected.states);
    if (line.starts_with(kAnswerTag))
      return taken(read_answer(content(kAnswerTag)), collected.answers);
    if (line.starts_with(kDroppedTag)) return take_dropped(content(kDroppedTag), collected);
    return "a line of an unknown kind";
  };
  if (Status read =
          learn::read_table_lines(text, name, {kCollectedHeader, "collected pairs"}, read_row);
      !read)
    return std::move(read).error();
  return collected;
}

}  // namespace regraph::dataset
