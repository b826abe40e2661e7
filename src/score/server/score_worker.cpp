#include "score/server/score_worker.h"

#include <algorithm>
#include <utility>

namespace regraph::score {

Score no_verdict(const ScoreItem& item, std::string message) {
  Score score;
  score.id = item.id;
  score.facts.outcome = learn::AnswerOutcome::no_verdict;
  score.message = std::move(message);
  return score;
}

Status ScoreWorker::start() {
  if (alive()) return {};
  forget();
  Result<ServiceProcess> started = ServiceProcess::start(options_.program);
  if (!started) return std::move(started).error();
  process_.emplace(*std::move(started));
  return {};
}

bool ScoreWorker::has_open(std::string_view problem) const {
  return std::ranges::find(open_, problem) != open_.end();
}

void ScoreWorker::remember(const std::string& problem) {
  std::erase(open_, problem);
  open_.push_front(problem);
  if (open_.size() > kOpenProblems) open_.pop_back();
}

void ScoreWorker::forget() {
  process_.reset();
  open_.clear();
}

Result<Score> ScoreWorker::ask(const ScoreItem& item, const std::string& problem,
                               const Cancellation& cancellation) {
  if (Status started = start(); !started) return std::move(started).error();
  const double seconds = options_.candidate_seconds + options_.margin_seconds +
                         (has_open(problem) ? 0.0 : options_.opening_seconds);
  remember(problem);
  const Result<std::string> said = process_->ask(item_text(item), seconds, cancellation);
  if (!said) {
    forget();
    return said.error();
  }
  Result<Score> score = read_score(*said);
  if (score && score->id == item.id) return score;
  forget();
  if (!score) return std::move(score).error();
  return fail(ErrorCode::parse, "the worker answers something else than it was asked");
}

}  // namespace regraph::score
