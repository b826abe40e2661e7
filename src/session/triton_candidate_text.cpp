#include "session/triton_candidate_text.h"

#include "eval/verify/verifier.h"
#include "triton/foreign_text.h"
#include "triton_expander/triton_candidate.h"

#include <algorithm>
#include <utility>

namespace regraph {
namespace {

using triton::KernelText;

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
  triton::GivenSizes given;
  given.sizes = opened.problem.bench.empty() ? opened.problem.sizes : opened.problem.bench.front();
  auto text =
      triton::read_foreign_text(toolchain.triton->python, toolchain.triton_scripts / "cut_out.py",
                                source, *opened.triton, given, cancellation);
  if (!text) return text.error();
  return triton::make_candidate_or_broken(*toolchain.compiler, *text,
                                          opened.device.device.architecture, std::move(assumptions),
                                          cancellation);
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
