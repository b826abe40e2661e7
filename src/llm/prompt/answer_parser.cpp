#include "llm/prompt/answer_parser.h"

#include "llm/prompt/answer_draft.h"
#include "llm/prompt/code_rules.h"
#include "llm/prompt/code_tokens.h"
#include "llm/prompt/kernel_head.h"
#include "llm/prompt/launch_comment.h"
#include "llm/prompt/plain_source.h"
#include "llm/prompt/prompt_text.h"
#include "llm/prompt/triton_answer.h"
#include "source/extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace regraph::llm {

namespace {

// Every kernel of the base's plan must be there, with the parameters it has in the base.
Status check_kernels(std::string_view source, const Problem& problem, const Candidate& base) {
  const std::vector<std::string_view> tokens = code_tokens(source);
  const std::vector<std::string_view> base_tokens = code_tokens(base.source);
  const std::vector<KernelHead> heads = kernel_heads(tokens);
  const std::vector<KernelHead> base_heads = kernel_heads(base_tokens);
  std::set<std::string> wanted = {problem.signature.name};
  for (const Launch& launch : base.plan.launches)
    wanted.insert(launch.kernel);
  for (const std::string& kernel : wanted) {
    const auto original = std::ranges::find(base_heads, kernel, &KernelHead::name);
    bool found = false;
    for (const KernelHead& head : heads) {
      if (head.name != kernel || !head.has_body) continue;
      found = true;
      if (original == base_heads.end() || head.parameters == original->parameters) continue;
      return unusable(fmt::format("the parameters of {} were changed to ({}); they must stay ({})",
                                  kernel, one_line(parameters_text(head), 300),
                                  one_line(parameters_text(*original), 300)));
    }
    if (!found) {
      return unusable(
          fmt::format("the __global__ function '{}' is missing; keep its name and give "
                      "the whole device code",
                      kernel));
    }
  }
  return {};
}

bool is_same_launch(const std::optional<LaunchChange>& launch, const LaunchPlan& plan,
                    std::string_view kernel) {
  const Launch* own = plan.launch_of(kernel);
  return !launch || (own != nullptr &&
                     *launch == LaunchChange{own->block, own->grid, own->dynamic_shared_bytes});
}

// The device code that the draft stands for.
Result<std::string> drafted_source(const AnswerDraft& draft, std::string_view shown,
                                   std::size_t limit) {
  if (draft.keeps_code) return plain_source(shown, limit);
  if (draft.edits.empty()) return plain_source(draft.code, limit);
  const Result<std::string> edited = apply_edits(shown, draft.edits);
  if (!edited) return edited.error();
  return plain_source(*edited, limit);
}

bool is_empty(std::string_view source) {
  return source.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

Result<ParsedAnswer> AnswerParser::parse(const ChatChoice& choice, const Problem& problem,
                                         const Candidate& base) const {
  return parse(choice, problem, base, source::without_line_directives(base.source));
}

Result<ParsedAnswer> AnswerParser::parse(const ChatChoice& choice, const Problem& problem,
                                         const Candidate& base, std::string_view shown) const {
  const std::string& kernel = problem.signature.name;
  const Result<std::string_view> text = answer_text(choice, limits_.answer);
  if (!text) return text.error();
  const CodeLanguage& language = language_of(base);
  Result<AnswerDraft> draft = draft_of(*text, kernel, language);
  if (!draft) return draft.error();
  const auto decline = [&](std::string reason) {
    return ParsedAnswer{.declined = std::move(reason),
                        .source = "",
                        .launch = std::nullopt,
                        .notes = cut_text(clean_text(draft->notes), limits_.notes)};
  };
  if (draft->declined && draft->edits.empty() && is_empty(draft->code))
    return decline(*draft->declined);
  if (!language.launch_apart) {
    Result<std::string> whole = triton_source(*draft, shown, limits_.code);
    if (!whole) return whole.error();
    if (*whole == base.source)
      return decline(draft->declined.value_or("the answer changes nothing"));
    return ParsedAnswer{.declined = std::nullopt,
                        .source = std::move(*whole),
                        .launch = std::nullopt,
                        .notes = cut_text(clean_text(draft->notes), limits_.notes)};
  }
  Result<std::string> source = drafted_source(*draft, shown, limits_.code);
  if (!source) return source.error();
  if (is_empty(*source)) {
    return unusable(draft->edits.empty() ? "the answer holds no code: its block is empty"
                                         : "the edits delete all of the code");
  }
  if (Status rules = check_code_rules(*source, base.source); !rules) return rules.error();
  if (Status kernels = check_kernels(*source, problem, base); !kernels) return kernels.error();
  for (const std::string& comment : take_launch_comments(*source, base.source)) {
    if (Status merged = draft->add_launch(comment); !merged) {
      return merged.error();
    }
  }
  if (draft->launch) {
    if (Status possible = check_launch_change(*draft->launch, problem); !possible) {
      return possible.error();
    }
  }
  if (is_same_launch(draft->launch, base.plan, kernel) &&
      (same_tokens(*source, shown) || same_tokens(*source, base.source))) {
    return decline(draft->declined.value_or("the answer changes nothing"));
  }
  return ParsedAnswer{.declined = std::nullopt,
                      .source = std::move(*source),
                      .launch = std::move(draft->launch),
                      .notes = cut_text(clean_text(draft->notes), limits_.notes)};
}

}  // namespace regraph::llm
