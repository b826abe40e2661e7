// The policy of a session: a model that has learned which edges pay, beside the ReGraph.
#pragma once

#include "policy/policy_scorer.h"
#include "rewrite/ast_rewriter.h"
#include "search/config.h"
#include "session/installation.h"
#include "session/opened_problem.h"
#include "session/session_error.h"

#include <memory>
#include <string>

namespace regraph {

// The word for SessionOptions::policy that means none.
inline constexpr const char* kNoPolicy = "none";

// A policy's file, read.
struct PolicyBlob {
  std::string bytes;  // empty: there is none
  std::string name;   // of the file, for messages
};

// The file called `file`: empty means the shipped one, which need not be there; kNoPolicy none.
// Errors: usage.
[[nodiscard]] Result<PolicyBlob, SessionError> find_policy(const std::string& file,
                                                           const Installation& installation);

// Bytes as text of hexadecimal digits, and back; anything else gives nothing.
[[nodiscard]] std::string hexadecimal(const std::string& bytes);
[[nodiscard]] std::string from_hexadecimal(const std::string& text);

class SessionPolicy {
 public:
  // What the rewriter would make of a candidate is seen by it, too. `graph` and `opened` must
  // outlive it. Errors: usage (damaged, of another version, for another catalogue of steps).
  [[nodiscard]] static Result<std::unique_ptr<SessionPolicy>, SessionError> make(
      PolicyBlob blob, const StepGraph& graph, const OpenedProblem& opened);

  [[nodiscard]] const EdgeScorer& scorer() const { return scorer_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  SessionPolicy(std::string bytes, policy::PolicyReader reader, std::string label,
                const StepGraph& graph, const OpenedProblem& opened);

  const std::string bytes_;
  const rewrite::AstRewriter rewriter_;
  const policy::PolicyScorer scorer_;
};

}  // namespace regraph
