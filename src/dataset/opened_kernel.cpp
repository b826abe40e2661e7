#include "dataset/opened_kernel.h"

#include "learn/reward.h"
#include "score/scorer.h"
#include "session/session_policy.h"

#include <utility>

namespace regraph::dataset {

Result<OpenedKernel, SessionError> open_kernel(const KernelSource& source,
                                               const Installation& installation,
                                               const Cancellation& cancellation) {
  SessionOptions options;
  options.problem.kernel_file = source.kernel.string();
  options.device = source.device;
  options.evaluator = source.evaluator;
  options.policy = kNoPolicy;
  options.fleet = source.fleet;
  auto session = Session::open(options, installation, cancellation);
  if (!session) return std::move(session).error();
  auto expander = (*session)->expander({}, (*session)->configuration());
  if (!expander) return std::move(expander).error();
  auto prompts = PromptMaker::make(**session, source.prompts);
  if (!prompts) return std::move(prompts).error();
  return OpenedKernel{std::move(*session), std::move(*expander), std::move(*prompts)};
}

void put_judgement(const Evaluation& parent, const Evaluation& child, AnswerItem& answer) {
  answer.outcome = learn::name(score::outcome_of(child));
  answer.method = name(parent.time.method);
  answer.parent_seconds = parent.time.median_seconds;
  answer.parent_seconds_low = parent.time.low_seconds;
  answer.parent_seconds_high = parent.time.high_seconds;
  if (!child.correct()) return;
  answer.seconds = child.time.median_seconds;
  answer.seconds_low = child.time.low_seconds;
  answer.seconds_high = child.time.high_seconds;
}

}  // namespace regraph::dataset
