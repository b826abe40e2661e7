// One small launch of a kernel on the interpreter, to see what it touches of its buffers.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "eval/compile/compiler.h"
#include "eval/verify/inputs.h"
#include "kernel/manifest.h"
#include "kernel/problem.h"
#include "ptx/address_log.h"
#include "ptx/interpreter.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph {

// What a buffer holds before the launch: `first` everywhere, or numbers that ascend by `step`.
struct TrialContent {
  double first = 0.0;
  std::int64_t step = 0;
  bool operator==(const TrialContent&) const = default;
};

// Numbers as verification draws them.
struct DrawnContents {
  verify::Distribution distribution = verify::Distribution::manifest;
  std::uint64_t seed = 1;
};

// Of all buffers: those of floating type, those of integers, and those that are an exception, by
// parameter.
struct TrialContents {
  double floats = 0.75;
  double integers = 0.0;
  std::map<std::size_t, TrialContent> of = {};
  std::optional<DrawnContents> drawn = {};  // in all buffers instead
};

// What a kernel touched of a buffer, in elements.
struct Touched {
  std::int64_t length = 0;
  bool is_read = false;
  bool is_written = false;
};
using Trial = std::vector<Touched>;  // by parameter

// Buffers are long enough for anything that a small launch touches. A launch that takes long is
// looked at in a few of its blocks: the first, the last, and some between.
class TrialLaunch {
 public:
  // `signature` and `draft`, which has the launch, must outlive this. Errors: unsupported (no
  // launch), and what keeps a kernel from being loaded.
  [[nodiscard]] static Result<TrialLaunch> make(const CompiledKernel& compiled,
                                                const KernelSignature& signature,
                                                const Manifest& draft);

  // Errors: unsupported (the launch fails), cancelled.
  [[nodiscard]] Result<Trial> run(const Symbols& symbols, const TrialContents& contents,
                                  const Cancellation& cancellation);

  // The least dynamic shared memory, in bytes, that a launch of so many threads in x needs. Errors
  // as run.
  [[nodiscard]] Result<std::int64_t> shared_bytes(const Symbols& symbols, std::uint32_t threads,
                                                  const Cancellation& cancellation) const;
  // As much as there is, in launches from now on: what is needed is not known.
  void take_all_shared_memory() { shared_bytes_ = most_shared_bytes(); }
  [[nodiscard]] bool has_dynamic_shared_memory() const { return has_dynamic_shared_memory_; }
  // Whether the last run was of a few blocks; until told otherwise the next ones are, too.
  [[nodiscard]] bool looks_at_some_blocks() const { return samples_; }
  void look_at_all_blocks() { samples_ = false; }
  // So many instructions of warps at most, of all blocks or of a few.
  void limit_instructions(std::uint64_t most) { most_instructions_ = most; }

  // What the draft says of an argument; null where it says nothing.
  [[nodiscard]] const ManifestArgument* said_of(const std::string& name) const;

 private:
  TrialLaunch(ptx::Program program, const KernelSignature& signature, const Manifest& draft,
              bool has_dynamic_shared_memory)
      : program_(std::move(program)),
        signature_(signature),
        draft_(draft),
        has_dynamic_shared_memory_(has_dynamic_shared_memory) {}

  struct Setup;
  [[nodiscard]] Result<Setup> set_up(const Symbols& symbols, const TrialContents& contents) const;
  [[nodiscard]] Status add_buffer(std::size_t index, const Symbols& symbols,
                                  const TrialContents& contents, Setup& setup) const;
  [[nodiscard]] std::int64_t most_shared_bytes() const;
  void write_scalar(const Parameter& parameter, const Symbols& symbols, std::byte* place,
                    std::size_t bytes) const;
  [[nodiscard]] Trial touched_by(const Setup& setup, const ptx::AddressLog& reads,
                                 const ptx::AddressLog& writes) const;

  ptx::Program program_;
  const KernelSignature& signature_;
  const Manifest& draft_;
  bool has_dynamic_shared_memory_ = false;
  std::optional<std::int64_t> shared_bytes_;  // instead of the draft's
  bool samples_ = false;                      // all blocks took too long
  std::optional<std::uint64_t> most_instructions_;
};

}  // namespace regraph
