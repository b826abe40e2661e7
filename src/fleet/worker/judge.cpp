#include "fleet/worker/judge.h"

#include "fleet/problem_text.h"
#include "fleet/worker/judge_request.h"
#include "session/session.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace regraph::fleet {

struct Judge::State {
  struct Open {
    Hash128 id;
    std::unique_ptr<Session> session;
  };

  State(Installation at, int most_threads) : installation(std::move(at)), threads(most_threads) {}

  // The session of a problem, opened where it is not.
  Result<Session*> session_of(std::string_view text, const Cancellation& cancellation) {
    const Hash128 id = hash_text(text);
    const auto found = std::ranges::find(open, id, &Open::id);
    if (found != open.end()) {
      std::rotate(open.begin(), found, found + 1);
      return open.front().session.get();
    }
    auto description = read_problem_text(text);
    if (!description) return std::move(description).error();
    auto session = Session::reopen(*description, installation, cancellation);
    if (!session) return fail(ErrorCode::internal, session.error().message);
    (*session)->limit_threads(threads);
    if (open.size() >= kOpenProblems) open.pop_back();
    open.push_front({id, std::move(*session)});
    return open.front().session.get();
  }

  const Installation installation;
  const int threads;
  std::deque<Open> open;  // the one that was used last in front
};

Judge::Judge(Installation installation, int threads)
    : state_(std::make_unique<State>(std::move(installation), threads)) {}
Judge::~Judge() = default;

EvaluationAnswer Judge::judge(std::string_view request, const Cancellation& cancellation) {
  EvaluationAnswer answer;
  const auto trouble = [&](const Error& error) {
    answer.trouble = error.message;
    return answer;
  };
  const auto parts = read_judge_request(request);
  if (!parts) return trouble(parts.error());
  const auto job = read_evaluation_job(parts->evaluation);
  if (!job) return trouble(job.error());
  const auto session = state_->session_of(parts->problem, cancellation);
  if (!session) return trouble(session.error());
  answer.evaluation = (*session)->evaluate(job->candidate, job->budget, cancellation);
  return answer;
}

}  // namespace regraph::fleet
