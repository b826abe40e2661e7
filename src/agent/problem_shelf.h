// Problems by id. What defines one lies in the workspace, so that an id is good in every session
// of the server and after a worker was lost; the last few are kept open.
#pragma once

#include "agent/workspace.h"
#include "base/cancellation.h"
#include "base/hash.h"
#include "base/result.h"
#include "dataset/pair_maker.h"
#include "eval/compile/compiler.h"
#include "session/expanders.h"
#include "session/installation.h"
#include "session/session.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace regraph::agent {

// Everything that decides what a problem is.
struct ProblemDefinition {
  std::string source;    // CUDA C++, own headers put in
  std::string manifest;  // YAML; empty: front matter in the source, or all is inferred
  std::string kernel;    // as of ProblemOptions
  std::vector<std::string> sizes;
  std::vector<std::string> defines;
  std::string block;
  int launch_line = 0;
  std::string device;
  std::string evaluator;
  bool operator==(const ProblemDefinition&) const = default;
};

// 16 hexadecimal digits; equal definitions have equal ids.
[[nodiscard]] std::string problem_id(const ProblemDefinition& definition);

// Errors (invalid_argument): data from files, which a client has no right to name; a device that is
// no name.
[[nodiscard]] Status check_definition(const ProblemDefinition& definition);

// A problem that is open, and what is known of its candidates. Not thread-safe.
class AgentProblem {
 public:
  AgentProblem(std::string id, std::unique_ptr<Session> session,
               std::shared_ptr<const SessionExpander> expander, std::unique_ptr<Compiler> compiler,
               double candidate_seconds);

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] Session& session() { return *session_; }
  [[nodiscard]] const SessionExpander& expander() const { return *expander_; }
  [[nodiscard]] Compiler& compiler() { return *compiler_; }
  [[nodiscard]] dataset::PairMaker& pairs() { return pairs_; }
  [[nodiscard]] const score::RegisteredProblem& registered() const { return registered_; }

  // A candidate from its text; `launch` as of read_candidate_text (session/candidate_file.h), which
  // has the errors, too. Remembered.
  [[nodiscard]] Result<Candidate, SessionError> read(const std::string& source,
                                                     const std::string& launch,
                                                     const Cancellation& cancellation);
  // As a search first looks at it; remembered.
  [[nodiscard]] Evaluation judge(const Candidate& candidate, const Cancellation& cancellation);

 private:
  const std::string id_;
  const std::unique_ptr<Session> session_;
  const std::shared_ptr<const SessionExpander> expander_;
  const std::unique_ptr<Compiler> compiler_;
  const score::RegisteredProblem registered_;
  dataset::PairMaker pairs_;
  const double candidate_seconds_;
  std::unordered_map<Hash128, Candidate> read_;
  std::unordered_map<Hash128, Evaluation> judged_;
};

// A fleet that evaluates candidates in the place of this process.
struct AgentFleet {
  std::function<FleetAccess()> access;  // asked for each problem that is opened; empty: no fleet
  std::function<int(const std::string& lane)> places;  // that its workers have at present
};

// A problem that is open, or what its manifest lacks.
struct OpenedDefinition {
  AgentProblem* problem = nullptr;   // valid until other problems are opened; null: not complete
  std::vector<std::string> missing;  // where it is not
  std::string manifest;              // to be completed
};

// Not thread-safe.
class ProblemShelf {
 public:
  // `workspace` must outlive it. At most `most_open` problems are kept open.
  ProblemShelf(const Workspace& workspace, Installation installation, AgentFleet fleet,
               double candidate_seconds, std::size_t most_open = 4);

  // Keeps the definition, and opens it where it is complete. Errors: as Session::open, usage for
  // what check_definition refuses.
  [[nodiscard]] Result<OpenedDefinition, SessionError> open(const ProblemDefinition& definition,
                                                            const Cancellation& cancellation);
  // The problem of an id that open() gave. Errors: usage (no such problem), as Session::open.
  [[nodiscard]] Result<AgentProblem*, SessionError> find(std::string_view id,
                                                         const Cancellation& cancellation);

 private:
  [[nodiscard]] Result<ProblemDefinition> read_definition(std::string_view id) const;
  [[nodiscard]] Status write_definition(const std::string& id,
                                        const ProblemDefinition& definition) const;
  [[nodiscard]] SessionOptions options_of(const std::string& id,
                                          const ProblemDefinition& definition) const;
  [[nodiscard]] AgentProblem* find_open(std::string_view id);
  [[nodiscard]] Result<AgentProblem*, SessionError> open_session(
      const std::string& id, const ProblemDefinition& definition, const Cancellation& cancellation);

  const Workspace& workspace_;
  const Installation installation_;
  const AgentFleet fleet_;
  const double candidate_seconds_;
  const std::size_t most_open_;
  std::list<std::unique_ptr<AgentProblem>> open_;  // the one that was used last in front
};

}  // namespace regraph::agent
