// A kernel opened to be searched or changed many times: what was found out of a candidate once is
// known from then on, also to later processes.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "learn/evaluation_memory.h"
#include "search/config.h"
#include "session/expanders.h"
#include "session/installation.h"
#include "session/session.h"

#include <filesystem>
#include <memory>
#include <string>

namespace regraph::learn {

struct StudyPlace {
  std::filesystem::path kernel;
  std::string device;
  std::string evaluator;
  std::filesystem::path folder;  // where evaluations are kept
  bool any_build = false;        // those kept by other builds of the program count, too
  FleetAccess fleet = {};        // who evaluates, where it is not this process
};

class StudiedKernel {
 public:
  // Without a policy and with the built-in rewriter. Errors: as Session::open.
  [[nodiscard]] static Result<std::unique_ptr<StudiedKernel>, SessionError> open(
      const StudyPlace& place, const Installation& installation, const Cancellation& cancellation);

  [[nodiscard]] Session& session() { return *session_; }
  [[nodiscard]] const Session& session() const { return *session_; }
  [[nodiscard]] const SessionExpander& expander() const { return *expander_; }
  // Remembers, where the same candidate is always judged the same.
  [[nodiscard]] Evaluator& evaluator();
  [[nodiscard]] const SearchConfig& config() const { return config_; }
  // Of the original and what has to be computed.
  [[nodiscard]] const std::string& hash() const { return hash_; }
  // How many candidates were not known before.
  [[nodiscard]] int evaluated() const { return memory_ ? memory_->evaluated() : 0; }

 private:
  StudiedKernel() = default;

  std::unique_ptr<Session> session_;
  std::shared_ptr<const SessionExpander> expander_;
  std::unique_ptr<EvaluationMemory> memory_;  // null: nothing is remembered
  SearchConfig config_;
  std::string hash_;
};

}  // namespace regraph::learn
