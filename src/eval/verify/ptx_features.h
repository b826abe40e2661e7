// Words in PTX that a candidate may not use unless the original does.
#pragma once

#include <string_view>
#include <vector>

namespace regraph::verify {

struct PtxFeature {
  // What makes it one: "%clock64", "evict_last", "tf32"; of "f16x2" and its like "f16".
  std::string_view word;
  std::string_view statement;  // the token it stands in: "mma.sync.aligned.m16n8k8..."
  std::string_view why;        // what it does to a measurement: "reads a clock: ..."
  bool of_precision = false;   // a type of lower precision than fp32
  int source_line = 0;         // of the CUDA source by .loc; 0: unknown
};

// Every feature in `ptx`, each once, in the order of its first use. Comments and strings are
// skipped: a file's name is no instruction. Views point into `ptx` or are constants.
[[nodiscard]] std::vector<PtxFeature> features_of(std::string_view ptx);

}  // namespace regraph::verify
