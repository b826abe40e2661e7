// What the original computes at a bench size in double precision, where in fp32 it is off by more
// than the tolerance: by long sums, say, that inputs cannot make exact (exact_sums.h), since they
// are divided by the number of terms.
#pragma once

#include "eval/gpu/timing/bench_reference.h"
#include "eval/verify/double_shadow.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace regraph::gpu {

// The expected outputs of a problem whose original left `original` and computes `exact` in double:
// of fp32 arguments `exact` rounded, but for elements that are not finite in both or that the
// original does not write; of others the original's own. Nothing where some argument's `original`
// is further than 1 % from `exact`, relative to its norm (the translation may be another program),
// or holds no number.
[[nodiscard]] std::optional<verify::Buffers> rounded_from_double(
    const Problem& problem, const verify::Buffers& original, const verify::Buffers& exact,
    const std::vector<std::vector<std::uint8_t>>& untouched);

// Nothing of it stays on the GPU.
class DoubleReference {
 public:
  struct Seeds {
    std::uint64_t inputs = 0;  // those of the memory that `reference` is of
    std::uint64_t poison = 0;
  };
  // Runs `shadow` on the first input set. Null where that says no more than the original: no room,
  // it cannot be launched, it computes something else (see rounded_from_double), or what the
  // original left is within the tolerance of it. `problem` must outlive it. Errors: of the process,
  // a launch that takes longer than `timeout_seconds`.
  [[nodiscard]] static Result<std::unique_ptr<DoubleReference>, Failure> create(
      GpuProcess& process, const Problem& problem, const verify::DoubleShadow& shadow,
      const BenchReference& reference, Seeds seeds, double timeout_seconds,
      const Cancellation& stop);

  // How the outputs of a launch on the first input set differ, in words, by the tolerance that the
  // original's own outputs have; empty when they do not.
  [[nodiscard]] std::string difference(const verify::Buffers& outputs,
                                       std::uint64_t poison_seed) const {
    return reference_.difference(outputs, 0, poison_seed).value_or("");
  }

 private:
  explicit DoubleReference(BenchReference reference) : reference_(std::move(reference)) {}

  BenchReference reference_;
};

}  // namespace regraph::gpu
