// The problem, a candidate's launch and the device in words.
#pragma once

#include "kernel/evaluation.h"
#include "kernel/launch_plan.h"
#include "kernel/problem.h"
#include "llm/prompt/prompt_inputs.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace regraph::llm {

// One line an argument: name, type, direction and shape, value or size. Lines do not end in a
// newline, here and below.
[[nodiscard]] std::string arguments_text(const Problem& problem);

// "{M: 70, N: 50}".
[[nodiscard]] std::string symbols_text(const Symbols& symbols);

// Sizes to be fast on, and at most `most` of those at which results are compared.
[[nodiscard]] std::string sizes_text(const Problem& problem, std::size_t most);

// What the user grants to a step, and what not. Two lines.
[[nodiscard]] std::string grants_text(const Assumptions& assume);

// How exact results must be.
[[nodiscard]] std::string tolerance_text(const CheckPolicy& check);

// The launch of `kernel` in the JSON form that an answer takes, e.g.
// {"block": [32, 8, 1], "grid": ["cdiv(M, bx)", "cdiv(N, by)", "1"], "smem": "0"}. Empty when the
// plan does not launch it.
[[nodiscard]] std::string launch_text(const LaunchPlan& plan, std::string_view kernel);

// Other kernels of the plan, one a line, in order; empty when there is one launch.
[[nodiscard]] std::string other_launches_text(const LaunchPlan& plan, std::string_view kernel);

// One line of name and limits; figures that are not known are left out.
[[nodiscard]] std::string device_text(const PromptDevice& device);

// "272 ms predicted, between 190 ms and 353 ms; roofline 2.05 ms". Empty when not correct.
[[nodiscard]] std::string evaluation_time_text(const Evaluation& evaluation);

}  // namespace regraph::llm
