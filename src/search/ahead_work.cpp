#include "search/ahead_work.h"

#include <algorithm>
#include <utility>

namespace regraph {

namespace {

// Results that nobody has asked for yet are kept up to this many for each worker, of either kind.
constexpr std::size_t kKeptPerWorker = 16;

// Whether the same would come out at any other time.
bool lasting(const ApplyJob& job) {
  return job.child != nullptr || job.refusal.code == ErrorCode::refused;
}
bool lasting(const JudgeJob& job) {
  return job.evaluation.verdict != Verdict::timeout && job.evaluation.verdict != Verdict::crash;
}

// Whether a result is still of use after it was asked for: what a candidate was prepared with tells
// what to expect while it is evaluated.
bool stays(const ApplyJob& /*job*/) {
  return false;
}
bool stays(const JudgeJob& job) {
  return job.prepares_only;
}

}  // namespace

AheadWork::AheadWork(const SearchInputs& inputs, WorkerPool& pool)
    : inputs_(inputs),
      pool_(pool),
      possible_(inputs.config.work_ahead && inputs.config.jobs > 1 &&
                inputs.evaluator.may_work_ahead() != Evaluator::Ahead::nothing),
      prepares_only_(inputs.evaluator.may_work_ahead() == Evaluator::Ahead::preparation),
      proposes_(inputs.expander.proposes_freely()),
      most_kept_(kKeptPerWorker * static_cast<std::size_t>(inputs.config.jobs)),
      left_idle_(std::max(inputs.config.jobs / 2 - 1, 0)) {}

AheadWork::ApplyKey AheadWork::key_of(const ApplyRequest& request) {
  return {request.parent.get(), request.proposal.text()};
}

AheadWork::JudgeKey AheadWork::key_of(const JudgeRequest& request) {
  const Candidate& candidate = *request.candidate;
  const EvaluationBudget& budget = request.budget;
  Hasher hasher;
  hasher.add(candidate.source).add(candidate.plan.text());
  hasher.add(candidate.identity.low).add(candidate.identity.high);
  for (const std::string& assumption : candidate.assumptions)
    hasher.add(assumption);
  hasher.add(static_cast<std::uint64_t>(budget.effort)).add(budget.seed);
  hasher.add(static_cast<std::uint64_t>(budget.repetitions));
  const Hash128 hash = hasher.finish();
  return {hash.low, hash.high};
}

void AheadWork::start(std::vector<Wish> wishes) {
  std::ranges::stable_sort(wishes, std::greater<>{}, &Wish::probability);
  for (Wish& wish : wishes) {
    bool room = true;
    if (auto* apply = std::get_if<ApplyRequest>(&wish.work)) {
      const ApplyKey key = key_of(*apply);
      auto job = std::make_shared<ApplyJob>(inputs_, std::move(*apply));
      room = start_one(applied_, key, std::move(job), wish.probability);
    } else {
      auto& judge = std::get<JudgeRequest>(wish.work);
      const JudgeKey key = key_of(judge);
      auto job = std::make_shared<JudgeJob>(inputs_, std::move(judge), prepares_only_);
      room = start_one(judged_, key, std::move(job), wish.probability);
    }
    if (!room) break;
  }
}

// Returns false when no worker idles.
template <typename Table, typename Key, typename AnyJob>
bool AheadWork::start_one(Table& table, const Key& key, std::shared_ptr<AnyJob> job,
                          double probability) {
  if (auto* known = table.find(key)) {
    known->probability = probability;
    return true;
  }
  if (table.tried(key)) return true;
  const bool started =
      room() > 0 && pool_.start_ahead(job, [this, &table, key, raw = job.get()](Ending ending) {
        ended(table, key, raw, ending);
      });
  if (!started) return false;
  table.add(key, std::move(job), probability);
  if constexpr (std::is_same_v<AnyJob, JudgeJob>) {
    ++statistics_.evaluations;
  } else {
    ++statistics_.expansions;
  }
  return true;
}

template <typename Table, typename Key>
void AheadWork::ended(Table& table, const Key& key, const Job* job, Ending ending) {
  auto* entry = table.find(key);
  if (entry == nullptr || entry->job.get() != job) return;
  const bool of_use =
      ending == Ending::finished && !entry->job->cancellation.requested() && lasting(*entry->job);
  if (of_use && (!entry->asked || stays(*entry->job))) {
    const auto done = entry->job;
    const auto asked = std::exchange(entry->asked, nullptr);
    table.keep(key, most_kept_);
    if (!asked) return;
    used(*done);
    return asked(nullptr);
  }
  const auto taken = of_use ? table.take(key) : table.give_up(key);
  if (!taken.asked) return;
  if (of_use) used(*taken.job);
  taken.asked(of_use ? taken.job.get() : nullptr);
}

template <typename Table, typename Key, typename Asked>
bool AheadWork::take_from(Table& table, const Key& key, Asked asked) {
  auto* entry = table.find(key);
  if (entry == nullptr) return false;
  if (!entry->ready) {
    // Told to stop: to wait for its end would be to wait for nothing.
    if (entry->job->cancellation.requested()) return false;
    entry->asked = std::move(asked);
    return true;
  }
  const auto taken = table.take(key);
  used(*taken.job);
  asked(taken.job.get());
  return true;
}

bool AheadWork::take(const ApplyRequest& request, Applied asked) {
  if (request.variant != 0 || !inputs_.expander.repeatable(request.proposal)) return false;
  return take_from(applied_, key_of(request), std::move(asked));
}

bool AheadWork::take(const JudgeRequest& request, Judged asked) {
  if (!prepares_only_) return take_from(judged_, key_of(request), std::move(asked));
  const JudgeJob* job = ready(request);
  if (job == nullptr) return take_from(judged_, key_of(request), std::move(asked));
  used(*job);
  return false;
}

const ApplyJob* AheadWork::done(const ApplyRequest& request) {
  const auto* entry = applied_.find(key_of(request));
  return entry != nullptr && entry->ready ? entry->job.get() : nullptr;
}

const JudgeJob* AheadWork::ready(const JudgeRequest& request) {
  const auto* entry = judged_.find(key_of(request));
  return entry != nullptr && entry->ready ? entry->job.get() : nullptr;
}

const JudgeJob* AheadWork::done(const JudgeRequest& request) {
  return prepares_only_ ? nullptr : ready(request);
}

const JudgeJob* AheadWork::prepared(const JudgeRequest& request) {
  return prepares_only_ ? ready(request) : nullptr;
}

bool AheadWork::tried(const ApplyRequest& request) const {
  return applied_.tried(key_of(request));
}

bool AheadWork::tried(const JudgeRequest& request) const {
  return judged_.tried(key_of(request));
}

void AheadWork::used(const ApplyJob& job) {
  ++statistics_.expansions_used;
  statistics_.used_seconds += job.seconds;
}

void AheadWork::used(const JudgeJob& job) {
  ++statistics_.evaluations_used;
  statistics_.used_seconds += job.seconds;
}

void AheadWork::make_room() {
  std::vector<std::pair<double, Job*>> running;  // and not asked for
  int leaving = 0;
  const auto look = [&](auto& table) {
    for (auto& [key, entry] : table.entries()) {
      if (entry.ready) continue;
      if (entry.job->cancellation.requested()) {
        ++leaving;
      } else if (!entry.asked) {
        running.emplace_back(entry.probability, entry.job.get());
      }
    }
  };
  look(applied_);
  look(judged_);
  std::ranges::sort(running);
  const int crowd = -pool_.idle() - leaving;
  for (int index = 0; index < crowd && index < static_cast<int>(running.size()); ++index)
    running[static_cast<std::size_t>(index)].second->cancellation.request();
}

void AheadWork::stop(bool confirmations_too) {
  for (auto& [key, entry] : applied_.entries()) {
    entry.job->cancellation.request();
    entry.asked = nullptr;
  }
  for (auto& [key, entry] : judged_.entries()) {
    const bool screening = entry.job->request.budget.effort == EvaluationBudget::Effort::screening;
    if (screening || confirmations_too) entry.job->cancellation.request();
    entry.asked = nullptr;
  }
}

WorkAhead AheadWork::statistics() const {
  WorkAhead statistics = statistics_;
  statistics.vain_seconds = pool_.ahead_seconds() - statistics.used_seconds;
  return statistics;
}

}  // namespace regraph
