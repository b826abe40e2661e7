// An evaluation as a job, and what comes back.
#pragma once

#include "base/hash.h"
#include "base/result.h"
#include "eval/evaluator.h"
#include "fleet/queue/job.h"
#include "kernel/candidate.h"
#include "kernel/evaluation.h"

#include <optional>
#include <string>
#include <string_view>

namespace regraph::fleet {

struct EvaluationJob {
  Hash128 problem;       // of its text (problem_text.h)
  std::string occasion;  // what else the result depends on: empty where it is predicted
  Candidate candidate;   // without identity and form, which nobody who evaluates asks for
  EvaluationBudget budget;
};

// The job's text, and from it its id: equal evaluations are one job.
[[nodiscard]] Job job_of(const std::string& lane, const EvaluationJob& evaluation);
// Errors: parse, resource.
[[nodiscard]] Result<EvaluationJob> read_evaluation_job(std::string_view payload);

// What a worker says: an evaluation, or why it could not evaluate anything.
struct EvaluationAnswer {
  std::optional<Evaluation> evaluation;
  std::string trouble;  // without one: in words
  std::string worker;   // who says so
};

[[nodiscard]] std::string answer_text(const EvaluationAnswer& answer);
// Strict: an answer may come from anybody who has the token. Errors: parse, resource.
[[nodiscard]] Result<EvaluationAnswer> read_answer(std::string_view text);

}  // namespace regraph::fleet
