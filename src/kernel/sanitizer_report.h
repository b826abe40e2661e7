// What a checking tool of the CUDA toolkit made of the answer of a search.
#pragma once

#include <string>
#include <vector>

namespace regraph {

struct SanitizerReport {
  std::vector<std::string> tools;  // that ran to their end: "memcheck", "racecheck"
  std::vector<std::string>
      findings;                    // against the answer: "memcheck: Invalid __global__ write ..."
  std::vector<std::string> notes;  // why a tool did not run, or what counts against nobody
};

}  // namespace regraph
