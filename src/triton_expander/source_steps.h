// Changes of a Triton kernel's code, made by a Python program that runs none of it.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "regraph/expander.h"
#include "triton/kernel_text.h"

#include <filesystem>
#include <vector>

namespace regraph::triton {

// The steps that apply to `text`, in a stable order. Errors: io, cancelled.
[[nodiscard]] Result<std::vector<StepProposal>> source_proposals(
    const std::filesystem::path& python, const std::filesystem::path& rewriter,
    const KernelText& text, const Cancellation& cancellation);

// The text after one of them. Errors: refused (with why), io, cancelled.
[[nodiscard]] Result<KernelText> apply_source_step(const std::filesystem::path& python,
                                                   const std::filesystem::path& rewriter,
                                                   const KernelText& text,
                                                   const StepProposal& proposal,
                                                   const Cancellation& cancellation);

}  // namespace regraph::triton
