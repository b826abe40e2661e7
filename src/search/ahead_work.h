// Work that is done before the search asks for it, on workers that would idle.
//
// What is asked for later is found done, or joined while it is under way; the rest is in vain. A
// result is taken over only when it cannot depend on when and under what load it came about: what
// threw, was refused for want of time, timed out, crashed or was told to stop is done again when it
// is asked for, as if nothing had been done ahead. So work ahead never changes an answer.
//
// Where a GPU measures, only what comes before that is done ahead (Evaluator::prepare): the
// candidate is still evaluated when it is asked for, and that is quicker then.
#pragma once

#include "search/outcome.h"
#include "search/search_jobs.h"
#include "search/worker_pool.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace regraph {

// Something the search is likely to ask for.
struct Wish {
  std::variant<ApplyRequest, JudgeRequest> work;
  double probability = 0.0;
};

// Jobs of one kind that were started ahead and that nobody has asked for yet, by what they do.
template <typename Key, typename AnyJob>
class AheadTable {
 public:
  using Asked = std::function<void(const AnyJob*)>;  // null: not of use
  struct Entry {
    std::shared_ptr<AnyJob> job;
    bool ready = false;  // it has ended and is of use
    double probability = 0.0;
    Asked asked;  // by whom, while it runs
  };

  [[nodiscard]] Entry* find(const Key& key) {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : &found->second;
  }
  // Whether there is an entry, or was one that came to nothing.
  [[nodiscard]] bool tried(const Key& key) const {
    return entries_.contains(key) || useless_.contains(key);
  }
  void add(const Key& key, std::shared_ptr<AnyJob> job, double probability) {
    entries_[key] = {std::move(job), false, probability, nullptr};
  }
  // The entry has come to nothing and is not to be tried again.
  Entry give_up(const Key& key) {
    useless_.insert(key);
    return take(key);
  }
  Entry take(const Key& key) { return std::move(entries_.extract(key).mapped()); }
  // Nobody has asked for it yet. Keeps the latest `most` of these.
  void keep(const Key& key, std::size_t most) {
    entries_.at(key).ready = true;
    kept_.push_back(key);
    for (; kept_.size() > most; kept_.pop_front()) {
      const Entry* oldest = find(kept_.front());
      if (oldest != nullptr && oldest->ready) entries_.erase(kept_.front());
    }
  }
  [[nodiscard]] std::map<Key, Entry>& entries() { return entries_; }

 private:
  std::map<Key, Entry> entries_;
  std::deque<Key> kept_;
  std::set<Key> useless_;
};

// For the owner thread only.
class AheadWork {
 public:
  using Applied = std::function<void(const ApplyJob*)>;
  using Judged = std::function<void(const JudgeJob*)>;

  // Both must outlive this.
  AheadWork(const SearchInputs& inputs, WorkerPool& pool);

  // Whether there will ever be any.
  [[nodiscard]] bool possible() const { return possible_; }
  // Whether candidates judged ahead come with what can be done next.
  [[nodiscard]] bool proposes() const { return proposes_; }

  // Workers that idle and may be given something to do ahead; the others are left for the threads
  // that an evaluation can use.
  [[nodiscard]] int room() const { return pool_.idle() - left_idle_; }
  // Starts what is wished for, the likeliest first, while there is room.
  void start(std::vector<Wish> wishes);
  // Asks the least likely jobs to stop until no more jobs run than there are processors.
  void make_room();
  // Asks running jobs to stop: all, or those that only the search proper could ask for. Nobody who
  // asked for one is called any more.
  void stop(bool confirmations_too);

  // The job in question when it is done, else null.
  [[nodiscard]] const ApplyJob* done(const ApplyRequest& request);
  [[nodiscard]] const JudgeJob* done(const JudgeRequest& request);
  // The job that prepared a candidate, where nothing more is done ahead; else null.
  [[nodiscard]] const JudgeJob* prepared(const JudgeRequest& request);
  // One or the other.
  [[nodiscard]] const JudgeJob* ready(const JudgeRequest& request);
  // Candidates are not judged ahead but prepared.
  [[nodiscard]] bool prepares_only() const { return prepares_only_; }
  // Whether it was started, with whatever result.
  [[nodiscard]] bool tried(const ApplyRequest& request) const;
  [[nodiscard]] bool tried(const JudgeRequest& request) const;

  // The search asks for something. Returns false when it was not done ahead; otherwise `asked` is
  // called, at once or when the job ends: with the job, or with null when its result is not of use.
  // A candidate may have been judged as another one of the same text: what can be done next is then
  // not this one's.
  [[nodiscard]] bool take(const ApplyRequest& request, Applied asked);
  [[nodiscard]] bool take(const JudgeRequest& request, Judged asked);

  // What was made of it so far; all of it once no job runs any more.
  [[nodiscard]] WorkAhead statistics() const;

 private:
  using ApplyKey = std::pair<const Candidate*, std::string>;  // the parent, the step
  using JudgeKey = std::pair<std::uint64_t, std::uint64_t>;   // a hash of text, plan and budget

  [[nodiscard]] static ApplyKey key_of(const ApplyRequest& request);
  [[nodiscard]] static JudgeKey key_of(const JudgeRequest& request);
  template <typename Table, typename Key, typename AnyJob>
  bool start_one(Table& table, const Key& key, std::shared_ptr<AnyJob> job, double probability);
  template <typename Table, typename Key>
  void ended(Table& table, const Key& key, const Job* job, Ending ending);
  template <typename Table, typename Key, typename Asked>
  bool take_from(Table& table, const Key& key, Asked asked);
  void used(const ApplyJob& job);
  void used(const JudgeJob& job);

  const SearchInputs& inputs_;
  WorkerPool& pool_;
  bool possible_;
  bool prepares_only_;
  bool proposes_;
  std::size_t most_kept_;
  int left_idle_;
  AheadTable<ApplyKey, ApplyJob> applied_;
  AheadTable<JudgeKey, JudgeJob> judged_;
  WorkAhead statistics_;
};

}  // namespace regraph
