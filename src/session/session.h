// The library's front door: a kernel opened for a device, candidates judged, a search run.
//
//   const auto session = Session::open(options, Installation::at(prefix), never);
//   const Evaluation time = (*session)->evaluate((*session)->original(), {}, never);
//   const SearchConfig config = (*session)->configuration();
//   const auto expander = (*session)->expander({}, config);
//   const auto found = (*session)->search({config, **expander});
//   std::puts((*session)->text(*found, config).c_str());
//
// What a program prints is decided here and below: whoever uses the library gets the same verdict.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "eval/evaluator.h"
#include "eval/model/device.h"
#include "kernel/candidate.h"
#include "kernel/measurement.h"
#include "kernel/problem.h"
#include "search/config.h"
#include "search/observer.h"
#include "search/outcome.h"
#include "session/installation.h"
#include "session/kernel_comparison.h"
#include "session/language_model_options.h"
#include "session/session_error.h"
#include "session/session_options.h"

#include <memory>
#include <string>
#include <vector>

namespace regraph {

class StepGraph;
class SearchJournal;
class EdgeScorer;       // regraph/edge_scorer.h
class SessionExpander;  // session/expanders.h
struct OpenedProblem;   // session/opened_problem.h
struct RunDescription;  // search/run_description.h
struct RunReport;       // report/run_report.h
struct SearchEvidence;  // session/search_evidence.h

struct SearchRequest {
  const SearchConfig& config;
  const SessionExpander& expander;
  SearchObserver* observer = nullptr;          // null: nobody looks on
  SearchJournal* journal = nullptr;            // keeps every result; null: nothing is kept
  bool sanitize = true;                        // measured answers are checked by compute-sanitizer
  const Cancellation* cancellation = nullptr;  // null: it cannot be stopped
  // Instead of the session's own, to compare them; null: the session's. With a graph of its own a
  // search has the scorer given here, or none.
  const StepGraph* graph = nullptr;
  const EdgeScorer* scorer = nullptr;
  Evaluator* evaluator = nullptr;
};

struct SearchResult {
  SearchOutcome outcome;           // its verdict is final: measured answers were timed once more
  std::string verification;        // what verification covered, in words
  std::vector<std::string> notes;  // for people, about the last measurement
  std::shared_ptr<const SearchEvidence> evidence;  // how a GPU and a language model took part
};

// Not thread-safe, but evaluate() is.
class Session {
 public:
  // Reads, compiles, checks and prepares everything that a search needs. Errors: see FailureCause.
  [[nodiscard]] static Result<std::unique_ptr<Session>, SessionError> open(
      const SessionOptions& options, const Installation& installation,
      const Cancellation& cancellation);
  // The same from what a run was started with; no file is read, and messages name the files as they
  // were named then. Without a graph in the description there are no steps: for evaluations alone.
  [[nodiscard]] static Result<std::unique_ptr<Session>, SessionError> reopen(
      const RunDescription& description, const Installation& installation,
      const Cancellation& cancellation, const FleetAccess& fleet = {});
  ~Session();

  [[nodiscard]] const Problem& problem() const;
  [[nodiscard]] const Candidate& original() const;
  [[nodiscard]] const DeviceSpec& device() const;
  [[nodiscard]] const StepGraph& graph() const;
  // The policy's bytes; empty without one.
  [[nodiscard]] const std::string& policy() const;
  // What has learned which edges pay; null without a policy.
  [[nodiscard]] const EdgeScorer* scorer() const;
  // A kind of evaluator_kinds(), "auto" resolved.
  [[nodiscard]] const std::string& evaluator_name() const;
  // What opening found out: warnings, why the rewriter cannot work on the kernel, what is missing.
  [[nodiscard]] const OpenedProblem& opened() const;

  // A candidate from CUDA C++ text, launched as the original is. Steps of the rewriter apply to it
  // where its text can be read. Error: refused, its parameters are not the original's.
  [[nodiscard]] Result<Candidate> read_candidate(const std::string& source,
                                                 const Cancellation& cancellation) const;
  // The same with a launch of its own; `assumptions` are what it needs beyond the original.
  [[nodiscard]] Result<Candidate> read_candidate(const std::string& source, const LaunchPlan& plan,
                                                 std::vector<std::string> assumptions,
                                                 const Cancellation& cancellation) const;
  // Compiles, verifies and times one candidate of the problem. Thread-safe.
  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                                    const Cancellation& cancellation) const;
  // The threads that evaluations may use together; one each by default. Before any of them.
  void limit_threads(int threads);
  // The candidate beside the original: evaluated twice, the second time with fresh inputs, and
  // where times are measured timed interleaved with it, in fresh processes.
  [[nodiscard]] KernelComparison compare(const Candidate& candidate,
                                         const Cancellation& cancellation,
                                         ComparisonDepth depth = ComparisonDepth::whole);

  // Whether times are measured, here or by a fleet.
  [[nodiscard]] bool measures() const;
  // How GPUs were used up to now. For sessions that measure here, while no evaluation runs.
  [[nodiscard]] Measurement measurement() const;
  // The candidate as a search's answer that is measured: timed once more beside the original and,
  // with `sanitize` and where it is installed, launched under compute-sanitizer. Null: there is no
  // answer, and only how GPUs were used is said. For sessions that measure.
  [[nodiscard]] AnswerTrial try_answer(const Candidate* answer, bool sanitize,
                                       const Cancellation& cancellation);

  // The lane (fleet/lanes.h) of the workers that evaluate; empty where it is done here.
  [[nodiscard]] const std::string& fleet_lane() const;
  // What workers of a fleet did and what was done here, in words; empty without a fleet.
  [[nodiscard]] std::string fleet_summary() const;

  // A configuration of this session, with the defaults of every search.
  [[nodiscard]] SearchConfig configuration() const;
  // Who applies the steps of a search with `config`; the session must outlive it. With `ask` false
  // nobody is asked: for dry runs. Errors: usage, internal.
  [[nodiscard]] Result<std::shared_ptr<const SessionExpander>, SessionError> expander(
      const LanguageModelOptions& options, const SearchConfig& config, bool ask = true) const;
  // What could disturb timings on the GPUs of this session and was not said before, in words.
  [[nodiscard]] std::vector<std::string> look_for_disturbances();
  // Searches; a measured answer is timed once more before its claim stands. Errors as run_search
  // (search/driver.h).
  [[nodiscard]] Result<SearchResult> search(const SearchRequest& request);

  // The result as regraph-search prints it, and as JSON (docs/result.md).
  [[nodiscard]] std::string text(const SearchResult& result, const SearchConfig& config) const;
  [[nodiscard]] std::string json(const SearchResult& result, const SearchConfig& config) const;
  // Everything there is to tell; `directory` is where the run's files are. The session and the
  // arguments must outlive it.
  [[nodiscard]] RunReport report(const SearchResult& result, const SearchConfig& config,
                                 const std::string& directory) const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  void look_at_original(const Cancellation& cancellation);
  // Why a search's claim does not stand; nothing when it does. `evidence` and `notes` are what was
  // found, for people.
  std::optional<std::string> objection(const SearchOutcome& claimed, const SearchRequest& request,
                                       SearchEvidence& evidence, std::vector<std::string>& notes,
                                       const Cancellation& cancellation);

  std::unique_ptr<State> state_;
};

}  // namespace regraph
