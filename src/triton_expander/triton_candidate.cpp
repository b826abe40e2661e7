#include "triton_expander/triton_candidate.h"

#include <utility>

namespace regraph::triton {

Result<Candidate> make_candidate(Compiler& compiler, const KernelText& text,
                                 const std::string& architecture,
                                 std::vector<std::string> assumptions,
                                 const Cancellation& cancellation) {
  CompileRequest request;
  request.source = text.text();
  request.kernel = text.kernel;
  request.architecture = architecture;
  auto compiled = compiler.compile(request, cancellation);
  if (!compiled) return compiled.error();
  auto plan = text.launch(shared_bytes_of(compiled->ptx));
  if (!plan) return plan.error();
  Candidate candidate;
  candidate.source = std::move(request.source);
  candidate.plan = *std::move(plan);
  candidate.assumptions = std::move(assumptions);
  candidate.identity = candidate_identity(candidate.source, candidate.plan);
  return candidate;
}

Result<Candidate> make_candidate_or_broken(Compiler& compiler, const KernelText& text,
                                           const std::string& architecture,
                                           std::vector<std::string> assumptions,
                                           const Cancellation& cancellation) {
  auto made = make_candidate(compiler, text, architecture, assumptions, cancellation);
  if (made || made.error().code != ErrorCode::compile) return made;
  auto plan = text.launch(0);
  if (!plan) return plan.error();
  Candidate broken{text.text(), *std::move(plan), std::move(assumptions), {}, nullptr};
  broken.identity = candidate_identity(broken.source, broken.plan);
  return broken;
}

}  // namespace regraph::triton
