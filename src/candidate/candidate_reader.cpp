#include "candidate/candidate_reader.h"

#include "eval/compile/same_code.h"
#include "source/lexer.h"
#include "source/printer.h"
#include "triton/foreign_text.h"
#include "triton_expander/triton_candidate.h"

#include <fmt/format.h>

namespace regraph {

namespace {

// The compiler sees every text under this name, so its messages do too.
constexpr const char* kFileName = "kernel.cu";

Status same_parameters(const KernelSignature& found, const KernelSignature& wanted) {
  std::size_t count = 0;
  for (const Parameter& parameter : wanted.parameters)
    count += parameter.is_passed() ? 1 : 0;
  std::size_t at = 0;
  for (const Parameter& parameter : found.parameters) {
    if (!parameter.is_passed()) continue;
    if (at >= count) break;
    const Parameter& other = wanted.parameters[at++];
    const bool same = parameter.is_pointer == other.is_pointer && parameter.type == other.type &&
                      parameter.components == other.components &&
                      parameter.record_bytes == other.record_bytes;
    if (!same) {
      return fail(ErrorCode::refused,
                  fmt::format("parameter '{}' of {} has another type than in the original",
                              parameter.name, wanted.name));
    }
  }
  std::size_t passed = 0;
  for (const Parameter& parameter : found.parameters)
    passed += parameter.is_passed() ? 1 : 0;
  if (passed == count) return {};
  return fail(ErrorCode::refused,
              fmt::format("{} has {} parameters, the original {}", wanted.name, passed, count));
}

}  // namespace

std::string token_text(std::string_view source) {
  std::string text;
  for (const source::Token& token : source::tokenize(source)) {
    if (!text.empty()) text += token.kind == source::TokenKind::directive ? '\n' : ' ';
    text += token.in(source);
  }
  return text;
}

Result<Candidate> CandidateReader::read(const std::string& source, const LaunchPlan& plan,
                                        const KernelSignature& signature,
                                        std::vector<std::string> assumptions,
                                        const Cancellation& cancellation) const {
  if (triton_) return read_triton(source, std::move(assumptions), cancellation);
  Candidate opaque;
  opaque.source = source;
  opaque.plan = plan;
  opaque.assumptions = assumptions;
  opaque.identity = candidate_identity(token_text(source), plan);

  CompileRequest request;
  request.source = source;
  request.kernel = signature.name;
  request.architecture = architecture_;
  const auto compiled = compiler_.compile(request, cancellation);
  if (!compiled) return opaque;
  auto parsed = source::parse_kernel(source, kFileName, signature.name, front_end_);
  if (!parsed) return opaque;
  if (Status same = same_parameters(parsed->signature, signature); !same) return same.error();
  if (!parsed->unit) return opaque;
  // The gate: what the printer makes of the form must be the same program.
  const auto passes = [&](const source::Unit& unit) {
    request.source = source::print(unit);
    const auto printed = compiler_.compile(request, cancellation);
    return printed && same_code(compiled->ptx, printed->ptx);
  };
  if (!passes(*parsed->unit)) {
    source::FrontEndConfiguration as_it_stands = front_end_;
    as_it_stands.takes_apart = false;
    parsed = source::parse_kernel(source, kFileName, signature.name, as_it_stands);
    if (!parsed || !parsed->unit || !passes(*parsed->unit)) return opaque;
  }
  Candidate candidate = source::make_candidate(std::move(*parsed->unit), plan);
  candidate.assumptions = std::move(assumptions);
  return candidate;
}

Result<Candidate> CandidateReader::read_triton(const std::string& source,
                                               std::vector<std::string> assumptions,
                                               const Cancellation& cancellation) const {
  auto text = triton::read_foreign_text(triton_->python, triton_->cut_out, source,
                                        triton_->original, {}, cancellation);
  if (!text) return text.error();
  // Steps of the built-in expander try them further on.
  text->choices = triton_->original.choices;
  return triton::make_candidate_or_broken(compiler_, *text, architecture_, std::move(assumptions),
                                          cancellation);
}

Result<Candidate> CandidateReader::restore(const Candidate& stored,
                                           const KernelSignature& signature) const {
  if (triton_) return stored;
  auto restored = read(stored.source, stored.plan, signature, stored.assumptions, Cancellation{});
  // What the search knew it by decides; the form is only for further steps.
  if (restored) restored->identity = stored.identity;
  return restored;
}

}  // namespace regraph
