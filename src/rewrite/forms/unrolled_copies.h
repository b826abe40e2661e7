// Whether a block is another one, several times over: what a loop unrolled by hand repeats.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/analysis.h"
#include "source/polynomial.h"

#include <optional>
#include <string>

namespace regraph::rewrite {

// What may be relied on, and what was: to begin with, nothing.
struct CopyLicence {
  bool distinct_buffers = false;
  bool reordered_sums = false;
};

// Where the copies stand: `counter` of the single block is `first` in the first copy, and
// `distance` more in each one after it. `first` is a polynomial of what the several ask about.
struct CopyPlaces {
  std::string counter;
  Polynomial first;
  Polynomial distance;
  int copies = 0;
};

// Whether `several` does what `one` does for one place after the other. Variables that only name a
// value are looked through, and statements may stand in another order as long as none of them sees
// it. For blocks of declarations, assignments and branches. Returns what had to be relied on.
[[nodiscard]] std::optional<CopyLicence> relied_on_by_copies(const Block& several, const Block& one,
                                                             const CopyPlaces& places,
                                                             const Analysis& analysis,
                                                             const CopyLicence& licence);

// The integer as a polynomial in which what has no known value stands for itself; `counter` always
// does.
[[nodiscard]] std::optional<Polynomial> place_polynomial(const ExprPtr& expr,
                                                         const std::string& counter,
                                                         const Analysis& analysis);

}  // namespace regraph::rewrite
