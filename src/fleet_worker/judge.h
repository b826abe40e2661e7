// Judges candidates of whatever problem it is asked about, in a process that may be lost.
#pragma once

#include "base/cancellation.h"
#include "fleet/evaluation_job.h"
#include "session/installation.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace regraph::fleet {

// Not thread-safe.
class Judge {
 public:
  // Problems kept open; the one that was used longest ago goes first. Several searches take turns
  // on a GPU, and opening a problem that is measured takes seconds: it is compiled, and the
  // original is timed.
  static constexpr std::size_t kOpenProblems = 12;
  // Of the buffers of those that are measured together, half of it while another one is opened.
  // Each has some copies of its own, and a GPU has several judges; a single problem may have more.
  // A fourth of it had room for two problems of a quarter of a GiB only, too little for four
  // searches. Where a GPU has no room for so much, all others are closed first.
  static constexpr std::uint64_t kMeasuredBytes = std::uint64_t{4} << 30;

  // `threads`: that one evaluation may use. `files`: the only folder that problems may have data
  // from; empty: none.
  Judge(Installation installation, int threads, std::filesystem::path files);
  ~Judge();

  // Reads a request (judge_request.h) and gives the answer's text, without the worker's name. Never
  // fails for a bad candidate; trouble where the request or the problem cannot be read or opened.
  [[nodiscard]] EvaluationAnswer judge(std::string_view request, const Cancellation& cancellation);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace regraph::fleet
