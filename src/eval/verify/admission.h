// What a candidate may not contain, whatever it computes: ways to behave differently when it is
// timed than when it is verified, to keep results from one launch to the next, or to compute with
// less precision than it was allowed to.
#pragma once

#include "kernel/problem.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::verify {

// The gate that every candidate passes before it runs anywhere. It knows what the original's PTX
// does: the same is allowed to candidates. Immutable, so thread-safe.
class Admission {
 public:
  // `original_ptx` is copied as far as it is needed. Of `assume`, precision decides whether
  // tf32, half and smaller types may appear that the original does not compute with.
  Admission(std::string_view original_ptx, const Assumptions& assume);

  // Looks in the candidate's PTX for features that the original does not have: clocks and
  // identities of the hardware, cache persistence, early completion, sleeping, calls out of the
  // module or by address, traps, lower precision, local memory declared in assembly, and global
  // variables that are written or whose address gets out of sight. Returns what was found, why it
  // matters and the line of the source where it stands, or nothing. PTX that cannot be parsed is
  // searched for words only.
  [[nodiscard]] std::optional<std::string> objection(std::string_view candidate_ptx) const;

 private:
  std::vector<std::string> features_;   // of the original, sorted
  std::vector<std::string> variables_;  // of the original, in global memory, sorted
  std::vector<std::string> functions_;  // that the original calls and does not define, sorted
  Precision precision_;
};

}  // namespace regraph::verify
