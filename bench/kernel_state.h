// A kernel of the sources, parsed, and where some steps lead from it, for benchmarks of what looks
// at one state.
#pragma once

#include "base/files.h"
#include "eval/model/device.h"
#include "kernel/manifest.h"
#include "kernel/problem.h"
#include "rewrite/ast_rewriter.h"
#include "source/clang_frontend.h"
#include "source/printer.h"

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace regraph::bench {

// Of `result`, or an exception with its message.
template <typename T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

// A problem with its rewriter and the candidate that some steps lead to.
struct KernelState {
  Problem problem;
  std::unique_ptr<rewrite::AstRewriter> rewriter;
  Candidate candidate;
  std::vector<StepProposal> proposals;
};

// Of BASE.cu and BASE.regraph.yaml, BASE beginning at the top of the sources. Throws.
inline std::unique_ptr<KernelState> make_state(const std::string& base,
                                               const std::vector<StepProposal>& steps) {
  const std::filesystem::path root =
      std::filesystem::path(REGRAPH_CUDA_INCLUDE_DIRECTORY).parent_path();
  const std::string file = std::string(REGRAPH_SOURCE_DIR) + "/" + base;
  const std::string source = value_of(read_file(file + ".cu", 1 << 20));
  const Manifest manifest = value_of(read_manifest(file + ".regraph.yaml"));
  auto parsed = value_of(source::parse_kernel(source, file + ".cu", manifest.kernel.value_or(""),
                                              value_of(source::default_front_end(root, "sm_90"))));
  auto state = std::make_unique<KernelState>();
  state->problem = value_of(make_problem(manifest, parsed.signature, file + ".cu", source));
  state->rewriter = std::make_unique<rewrite::AstRewriter>(
      state->problem, limits_of(value_of(find_device("h200"))));
  state->candidate = source::make_candidate(std::move(*parsed.unit), state->problem.launch);
  for (const StepProposal& step : steps) {
    state->candidate =
        value_of(state->rewriter->apply(state->candidate, step, 0, {}, Cancellation()));
  }
  state->proposals = state->rewriter->propose(state->candidate, {}, Cancellation());
  return state;
}

}  // namespace regraph::bench
