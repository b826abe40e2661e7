#include "session/triton_candidate_text.h"

#include "eval/verify/verifier.h"
#include "triton/cut_out.h"
#include "triton/expand/triton_candidate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace regraph {
namespace {

using triton::KernelText;

// The launcher's part of an answer, where it has none, is the original's.
KernelText told_of(const std::optional<KernelText>& said, const KernelText& original) {
  KernelText told = said ? *said : original;
  if (told.parameters.empty()) told.parameters = original.parameters;
  told.divisible = original.divisible;
  told.contracts = original.contracts;
  told.choices.clear();
  return told;
}

// The same kernel for arguments of which nothing is known but that pointers are aligned.
KernelText general(KernelText text) {
  std::erase_if(text.divisible, [&](const std::string& name) {
    const auto found = std::ranges::find(text.parameters, name, &triton::TypedParameter::name);
    return found == text.parameters.end() || !found->is_pointer;
  });
  return text;
}

}  // namespace

Result<Candidate> read_triton_candidate(const std::string& source, const OpenedProblem& opened,
                                        const Toolchain& toolchain,
                                        std::vector<std::string> assumptions,
                                        const Cancellation& cancellation) {
  const KernelText& original = *opened.triton;
  std::optional<KernelText> said;
  if (triton::has_header(source)) {
    auto read = triton::parse_kernel_text(source);
    if (!read) return fail(ErrorCode::refused, read.error().message);
    said = *std::move(read);
  }
  auto cut = triton::cut_out(toolchain.triton->python, toolchain.triton_scripts / "cut_out.py",
                             said ? said->module : source, original.kernel, cancellation);
  if (!cut) return cut.error();
  const KernelText told = told_of(said, original);
  triton::Draft draft = triton::draft_text(*cut, &told);
  if (!draft.missing.empty()) {
    return fail(ErrorCode::refused,
                fmt::format("its comment does not fit: {}", fmt::join(draft.missing, "; ")));
  }
  draft.text.choices.clear();
  if (draft.text.parameters != original.parameters)
    return fail(ErrorCode::refused, "its parameters are not the original's");
  auto made = triton::make_candidate(*toolchain.compiler, draft.text,
                                     opened.device.device.architecture, assumptions, cancellation);
  if (made || made.error().code != ErrorCode::compile) return made;
  auto plan = draft.text.launch(0);
  if (!plan) return plan.error();
  Candidate broken{draft.text.text(), *std::move(plan), std::move(assumptions), {}, nullptr};
  broken.identity = candidate_identity(broken.source, broken.plan);
  return broken;
}

Result<std::string> check_other_sizes(const OpenedProblem& opened, const Toolchain& toolchain,
                                      const Candidate& winner, std::uint64_t seed,
                                      const Cancellation& cancellation) {
  const std::string& architecture = opened.device.device.architecture;
  Problem problem = opened.problem;
  problem.tests = opened.other_sizes;
  auto text = triton::parse_kernel_text(winner.source);
  if (!text) return text.error();
  auto reference = triton::make_candidate(*toolchain.compiler, general(*opened.triton),
                                          architecture, {}, cancellation);
  if (!reference) return reference.error();
  auto candidate = triton::make_candidate(*toolchain.compiler, general(*std::move(text)),
                                          architecture, {}, cancellation);
  if (!candidate) return candidate.error();
  problem.launch = reference->plan;
  auto original = compile_plan(*toolchain.compiler, reference->source, reference->plan,
                               architecture, cancellation);
  if (!original) return original.error();
  auto compiled = compile_plan(*toolchain.compiler, candidate->source, candidate->plan,
                               architecture, cancellation);
  if (!compiled) return compiled.error();
  Verifier verifier(problem, *original);
  if (auto sound = verifier.check_original(seed, cancellation); !sound)
    return fail(ErrorCode::unsupported, sound.error().message);
  const VerificationResult result = verifier.verify(*compiled, candidate->plan, seed, cancellation);
  if (result.cancelled) return fail(ErrorCode::cancelled, "cancelled");
  return result.correct() ? std::string() : result.message;
}

}  // namespace regraph
