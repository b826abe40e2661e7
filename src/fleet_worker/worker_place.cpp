#include "fleet_worker/worker_place.h"

#include "base/files.h"
#include "fleet_worker/failure_notice.h"
#include "fleet_worker/lease_keeper.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace regraph::fleet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSignalTime{100};  // for a signal to reach this process, too

EvaluationAnswer verdict_of(Verdict verdict, std::string message) {
  EvaluationAnswer answer;
  answer.evaluation.emplace();
  answer.evaluation->verdict = verdict;
  answer.evaluation->message = std::move(message);
  return answer;
}

EvaluationAnswer trouble_of(std::string message) {
  EvaluationAnswer answer;
  answer.trouble = std::move(message);
  return answer;
}

// Whoever ends a worker may end its compilers with it, and a moment earlier.
bool may_be_of_leaving(Verdict verdict) {
  return verdict == Verdict::compile_error || verdict == Verdict::crash ||
         verdict == Verdict::timeout;
}

// What a GPU that is lost looks like, and what a candidate may look like, too.
bool may_be_of_machine(const Result<EvaluationAnswer>& said) {
  if (!said) return said.error().code != ErrorCode::cancelled;
  if (said->evaluation) return said->evaluation->verdict == Verdict::unsupported;
  return !said->trial || !said->trial->measurement.speedup;
}

}  // namespace

void WorkerPlace::run() {
  take_jobs(broker_, options_.self.lanes, options_.report, leave_,
            [this](Lease& lease) { work(lease); });
}

void WorkerPlace::work(Lease& lease) {
  const auto job = read_evaluation_job(lease.job().payload);
  if (!job) {
    (void)answer(lease, trouble_of("the job cannot be read: " + job.error().message));
    return;
  }
  if (lease.deliveries() > kMostDeliveries) {
    failed(lease, "its workers went away without a word",
           verdict_of(Verdict::crash,
                      fmt::format("{} workers went away with it", lease.deliveries() - 1)));
    return;
  }
  tally_.began(lease.job().id.hex());
  const auto start = Clock::now();
  Result<EvaluationAnswer> said = trouble_of("");
  bool stood_still = false;
  {
    const LeaseKeeper keeper(lease);
    const auto problem = problem_of(job->problem);
    if (problem) {
      said =
          judge_.ask(*problem, job->problem, lease.job().payload, job->budget.wall_seconds, stop_);
    } else if (problem.error().code == ErrorCode::io) {
      said = fail(ErrorCode::cancelled, problem.error().message);
    } else {
      said = trouble_of("its problem cannot be had: " + problem.error().message);
    }
    stood_still = keeper.stood_still();
  }
  const std::chrono::duration<double> seconds = Clock::now() - start;
  // Time that passed while nothing ran is not the candidate's.
  const bool hung = said ? said->evaluation && said->evaluation->verdict == Verdict::timeout
                         : said.error().code == ErrorCode::resource;
  if (stood_still && hung)
    said = fail(ErrorCode::cancelled, "the worker stood still");
  else if (said && said->evaluation && may_be_of_leaving(said->evaluation->verdict) &&
           leaves_soon())
    said = fail(ErrorCode::cancelled, "the worker leaves");
  else if (may_be_of_machine(said) && is_broken_())
    said = fail(ErrorCode::cancelled, "the worker retires");
  const bool judged = said && (said->evaluation || said->trial);
  tally_.ended(seconds.count(), judged);
  if (judged) {
    (void)answer(lease, *said);
  } else if (!said && said.error().code == ErrorCode::cancelled) {
    lease.give_back(kRetrySeconds);  // it is not the job's fault
  } else if (leaves_soon()) {
    lease.give_back(0.0);
  } else if (said) {
    failed(lease, said->trouble, *said);
  } else {
    failed(lease, said.error().message,
           verdict_of(hung ? Verdict::timeout : Verdict::crash,
                      "the processes that judged it died or hung: " + said.error().message));
  }
}

bool WorkerPlace::leaves_soon() const {
  std::this_thread::sleep_for(kSignalTime);
  return leave_.requested();
}

bool WorkerPlace::answer(Lease& lease, const EvaluationAnswer& answer) {
  EvaluationAnswer signed_answer = answer;
  signed_answer.worker = options_.self.name;
  const auto first = lease.finish(answer_text(signed_answer), stop_);
  if (!first && first.error().code == ErrorCode::resource)
    return lease.finish(answer_text(trouble_of(first.error().message)), stop_).ok();
  return first.ok();
}

void WorkerPlace::failed(Lease& lease, const std::string& why, const EvaluationAnswer& in_the_end) {
  if (was_last_try(broker_, lease, options_.self.name, why, options_.report))
    (void)answer(lease, in_the_end);
}

Result<std::string> WorkerPlace::problem_of(const Hash128& id) {
  if (id == problem_id_ && !problem_.empty()) return problem_;
  const auto text = broker_.fetch(id);
  if (!text) return text.error();
  const auto files = problem_files(*text);
  if (!files) return files.error();
  for (const ProblemFile& file : *files)
    if (Status brought = bring(file); !brought) return std::move(brought).error();
  auto local = with_files_in(*text, options_.files);
  if (!local) return local;
  problem_id_ = id;
  problem_ = *local;
  return local;
}

Status WorkerPlace::bring(const ProblemFile& file) {
  const std::filesystem::path folder = options_.files / file.id.hex();
  std::error_code error;
  if (std::filesystem::exists(folder / file.name, error)) return {};
  const auto bytes = broker_.fetch(file.id);
  if (!bytes) return bytes.error();
  std::filesystem::create_directories(folder, error);
  // For this user alone to read: it is somebody's data.
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  return write_file(folder / file.name, *bytes);
}

}  // namespace regraph::fleet
