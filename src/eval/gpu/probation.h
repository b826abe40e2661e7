// First launches of candidates on the GPU, in a process of their own: every test case between guard
// pages, compared with what the interpreter made of the original.
#pragma once

#include "eval/gpu/protocol/gpu_process.h"
#include "eval/gpu/protocol/gpu_run.h"
#include "eval/gpu/timing/timing_session.h"
#include "eval/verify/repeated_runs.h"
#include "eval/verify/verifier.h"

#include <memory>
#include <optional>
#include <string>

namespace regraph::gpu {

class Probation {
 public:
  // All must outlive the probation. Nothing is started yet.
  Probation(GpuWorkerConfiguration worker, const Problem& problem, Verifier& verifier,
            std::shared_ptr<const PreparedCandidate> original)
      : worker_(std::move(worker)),
        problem_(problem),
        verifier_(verifier),
        original_(std::move(original)) {}

  // The verdict on `candidate` with inputs drawn from `seed`. One case of the largest test size
  // runs several times; results that differ are nondeterministic, unless the original's do too or
  // atomic additions of floats explain it (the original's own spread says how much they may). A new
  // process first shows that the original computes there what it computes on the interpreter. A
  // failure is the machine's, and says nothing about the candidate.
  [[nodiscard]] Result<VerificationResult, Failure> judge(const PreparedCandidate& candidate,
                                                          std::uint64_t seed,
                                                          const Cancellation& stop);

  [[nodiscard]] int processes() const { return processes_; }

 private:
  [[nodiscard]] Result<void, Failure> ensure(std::uint64_t seed, const Cancellation& stop);
  [[nodiscard]] Result<VerificationResult, Failure> run(const PreparedCandidate& kernel,
                                                        std::uint64_t seed,
                                                        const Cancellation& stop);

  // How the results of repeated launches of one case differ at most; nothing when they do not, or
  // when a launch fails (the next one will, too).
  [[nodiscard]] verify::RunsDifference repeat(const GpuRunner& runner,
                                              const PreparedCandidate& kernel,
                                              const Verifier::Scale& scale,
                                              const verify::Buffers& inputs,
                                              const verify::RunSettings& settings,
                                              const verify::KernelRun& first) const;

  GpuWorkerConfiguration worker_;
  const Problem& problem_;
  Verifier& verifier_;
  std::shared_ptr<const PreparedCandidate> original_;
  std::unique_ptr<GpuProcess> process_;
  int processes_ = 0;
  bool original_varies_ = false;  // from launch to launch, on the same inputs
  double original_spread_ = 0.0;  // by how much, where atomic additions explain it
};

}  // namespace regraph::gpu
