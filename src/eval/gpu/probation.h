// First launches of candidates on the GPU, in a process of their own: every test case between guard
// pages, compared with what the interpreter made of the original.
#pragma once

#include "eval/gpu/gpu_process.h"
#include "eval/gpu/timing_session.h"
#include "eval/verify/verifier.h"

#include <memory>

namespace regraph::gpu {

class Probation {
 public:
  // All must outlive the probation. Nothing is started yet.
  Probation(GpuWorkerConfiguration worker, const Problem& problem, Verifier& verifier,
            std::shared_ptr<const TimedKernel> original)
      : worker_(std::move(worker)),
        problem_(problem),
        verifier_(verifier),
        original_(std::move(original)) {}

  // The verdict on `candidate` with inputs drawn from `seed`. A new process first shows that the
  // original computes there what it computes on the interpreter. A failure is the machine's, and
  // says nothing about the candidate.
  [[nodiscard]] Answer<VerificationResult> judge(const TimedKernel& candidate, std::uint64_t seed,
                                                 const Cancellation& stop);

  [[nodiscard]] int processes() const { return processes_; }

 private:
  [[nodiscard]] Answer<Done> ensure(std::uint64_t seed, const Cancellation& stop);
  [[nodiscard]] Answer<VerificationResult> run(const TimedKernel& kernel, std::uint64_t seed,
                                               const Cancellation& stop);

  GpuWorkerConfiguration worker_;
  const Problem& problem_;
  Verifier& verifier_;
  std::shared_ptr<const TimedKernel> original_;
  std::unique_ptr<GpuProcess> process_;
  int processes_ = 0;
};

}  // namespace regraph::gpu
