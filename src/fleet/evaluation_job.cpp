#include "fleet/evaluation_job.h"

#include "base/json_text.h"
#include "fleet/measurement_text.h"
#include "fleet/text_parts.h"
#include "search/journal_rows.h"

#include <cmath>
#include <utility>

namespace regraph::fleet {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kScreening = "screening";
constexpr const char* kConfirmation = "confirmation";
constexpr const char* kEvaluate = "evaluate";
constexpr const char* kTryAnswer = "try_answer";
constexpr JsonLimits kAnswer = {std::size_t{16} << 20, 8};

Json row_json(const SqlRow& row) {
  Json json = Json::array();
  for (const SqlValue& value : row) {
    std::visit(
        [&](const auto& content) {
          if constexpr (std::is_same_v<std::decay_t<decltype(content)>, std::monostate>) {
            json.push_back(nullptr);
          } else {
            json.push_back(content);
          }
        },
        value);
  }
  return json;
}

SqlRow row_of(const Json& json) {
  SqlRow row;
  for (const Json& value : json) {
    if (value.is_number_integer()) {
      row.emplace_back(value.get<std::int64_t>());
    } else if (value.is_number_float()) {
      row.emplace_back(value.get<double>());
    } else if (value.is_string()) {
      row.emplace_back(value.get<std::string>());
    } else {
      row.emplace_back();
    }
  }
  return row;
}

// Null where it is no text.
const std::string* text_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() ? nullptr : found->get_ptr<const std::string*>();
}

std::optional<double> number_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

Error damaged(const char* what) {
  return fail(ErrorCode::parse, std::string("a job without a usable ") + what);
}

}  // namespace

Job job_of(const std::string& lane, const EvaluationJob& evaluation) {
  const EvaluationBudget& budget = evaluation.budget;
  const bool screening = budget.effort == EvaluationBudget::Effort::screening;
  Json head = Json::object();
  head["task"] = evaluation.task == EvaluationJob::Task::evaluate ? kEvaluate : kTryAnswer;
  head["problem"] = evaluation.problem.hex();
  head["occasion"] = evaluation.occasion;
  head["plan"] = journal::plan_text(evaluation.candidate.plan);
  head["assumptions"] = journal::texts_text(evaluation.candidate.assumptions);
  head["effort"] = screening ? kScreening : kConfirmation;
  head["seed"] = std::to_string(budget.seed);
  head["repetitions"] = budget.repetitions;
  head["wall_seconds"] = budget.wall_seconds;
  head["measured_over_predicted"] = budget.measured_over_predicted;
  head["sanitize"] = evaluation.sanitize;
  Job job;
  job.lane = lane;
  job.payload = join_parts(head, evaluation.candidate.source);
  job.id = Hasher().add(lane).add(job.payload).finish();
  return job;
}

Result<EvaluationJob> read_evaluation_job(std::string_view payload) {
  auto parts = split_parts(payload);
  if (!parts) return std::move(parts).error();
  const Json& head = parts->head;
  EvaluationJob job;
  const std::string* const problem = text_in(head, "problem");
  const auto hash = problem == nullptr ? std::nullopt : journal::read_hash(*problem);
  if (!hash) return damaged("problem");
  job.problem = *hash;
  const std::string* const task = text_in(head, "task");
  if (task == nullptr || (*task != kEvaluate && *task != kTryAnswer)) return damaged("task");
  job.task = *task == kEvaluate ? EvaluationJob::Task::evaluate : EvaluationJob::Task::try_answer;
  const auto sanitize = head.find("sanitize");
  if (sanitize == head.end() || !sanitize->is_boolean()) return damaged("word on the sanitizer");
  job.sanitize = sanitize->get<bool>();
  const std::string* const occasion = text_in(head, "occasion");
  if (occasion == nullptr) return damaged("occasion");
  job.occasion = *occasion;
  const std::string* const plan_text = text_in(head, "plan");
  auto plan = plan_text == nullptr ? std::nullopt : journal::read_plan(*plan_text);
  if (!plan) return damaged("plan");
  job.candidate.plan = std::move(*plan);
  const std::string* const assumptions_text = text_in(head, "assumptions");
  auto assumptions =
      assumptions_text == nullptr ? std::nullopt : journal::read_texts(*assumptions_text);
  if (!assumptions) return damaged("list of assumptions");
  job.candidate.assumptions = std::move(*assumptions);
  const std::string* const effort = text_in(head, "effort");
  if (effort == nullptr || (*effort != kScreening && *effort != kConfirmation))
    return damaged("effort");
  job.budget.effort = *effort == kScreening ? EvaluationBudget::Effort::screening
                                            : EvaluationBudget::Effort::confirmation;
  const std::string* const seed = text_in(head, "seed");
  const bool numeric = seed != nullptr && !seed->empty() && seed->size() <= 20 &&
                       seed->find_first_not_of("0123456789") == std::string::npos;
  if (!numeric) return damaged("seed");
  job.budget.seed = std::strtoull(seed->c_str(), nullptr, 10);
  constexpr double kMostRepetitions = 1e6;
  constexpr double kMostSeconds = 1e6;
  const auto repetitions = number_in(head, "repetitions");
  if (!repetitions || *repetitions < 1 || *repetitions > kMostRepetitions)
    return damaged("number of repetitions");
  job.budget.repetitions = static_cast<int>(*repetitions);
  const auto seconds = number_in(head, "wall_seconds");
  if (!seconds || *seconds <= 0.0 || *seconds > kMostSeconds) return damaged("time limit");
  job.budget.wall_seconds = *seconds;
  const auto ratio = number_in(head, "measured_over_predicted");
  if (!ratio || *ratio < 0.0) return damaged("ratio of times");
  job.budget.measured_over_predicted = *ratio;
  job.candidate.source = parts->body;
  return job;
}

std::string answer_text(const EvaluationAnswer& answer) {
  Json json = Json::object();
  json["worker"] = answer.worker;
  if (answer.evaluation) {
    SqlRow row;
    journal::append(*answer.evaluation, row);
    json["evaluation"] = row_json(row);
  } else if (answer.trial) {
    json["trial"] = trial_json(*answer.trial);
  } else {
    json["trouble"] = answer.trouble;
  }
  if (answer.use) {
    json["use"] = measurement_json(*answer.use);
    json["process"] = answer.process;
  }
  return json_line(json);
}

Result<EvaluationAnswer> read_answer(std::string_view text) {
  auto json = parse_json(text, kAnswer);
  if (!json) return std::move(json).error();
  if (!json->is_object()) return fail(ErrorCode::parse, "an answer that is no JSON object");
  EvaluationAnswer answer;
  const std::string* const worker = text_in(*json, "worker");
  if (worker == nullptr) return fail(ErrorCode::parse, "an answer of nobody");
  answer.worker = *worker;
  if (const std::string* trouble = text_in(*json, "trouble")) {
    answer.trouble = *trouble;
    return answer;
  }
  if (const auto use = json->find("use"); use != json->end()) {
    answer.use = read_measurement(*use);
    const auto process = json->find("process");
    if (!answer.use || process == json->end() || !process->is_number_unsigned())
      return fail(ErrorCode::parse, "an answer whose use of GPUs cannot be read");
    answer.process = process->get<std::uint64_t>();
  }
  if (const auto trial = json->find("trial"); trial != json->end()) {
    answer.trial = read_trial(*trial);
    if (!answer.trial) return fail(ErrorCode::parse, "an answer with a trial that cannot be read");
    return answer;
  }
  const auto found = json->find("evaluation");
  if (found == json->end() || !found->is_array())
    return fail(ErrorCode::parse, "an answer without an evaluation");
  answer.evaluation = journal::read_evaluation(row_of(*found), 0);
  if (!answer.evaluation)
    return fail(ErrorCode::parse, "an answer with an evaluation that cannot be read");
  return answer;
}

}  // namespace regraph::fleet
