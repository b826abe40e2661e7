// The library's front door: a kernel opened for a device, candidates judged, a search run.
//
//   auto session = Session::open(options, Installation::at(prefix), never);     // or SessionError
//   Evaluation time = (*session)->evaluate((*session)->original(), {}, never);
//   auto expander = (*session)->expander({}, config);
//   auto found = (*session)->search({config, **expander});
//   std::puts(result_text((*session)->report(*found, config)).c_str());
//
// What a program prints is decided here and below: whoever uses the library gets the same verdict.
#pragma once

#include "base/cancellation.h"
#include "eval/evaluator.h"
#include "kernel/candidate.h"
#include "kernel/problem.h"
#include "regraph/regraph.h"
#include "report/run_report.h"
#include "search/config.h"
#include "search/journal.h"
#include "search/observer.h"
#include "search/outcome.h"
#include "session/evaluators.h"
#include "session/expanders.h"
#include "session/installation.h"
#include "session/opened_problem.h"
#include "session/session_error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

struct SessionOptions {
  ProblemOptions problem;
  std::string device;              // a name, an architecture, a .yaml file; empty: the GPU here
  std::string evaluator = "auto";  // a name of evaluator_kinds()
  std::string graph;               // file of the ReGraph; empty: the shipped one
  OpenOptions open;
};

struct SearchRequest {
  const SearchConfig& config;
  const SessionExpander& expander;
  SearchObserver* observer = nullptr;
  SearchJournal* journal = nullptr;  // keeps every result; null: nothing is kept
  bool sanitize = true;              // measured answers are checked by compute-sanitizer
  const Cancellation* cancellation = nullptr;
};

struct SearchResult {
  SearchOutcome outcome;     // its verdict is final: measured answers were timed once more
  std::string verification;  // what verification covered, in words
  std::optional<Measurement> measurement;  // none: times are predicted
  std::optional<ModelUse> model_use;       // none: no language model was asked
  std::vector<std::string> notes;          // for people, about the last measurement
};

// Not thread-safe, but evaluate() is.
class Session {
 public:
  // Reads, compiles, checks and prepares everything that a search needs. Errors: see FailureCause.
  [[nodiscard]] static Result<std::unique_ptr<Session>, SessionError> open(
      const SessionOptions& options, const Installation& installation,
      const Cancellation& cancellation);
  // The same from what a run was started with; no file is read, and messages name the files as they
  // were named then.
  [[nodiscard]] static Result<std::unique_ptr<Session>, SessionError> reopen(
      const RunDescription& description, const Installation& installation,
      const Cancellation& cancellation);
  ~Session();

  [[nodiscard]] const OpenedProblem& opened() const { return *opened_; }
  [[nodiscard]] const Problem& problem() const { return opened_->problem; }
  [[nodiscard]] const Candidate& original() const { return opened_->original; }
  [[nodiscard]] const DeviceSpec& device() const { return opened_->device.device; }
  [[nodiscard]] const ReGraph& graph() const { return graph_; }
  // A kind of evaluator_kinds(), "auto" resolved.
  [[nodiscard]] const std::string& evaluator_name() const { return evaluator_.name; }

  // A candidate from CUDA C++ text, launched as the original is. Steps of the rewriter apply to it
  // where its text can be read. Errors: as llm::CandidateReader.
  [[nodiscard]] Result<Candidate> read_candidate(const std::string& source,
                                                 const Cancellation& cancellation);
  // Compiles, verifies and times one candidate of the problem.
  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                                    const Cancellation& cancellation);

  // A configuration of this session, with the defaults of every search.
  [[nodiscard]] SearchConfig configuration() const;
  // Who applies the steps of a search with `config`. Errors as make_expander. The session must
  // outlive it. With `ask` false nobody is asked: for dry runs.
  [[nodiscard]] Result<std::unique_ptr<SessionExpander>, SessionError> expander(
      const LanguageModelOptions& options, const SearchConfig& config, bool ask = true);
  // What could disturb timings on the GPUs of this session and was not said before, in words.
  [[nodiscard]] std::vector<std::string> look_for_disturbances();
  // Searches; a measured answer is timed once more before its claim stands. Errors as run_search.
  [[nodiscard]] Result<SearchResult> search(const SearchRequest& request);

  // Everything there is to tell. `result` and `config` must outlive it, and so must the session.
  [[nodiscard]] RunReport report(const SearchResult& result, const SearchConfig& config,
                                 const std::string& directory = "") const;

 private:
  Session(const Installation& installation, Toolchain toolchain, ReGraph graph);
  [[nodiscard]] static Result<std::unique_ptr<Session>, SessionError> make(
      const Installation& installation, Result<ReGraph> graph);
  [[nodiscard]] Result<void, SessionError> prepare(ProblemSource source, ChosenDevice device,
                                                   const std::string& evaluator_name,
                                                   const OpenOptions& options,
                                                   const Cancellation& cancellation);
  [[nodiscard]] std::string verification_text(const SearchOutcome& outcome) const;

  const Installation installation_;
  Toolchain toolchain_;
  ReGraph graph_;
  OpenOptions options_;
  std::unique_ptr<OpenedProblem> opened_;
  SessionEvaluator evaluator_;
  std::unique_ptr<gpu::DisturbanceLog> disturbances_;
};

}  // namespace regraph
