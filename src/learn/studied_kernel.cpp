#include "learn/studied_kernel.h"

#include "base/hash.h"
#include "kernel/manifest.h"
#include "session/session_policy.h"

#include <utility>

namespace regraph::learn {

namespace {

constexpr const char* kMemoryFile = "evaluations.db";

}  // namespace

Result<std::unique_ptr<StudiedKernel>, SessionError> StudiedKernel::open(
    const StudyPlace& place, const Installation& installation, const Cancellation& cancellation) {
  std::unique_ptr<StudiedKernel> kernel(new StudiedKernel);
  SessionOptions options;
  options.problem.kernel_file = place.kernel.string();
  options.device = place.device;
  options.evaluator = place.evaluator;
  options.policy = kNoPolicy;
  options.fleet = place.fleet;
  auto session = Session::open(options, installation, cancellation);
  if (!session) return std::move(session).error();
  kernel->session_ = std::move(*session);
  SearchConfig& config = kernel->config_;
  config = kernel->session_->configuration();
  config.finalists = 1;
  auto expander = kernel->session_->expander({}, config);
  if (!expander) return std::move(expander).error();
  kernel->expander_ = std::move(*expander);
  const Problem& problem = kernel->session_->problem();
  const std::string manifest = write_manifest(problem, problem.launch);
  kernel->hash_ = Hasher().add(problem.source).add(manifest).finish().hex();
  Evaluator& evaluator = kernel->expander_->evaluator();
  if (evaluator.may_work_ahead() != Evaluator::Ahead::evaluation) return kernel;
  const std::string scope = (place.any_build ? std::string("any") : program_identity()) +
                            kernel->hash_ + config.device + config.device_table +
                            kernel->session_->evaluator_name();
  auto memory = EvaluationMemory::open(evaluator, place.folder / kMemoryFile, scope);
  if (!memory) return SessionError{FailureCause::internal, memory.error().message};
  kernel->memory_ = std::move(*memory);
  return kernel;
}

Evaluator& StudiedKernel::evaluator() {
  if (memory_) return *memory_;
  return expander_->evaluator();
}

}  // namespace regraph::learn
