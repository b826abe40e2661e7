// What kernels in an answer are written in, as far as code has to be told from the rest of it.
#pragma once

#include "kernel/candidate.h"

#include <string>
#include <string_view>

namespace regraph::llm {

struct CodeLanguage {
  // Whether a block under this word, in lower case and perhaps empty, is code.
  bool (*is_fence)(std::string_view word);
  // Whether a text holds the kernel with its body; `kernel` empty: any.
  bool (*defines)(std::string_view code, std::string_view kernel);
  std::string_view mark;   // stands in front of every kernel
  std::string_view whole;  // what an answer holds: "all of the device code"
  std::string_view forms;  // how one answers
  bool launch_apart;       // the launch stands beside the code, else in a comment in front of it
};

[[nodiscard]] const CodeLanguage& cuda_code();
[[nodiscard]] const CodeLanguage& triton_code();
// That of a candidate's source.
[[nodiscard]] const CodeLanguage& language_of(const Candidate& candidate);

}  // namespace regraph::llm
