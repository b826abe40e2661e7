// The figures that a measured result is quoted with.
#pragma once

#include "kernel/problem.h"

#include <vector>

namespace regraph {

// The original's seconds over the best kernel's, with a 95 % confidence interval.
struct SpeedupEstimate {
  double ratio = 1.0;
  double low = 1.0;
  double high = 1.0;
};

// Original and best kernel timed once more after the search, interleaved, in processes of their
// own.
struct MeasuredSpeedup {
  struct Times {
    double original_seconds = 0.0;  // medians
    double best_seconds = 0.0;
    int samples = 0;  // of each kernel, over all processes
    SpeedupEstimate speedup;
  };
  struct Bench {
    Symbols symbols;
    Times cold;  // nothing of the inputs in the L2
    Times hot;   // the L2 as the kernel's last launch left it
  };
  std::vector<Bench> benches;  // one a bench size
  SpeedupEstimate cold;        // geometric means over the bench sizes
  SpeedupEstimate hot;
  int processes = 0;
};

}  // namespace regraph
