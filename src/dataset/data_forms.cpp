#include "dataset/data_forms.h"

#include "dataset/family_split.h"
#include "learn/reward.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace regraph::dataset {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kDataSource = "regraph";
// Preferences of a state: more repeat what the first ones say.
constexpr std::size_t kMostPreferences = 4;

bool is_correct_answer(const AnswerItem& answer) {
  const auto outcome = learn::read_answer_outcome(answer.outcome);
  return outcome && learn::is_correct(*outcome) && answer.seconds > 0.0;
}

bool is_faster_than(const AnswerItem& one, double low_seconds) {
  return is_correct_answer(one) && one.seconds_high < low_seconds;
}

bool is_worth_learning(const AnswerItem& answer) {
  return answer.outcome == kUnjudged || is_faster_than(answer, answer.parent_seconds_low);
}

Json message(const char* role, const std::string& content) {
  return Json{{"role", role}, {"content", content}};
}

Json prompt_of(const StateItem& state) {
  return Json::array({message("system", state.system), message("user", state.user)});
}

Json answer_message(const AnswerItem& answer) {
  return Json::array({message("assistant", answer.completion)});
}

std::string row_text(const Json& row) {
  return row.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

// Which states and answers belong together.
class FormMaker {
 public:
  FormMaker(const Collected& collected, const std::map<std::string, std::string>& splits)
      : collected_(collected), splits_(splits) {}

  DataForms make() && {
    for (const PairRecord& pair : collected_.pairs)
      add("pairs", split_of(pair.family), item_text(pair) + '\n');
    std::map<std::string, std::vector<const AnswerItem*>> answers;
    for (const AnswerItem& answer : collected_.answers)
      answers[answer.state].push_back(&answer);
    for (const StateItem& state : collected_.states) {
      const std::string split = split_of(state.family);
      add_prompts(state, split);
      for (const AnswerItem* answer : answers[state.id])
        add_answer(state, *answer, split);
      add_preferences(state, answers[state.id], split);
    }
    return std::move(forms_);
  }

 private:
  [[nodiscard]] std::string split_of(const std::string& family) const {
    const auto found = splits_.find(family);
    return found == splits_.end() ? kTrain : found->second;
  }

  void add(const char* form, const std::string& split, std::string row) {
    forms_[form][split].push_back(std::move(row));
  }

  static Json with_labels(Json row, const StateItem& state, const std::string& step) {
    row["state"] = state.id;
    row["step"] = step;
    row["kernel"] = state.kernel;
    row["family"] = state.family;
    return row;
  }

  void add_prompts(const StateItem& state, const std::string& split) {
    Json row = with_labels(Json{{"prompt", prompt_of(state)}}, state, state.step);
    row["stage"] = state.stage;
    row["settings"] = state.settings;
    add("rl", split, row_text(row));
    const std::size_t index = forms_["verl"][split].size();
    add("verl", split,
        row_text(Json{{"data_source", kDataSource},
                      {"prompt", prompt_of(state)},
                      {"ability", "code"},
                      {"reward_model", {{"style", "rule"}, {"ground_truth", state.id}}},
                      {"extra_info", {{"split", split}, {"index", index}}}}));
  }

  void add_answer(const StateItem& state, const AnswerItem& answer, const std::string& split) {
    if (is_worth_learning(answer)) {
      Json messages = prompt_of(state);
      messages.push_back(message("assistant", answer.completion));
      Json sft = with_labels(Json{{"messages", std::move(messages)}}, state, answer.step);
      sft["verdict"] = answer.outcome;
      add("sft", split, row_text(sft));
      Json pc =
          with_labels(Json{{"prompt", prompt_of(state)}, {"completion", answer_message(answer)}},
                      state, answer.step);
      pc["verdict"] = answer.outcome;
      add("pc", split, row_text(pc));
    }
    if (answer.outcome == kUnjudged) return;
    const bool desirable =
        is_correct_answer(answer) && answer.seconds_low <= answer.parent_seconds_high;
    add("kto", split,
        row_text(with_labels(Json{{"prompt", prompt_of(state)},
                                  {"completion", answer_message(answer)},
                                  {"label", desirable}},
                             state, answer.step)));
  }

  void add_preferences(const StateItem& state, std::vector<const AnswerItem*> answers,
                       const std::string& split) {
    std::erase_if(answers, [](const AnswerItem* answer) { return answer->outcome == kUnjudged; });
    std::size_t count = 0;
    for (const AnswerItem* chosen : answers) {
      for (const AnswerItem* rejected : answers) {
        if (count >= kMostPreferences || !is_correct_answer(*chosen)) break;
        const bool better =
            is_correct_answer(*rejected) ? is_faster_than(*chosen, rejected->seconds_low) : true;
        if (chosen == rejected || !better) continue;
        ++count;
        add("pref", split,
            row_text(with_labels(Json{{"prompt", prompt_of(state)},
                                      {"chosen", answer_message(*chosen)},
                                      {"rejected", answer_message(*rejected)}},
                                 state, state.step)));
      }
    }
  }

  const Collected& collected_;
  const std::map<std::string, std::string>& splits_;
  DataForms forms_;
};

}  // namespace

DataForms data_forms(const Collected& collected, const std::map<std::string, std::string>& splits) {
  return FormMaker(collected, splits).make();
}

}  // namespace regraph::dataset
