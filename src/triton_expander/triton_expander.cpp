#include "triton_expander/triton_expander.h"

#include "rewrite/forms/kernel_state.h"
#include "triton_expander/dot_tiles.h"
#include "triton_expander/source_steps.h"
#include "triton_expander/triton_candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

namespace regraph::triton {
namespace {

Error refused(std::string why) {
  return fail(ErrorCode::refused, std::move(why));
}

// Of tile, constant, warps, stages and ctas.
Result<KernelText> with_value(KernelText text, const StepProposal& proposal) {
  const auto value = proposal.parameters.find("value");
  if (value == proposal.parameters.end()) return refused("'value' is missing");
  if (proposal.step == "warps" || proposal.step == "stages" || proposal.step == "ctas") {
    int number = 0;
    const char* const last = value->second.data() + value->second.size();
    const bool whole = std::from_chars(value->second.data(), last, number).ptr == last;
    if (!whole || number < 1) return refused("'" + value->second + "' is no number");
    (proposal.step == "warps"  ? text.warps
     : proposal.step == "ctas" ? text.ctas
                               : text.stages) = number;
  } else {
    const auto name = proposal.parameters.find("name");
    if (name == proposal.parameters.end() || !text.constants.contains(name->second))
      return refused("the kernel has no such constant");
    text.constants[name->second] = value->second;
  }
  // Its own reader says whether the values are ones.
  auto read = parse_kernel_text(text.text());
  if (!read) return refused(read.error().message);
  return read;
}

// "sm_90a": clusters came with Hopper.
bool has_clusters(const std::string& architecture) {
  constexpr int kHopper = 90;
  int number = 0;
  return std::sscanf(architecture.c_str(), "sm_%d", &number) == 1 && number >= kHopper;
}

bool sets_value(const std::string& step) {
  return step == "tile" || step == "constant" || step == "warps" || step == "stages" ||
         step == "ctas";
}

// Whether terms are added up whose order a layout decides.
bool has_sums(const KernelText& text) {
  constexpr const char* kSums[] = {"sum(",     "dot(",    "dot_scaled(",      "atomic_add(",
                                   "cumprod(", "reduce(", "associative_scan("};
  return std::ranges::any_of(
      kSums, [&](const char* sum) { return text.module.find(sum) != std::string::npos; });
}

}  // namespace

std::string assumption_of(const KernelText& text, const StepProposal& step) {
  if (step.step == "dot_precision") return "products round their inputs to TF32";
  const bool deals_out = step.step == "tile" || step.step == "dot_tile" || step.step == "warps" ||
                         step.step == "ctas" || step.step == "constant";
  return deals_out && has_sums(text) ? rewrite::kReordersSums : "";
}

TritonExpander::TritonExpander(Compiler& compiler, std::string architecture,
                               std::filesystem::path python, std::filesystem::path rewriter,
                               Permissions permissions)
    : compiler_(compiler),
      architecture_(std::move(architecture)),
      python_(std::move(python)),
      rewriter_(std::move(rewriter)),
      permissions_(permissions) {}

std::vector<StepProposal> TritonExpander::propose(const Candidate& candidate,
                                                  const ExpansionContext& context,
                                                  const Cancellation& cancellation) const {
  (void)context;
  const auto text = parse_kernel_text(candidate.source);
  if (!text) return {};
  std::vector<StepProposal> proposals = dot_tile_proposals(*text);
  for (StepProposal& value : value_proposals(*text, has_clusters(architecture_)))
    proposals.push_back(std::move(value));
  auto changes = source_proposals(python_, rewriter_, *text, cancellation);
  if (!changes) return proposals;
  for (StepProposal& change : *changes) {
    if (change.step == "dot_precision" && !permissions_.less_precision) continue;
    proposals.push_back(std::move(change));
  }
  if (permissions_.reordered_sums) return proposals;
  std::erase_if(proposals, [&](const StepProposal& one) {
    return assumption_of(*text, one) == rewrite::kReordersSums;
  });
  return proposals;
}

Result<KernelText> TritonExpander::change(const KernelText& text, const StepProposal& proposal,
                                          const Cancellation& cancellation) const {
  if (!permissions_.reordered_sums && assumption_of(text, proposal) == rewrite::kReordersSums)
    return refused("sums would be added in another order, which 'reassociate: false' forbids");
  if (sets_value(proposal.step)) return with_value(text, proposal);
  if (proposal.step == "dot_tile") return with_dot_tile(text, proposal);
  if (proposal.step == "dot_precision" && !permissions_.less_precision)
    return refused("the manifest does not grant shorter inputs ('assume: {precision: ...}')");
  return apply_source_step(python_, rewriter_, text, proposal, cancellation);
}

Result<Candidate> TritonExpander::apply(const Candidate& candidate, const StepProposal& proposal,
                                        int variant, const ExpansionContext& context,
                                        const Cancellation& cancellation) const {
  (void)variant;
  (void)context;
  const auto text = parse_kernel_text(candidate.source);
  if (!text) return text.error();
  auto changed = change(*text, proposal, cancellation);
  if (!changed) return changed.error();
  std::vector<std::string> assumptions = candidate.assumptions;
  const std::string assumed = assumption_of(*text, proposal);
  if (!assumed.empty() && std::ranges::find(assumptions, assumed) == assumptions.end())
    assumptions.insert(std::ranges::upper_bound(assumptions, assumed), assumed);
  auto made = make_candidate(compiler_, *changed, architecture_, assumptions, cancellation);
  if (!made && made.error().code == ErrorCode::compile)
    return refused("it does not compile: " + made.error().message);
  return made;
}

}  // namespace regraph::triton
