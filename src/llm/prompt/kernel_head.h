// The __global__ functions of a piece of device code and what their parameters are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace regraph::llm {

struct KernelHead {
  std::string_view name;
  bool has_body = false;
  // One entry a parameter: its tokens without const, __restrict__, its name and its default.
  std::vector<std::vector<std::string_view>> parameters;
};

// Returns the heads among `tokens` (code_tokens.h) in order, declarations without a body too.
// Linear, and takes any tokens.
[[nodiscard]] std::vector<KernelHead> kernel_heads(const std::vector<std::string_view>& tokens);

// The parameter list for messages: "int, const float*" comes as "int, float *".
[[nodiscard]] std::string parameters_text(const KernelHead& head);

}  // namespace regraph::llm
