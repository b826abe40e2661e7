// An evaluation as a job, and what comes back.
#pragma once

#include "base/hash.h"
#include "base/result.h"
#include "eval/evaluator.h"
#include "fleet/queue/job.h"
#include "kernel/candidate.h"
#include "kernel/evaluation.h"
#include "kernel/measurement.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace regraph::fleet {

struct EvaluationJob {
  enum class Task : std::uint8_t {
    evaluate,
    try_answer,  // time it beside the original, as a search's answer before its claim stands
  };
  Task task = Task::evaluate;
  Hash128 problem;       // of its text (problem_text.h)
  std::string occasion;  // what else the result depends on: empty where it is predicted
  Candidate candidate;   // without identity and form, which nobody who evaluates asks for
  EvaluationBudget budget;
  bool sanitize = false;  // an answer is launched under compute-sanitizer, too
};

// The job's text, and from it its id: equal evaluations are one job.
[[nodiscard]] Job job_of(const std::string& lane, const EvaluationJob& evaluation);
// Errors: parse, resource.
[[nodiscard]] Result<EvaluationJob> read_evaluation_job(std::string_view payload);

// What a worker says: an evaluation or a trial, as it was asked, or why it could do neither.
struct EvaluationAnswer {
  std::optional<Evaluation> evaluation;
  std::string trouble;  // without any: in words
  std::string worker;   // who says so
  std::optional<AnswerTrial> trial = {};
  // Where times are measured: all that one process of the worker's did for the problem up to now.
  std::optional<Measurement> use = {};
  std::uint64_t process = 0;  // which
};

[[nodiscard]] std::string answer_text(const EvaluationAnswer& answer);
// Strict: an answer may come from anybody who has the token. Errors: parse, resource.
[[nodiscard]] Result<EvaluationAnswer> read_answer(std::string_view text);

}  // namespace regraph::fleet
