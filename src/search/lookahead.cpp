#include "search/lookahead.h"

#include "regraph/combined_steps.h"
#include "search/course.h"
#include "search/final_selection.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace regraph {

namespace {

constexpr int kMostCourses = 256;         // copies gone on with in one look
constexpr int kMostCommits = 4096;        // in one of them, between two guesses
constexpr double kUnlikely = 0.003;       // not worth a worker
constexpr int kMostSteps = 16;            // to apply, beyond one a worker; they are soon done
constexpr double kConfirmedAtOnce = 0.9;  // the share of best states that pass once more
// The best state is confirmed ahead that many evaluations before the end: about as long as a
// confirmation takes on many processors.
constexpr int kLastEvaluations = 8;

class Foresight {
 public:
  Foresight(const SearchInputs& inputs, const SearchPosition& position, AheadWork& ahead,
            int workers)
      : inputs_(inputs), position_(position), ahead_(ahead), workers_(workers) {}

  std::vector<Wish> run() {
    foresee_confirmation();
    push(std::make_unique<Course>(position_));
    for (int courses = 0; courses < kMostCourses && !queue_.empty() && !enough(); ++courses) {
      std::ranges::pop_heap(queue_, {}, likelihood);
      const std::unique_ptr<Course> course = std::move(queue_.back());
      queue_.pop_back();
      follow(*course);
    }
    return std::move(wishes_);
  }

 private:
  // Near its end a search has most likely found its best state. A confirmation takes several times
  // as long as an evaluation, and nothing comes after it that other workers could do meanwhile.
  void foresee_confirmation() {
    if (position_.budget.by_clock()) return;
    const double left = inputs_.config.budget.evaluations - position_.budget.evaluations();
    if (left > kLastEvaluations) return;
    // As if all evaluations, done and to come, were equally likely to find the best.
    const double done = position_.budget.evaluations();
    wish_for_confirmation(position_.states.best_log_speedup(),
                          position_.states.at(position_.states.best()).candidate,
                          done / (done + std::max(left, 0.0)));
  }

  static double likelihood(const std::unique_ptr<Course>& course) { return course->probability; }

  void push(std::unique_ptr<Course> course) {
    if (course->probability < kUnlikely) return;
    queue_.push_back(std::move(course));
    std::ranges::push_heap(queue_, {}, likelihood);
  }

  [[nodiscard]] bool enough() const {
    return new_judgements_ >= workers_ || new_wishes_ - new_judgements_ >= kMostSteps + workers_;
  }

  // To the next result that is not known, or to the end of the search.
  void follow(Course& course) {
    for (int commits = 0; commits < kMostCommits; ++commits) {
      issue(course);
      const auto next = next_in_order(course.tickets, inputs_.config.expansions_first);
      if (next == course.tickets.end()) return wish_for_confirmations(course);
      const Ticket ticket = next->second.ticket;
      if (ticket.kind == TicketKind::measure) {
        std::optional<Measured> known = measured(course, ticket);
        if (!known) known = expected(course, ticket);
        if (!known) return branch(course, ticket);
        course.tickets.erase(next);
        commit(course, ticket, *known);
      } else {
        course.tickets.erase(next);
        commit(course, ticket);
      }
    }
  }

  void issue(Course& course) {
    while (course.budget.may_issue(static_cast<int>(course.tickets.size()))) {
      const auto ticket = course.searcher->next(course.budget.fraction());
      if (!ticket) return;
      course.budget.issued();
      course.tickets.emplace(ticket->number, Issued{*ticket});
      wish_for(course, *ticket);
    }
  }

  // What is known of states, real ones and imagined.
  [[nodiscard]] const Imagined* imagined(const Course& course, std::uint32_t state) const {
    const std::uint32_t known = position_.states.count();
    return state < known ? nullptr : course.imagined[state - known].get();
  }
  [[nodiscard]] const std::shared_ptr<const Candidate>& candidate(const Course& course,
                                                                  std::uint32_t state) const {
    const Imagined* one = imagined(course, state);
    return one != nullptr ? one->candidate : position_.states.at(state).candidate;
  }
  [[nodiscard]] std::vector<std::string> history(const Course& course, std::uint32_t state) const {
    const Imagined* one = imagined(course, state);
    return one != nullptr ? one->history : position_.states.history(state);
  }
  [[nodiscard]] const std::vector<StepProposal>& proposals(const Course& course,
                                                           std::uint32_t state) const {
    const auto judged = course.judged.find(state);
    return judged != course.judged.end() ? judged->second->proposals
                                         : position_.states.proposals(state);
  }
  [[nodiscard]] double log_speedup(const Course& course, std::uint32_t state) const {
    const auto judged = course.judged.find(state);
    return judged != course.judged.end() ? judged->second->log_speedup
                                         : position_.states.at(state).log_speedup;
  }
  [[nodiscard]] const Facts& facts(const Course& course, std::uint32_t state) const {
    const auto judged = course.judged.find(state);
    return judged != course.judged.end() ? judged->second->facts
                                         : position_.states.at(state).evaluation.facts;
  }

  // The request that an EXPAND ticket stands for; nothing when it cannot be made, or not ahead.
  [[nodiscard]] std::optional<ApplyRequest> request_for(const Course& course,
                                                        const Ticket& ticket) const {
    const StepProposal& step = proposals(course, ticket.parent)[ticket.proposal];
    const auto& parent = candidate(course, ticket.parent);
    if (parent == nullptr || ticket.variant != 0 || !inputs_.expander.repeatable(step))
      return std::nullopt;
    return ApplyRequest{parent, step, 0, {}};
  }

  // What applying a step gives.
  struct Child {
    bool known = false;
    std::shared_ptr<const Candidate> candidate;  // null: refused, when known
    bool declined = false;
  };
  [[nodiscard]] Child child(const Course& course, const Ticket& ticket) {
    if (const TicketTable::Entry* entry = position_.tickets.find(ticket.number)) {
      if (!entry->complete) return {};
      const auto& record = std::get<ExpansionRecord>(entry->result);
      return {true, record.child, record.refusal == name(ErrorCode::declined)};
    }
    const auto request = request_for(course, ticket);
    const ApplyJob* job = request ? ahead_.done(*request) : nullptr;
    return job != nullptr ? Child{true, job->child} : Child{};
  }

  void commit(Course& course, const Ticket& ticket) {
    const Child result = child(course, ticket);
    std::optional<Hash128> identity;
    if (result.candidate != nullptr) {
      identity = result.candidate->identity;
    } else if (!result.known) {
      identity = Hash128{++unknown_, ~std::uint64_t{0}};
    }
    const StepProposal step = proposals(course, ticket.parent)[ticket.proposal];
    const Commit committed = course.searcher->commit_expansion(ticket.number, identity);
    learn(course, committed);
    if (!committed.measure) {
      if (result.declined) {
        course.budget.declined();
      } else if (!inputs_.expander.repeatable(step)) {
        course.budget.fruitless();
      }
      return;
    }
    auto state = std::make_shared<Imagined>();
    state->parent = ticket.parent;
    state->history = history(course, ticket.parent);
    for (std::string& one : steps_of(step))
      state->history.push_back(std::move(one));
    state->step = step;
    state->candidate = result.candidate;
    assert(committed.measure->node == position_.states.count() + course.imagined.size());
    course.imagined.push_back(std::move(state));
    course.tickets.emplace(committed.measure->number, Issued{*committed.measure});
    wish_for(course, *committed.measure);
  }

  [[nodiscard]] JudgeRequest judge_request(const Course& course, std::uint32_t state) const {
    JudgeRequest request{candidate(course, state), screening_budget(inputs_.config), std::nullopt};
    if (!ahead_.proposes()) return request;
    request.context.emplace();
    request.context->history = history(course, state);
    request.context->original_seconds = position_.states.original_seconds();
    return request;
  }

  struct Measured {
    std::shared_ptr<Judgement> judgement;
    Hash128 executable;
  };
  // What is known of the result of a MEASURE ticket.
  [[nodiscard]] std::optional<Measured> measured(const Course& course, const Ticket& ticket) {
    const auto& candidate = this->candidate(course, ticket.node);
    const Evaluation* evaluation = nullptr;
    const std::vector<StepProposal>* next = nullptr;
    if (const TicketTable::Entry* entry = position_.tickets.find(ticket.number)) {
      if (!entry->complete) return std::nullopt;
      const auto& record = std::get<MeasurementRecord>(entry->result);
      evaluation = &record.evaluation;
      next = &record.proposals;
    } else {
      if (candidate == nullptr) return std::nullopt;
      const JudgeJob* job = ahead_.done(judge_request(course, ticket.node));
      if (job == nullptr) return std::nullopt;
      evaluation = &job->evaluation;
      if (job->request.context) next = &job->proposals;
    }
    return told(course, ticket, *evaluation, next);
  }

  // What it will be where the candidate is prepared, taking the model to be off as much as it was
  // on the way there.
  [[nodiscard]] std::optional<Measured> expected(const Course& course, const Ticket& ticket) {
    if (candidate(course, ticket.node) == nullptr) return std::nullopt;
    const JudgeJob* job = ahead_.prepared(judge_request(course, ticket.node));
    if (job == nullptr) return std::nullopt;
    std::uint32_t known = ticket.parent;
    while (const Imagined* one = imagined(course, known))
      known = one->parent;
    const double scale = position_.states.measured_over_predicted(known);
    Evaluation evaluation = job->evaluation;
    if (scale > 0.0) evaluation.time.median_seconds *= scale;
    Measured result = told(course, ticket, evaluation, &job->proposals);
    result.judgement->guessed = true;
    return result;
  }

  // The result of a MEASURE ticket with that evaluation. `next`: what can be done from there, null
  // when that is not known.
  [[nodiscard]] Measured told(const Course& course, const Ticket& ticket,
                              const Evaluation& evaluation,
                              const std::vector<StepProposal>* next) const {
    auto judgement = std::make_shared<Judgement>();
    judgement->correct = evaluation.correct();
    judgement->facts = evaluation.facts;
    if (judgement->correct) {
      judgement->log_speedup =
          std::log(position_.states.original_seconds() / evaluation.time.median_seconds);
      judgement->proposals = next != nullptr ? *next : likely_proposals(course, ticket);
    }
    return {std::move(judgement), executable_of(*candidate(course, ticket.node), evaluation)};
  }

  // What could be done at the parent can mostly be done after one of its steps as well.
  [[nodiscard]] std::vector<StepProposal> likely_proposals(const Course& course,
                                                           const Ticket& ticket) const {
    std::vector<StepProposal> result = proposals(course, ticket.parent);
    result.erase(result.begin() + ticket.proposal);
    return result;
  }

  void commit(Course& course, const Ticket& ticket, const Measured& measured) {
    const Judgement& judgement = *measured.judgement;
    course.budget.evaluated();
    MeasurementResult result;
    result.correct = judgement.correct;
    if (result.correct) {
      result.score = judgement.log_speedup;
      result.executable = measured.executable;
      result.proposals =
          position_.states.seeds(history(course, ticket.node), judgement.facts, judgement.proposals,
                                 course.experience, course.numbers);
    }
    course.judged[ticket.node] = measured.judgement;
    learn(course, course.searcher->commit_measurement(ticket.number, result));
  }

  // What the search will have learned of the steps that came to their end, as in SearchRun::note.
  void learn(Course& course, const Commit& committed) {
    for (const Resolution& resolution : committed.resolved) {
      const Ticket& ticket = resolution.expansion;
      std::optional<double> gain;
      if (resolution.edge != EdgeState::failed)
        gain = log_speedup(course, resolution.child) - log_speedup(course, ticket.parent);
      position_.states.observe(history(course, ticket.parent), facts(course, ticket.parent),
                               proposals(course, ticket.parent)[ticket.proposal], gain,
                               course.experience);
    }
  }

  void branch(const Course& course, const Ticket& ticket) {
    for (const OutcomeRates::Guess& guess : position_.rates.guesses()) {
      if (course.probability * guess.probability < kUnlikely) continue;
      auto next = std::make_unique<Course>(course);
      next->probability *= guess.probability;
      auto judgement = std::make_shared<Judgement>();
      judgement->guessed = true;
      judgement->correct = guess.correct;
      if (guess.correct) {
        judgement->log_speedup = log_speedup(course, ticket.parent) + guess.log_gain;
        judgement->facts = facts(course, ticket.parent);
        judgement->proposals = likely_proposals(course, ticket);
      }
      next->tickets.erase(ticket.number);
      commit(*next, ticket, {std::move(judgement), {}});
      push(std::move(next));
    }
  }

  void wish_for(const Course& course, const Ticket& ticket) {
    if (ticket.kind == TicketKind::expand) {
      const auto request = request_for(course, ticket);
      if (!request || ahead_.done(*request) != nullptr) return;
      ApplyRequest asked = *request;
      asked.context.history = history(course, ticket.parent);
      asked.context.original_seconds = position_.states.original_seconds();
      const bool fresh = !ahead_.tried(asked);
      wish({std::move(asked), course.probability}, fresh, false);
      return;
    }
    if (candidate(course, ticket.node) == nullptr) return;
    JudgeRequest request = judge_request(course, ticket.node);
    if (ahead_.ready(request) != nullptr) return;
    const bool fresh = !ahead_.tried(request);
    wish({std::move(request), course.probability}, fresh, true);
  }

  // The best states are evaluated once more when the search is over.
  void wish_for_confirmations(const Course& course) {
    std::uint32_t best = position_.states.best();
    double best_log_speedup = position_.states.best_log_speedup();
    for (const auto& [state, judgement] : course.judged) {
      if (judgement->guessed || !judgement->correct) continue;
      if (judgement->log_speedup <= best_log_speedup) continue;
      best = state;
      best_log_speedup = judgement->log_speedup;
    }
    wish_for_confirmation(best_log_speedup, candidate(course, best), course.probability);
  }

  // Of a state that is the answer with that probability.
  void wish_for_confirmation(double log_speedup, const std::shared_ptr<const Candidate>& candidate,
                             double probability) {
    if (inputs_.config.finalists < 1 || log_speedup <= 0.0 || candidate == nullptr) return;
    JudgeRequest request{candidate, second_look(inputs_.config), std::nullopt};
    if (ahead_.ready(request) != nullptr) return;
    const bool fresh = !ahead_.tried(request);
    wish({std::move(request), probability * kConfirmedAtOnce}, fresh, true);
  }

  void wish(Wish wish, bool fresh, bool judgement) {
    const auto same = std::ranges::find_if(wishes_, [&](const Wish& other) {
      return other.work.index() == wish.work.index() && equal(other, wish);
    });
    if (same != wishes_.end()) {
      same->probability += wish.probability;
      return;
    }
    wishes_.push_back(std::move(wish));
    if (!fresh) return;
    ++new_wishes_;
    new_judgements_ += judgement ? 1 : 0;
  }
  [[nodiscard]] static bool equal(const Wish& one, const Wish& other) {
    if (const auto* apply = std::get_if<ApplyRequest>(&one.work)) {
      const auto& also = std::get<ApplyRequest>(other.work);
      return apply->parent == also.parent && apply->proposal == also.proposal;
    }
    const auto& judge = std::get<JudgeRequest>(one.work);
    const auto& also = std::get<JudgeRequest>(other.work);
    return judge.candidate == also.candidate && judge.budget.effort == also.budget.effort;
  }

  const SearchInputs& inputs_;
  const SearchPosition& position_;
  AheadWork& ahead_;
  int workers_;
  std::vector<std::unique_ptr<Course>> queue_;  // a heap
  std::vector<Wish> wishes_;
  int new_wishes_ = 0;
  int new_judgements_ = 0;
  std::uint64_t unknown_ = 0;
};

}  // namespace

std::vector<Wish> foresee(const SearchInputs& inputs, const SearchPosition& position,
                          AheadWork& ahead, int workers) {
  return Foresight(inputs, position, ahead, workers).run();
}

}  // namespace regraph
