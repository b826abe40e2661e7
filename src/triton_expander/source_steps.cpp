#include "triton_expander/source_steps.h"

#include "triton/python_run.h"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace regraph::triton {
namespace {

using nlohmann::json;

json described(const KernelText& text) {
  return {{"kernel", text.kernel}, {"module", text.module}, {"grid", text.grid}};
}

}  // namespace

Result<std::vector<StepProposal>> source_proposals(const std::filesystem::path& python,
                                                   const std::filesystem::path& rewriter,
                                                   const KernelText& text,
                                                   const Cancellation& cancellation) {
  auto answer = run_python(python, rewriter, {}, described(text).dump(), cancellation);
  if (!answer) return answer.error();
  std::vector<StepProposal> proposals;
  try {
    for (const json& one : json::parse(*answer)) {
      StepProposal proposal;
      proposal.step = one.at("step").get<std::string>();
      proposal.parameters = one.at("parameters").get<StepParameters>();
      proposals.push_back(std::move(proposal));
    }
  } catch (const json::exception&) {
    return fail(ErrorCode::io, "rewrite.py gave no usable answer");
  }
  return proposals;
}

Result<KernelText> apply_source_step(const std::filesystem::path& python,
                                     const std::filesystem::path& rewriter, const KernelText& text,
                                     const StepProposal& proposal,
                                     const Cancellation& cancellation) {
  json job = described(text);
  job["step"] = proposal.step;
  job["parameters"] = proposal.parameters;
  auto answer = run_python(python, rewriter, {}, job.dump(), cancellation);
  if (!answer) {
    if (answer.error().code != ErrorCode::compile) return answer.error();
    return fail(ErrorCode::refused, answer.error().message);
  }
  KernelText changed = text;
  try {
    const json result = json::parse(*answer);
    changed.module = result.at("module").get<std::string>();
    changed.grid = result.at("grid").get<std::array<std::string, 3>>();
  } catch (const json::exception&) {
    return fail(ErrorCode::io, "rewrite.py gave no usable answer");
  }
  if (changed == text) return fail(ErrorCode::refused, "nothing changes");
  return changed;
}

}  // namespace regraph::triton
