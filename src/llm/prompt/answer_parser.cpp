#include "llm/prompt/answer_parser.h"

#include "llm/prompt/answer_blocks.h"
#include "llm/prompt/code_rules.h"
#include "llm/prompt/code_tokens.h"
#include "llm/prompt/kernel_head.h"
#include "llm/prompt/launch_comment.h"
#include "llm/prompt/plain_source.h"
#include "llm/prompt/prompt_text.h"
#include "llm/prompt/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace regraph::llm {

namespace {

using Json = nlohmann::json;

Error unusable(std::string what) {
  return fail(ErrorCode::parse, std::move(what));
}

// What an answer says, before any of it is checked.
struct Draft {
  std::string code;
  std::optional<LaunchChange> launch;
  std::string notes;
};

bool is_code_language(std::string_view language) {
  constexpr auto kNames = std::to_array<std::string_view>({"", "c", "c++", "cc", "cpp", "cxx"});
  return language.substr(0, 2) == "cu" || std::ranges::find(kNames, language) != kNames.end();
}

bool is_data_language(std::string_view language) {
  return language == "json" || language == "yaml" || language == "yml";
}

bool begins_with(std::string_view text, std::string_view what) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text.substr(first, what.size()) == what;
}

// An unlabelled block that is data all the same.
bool looks_like_data(std::string_view text) {
  return std::ranges::any_of(std::to_array<std::string_view>({"{", "launch:", "block:", "grid:"}),
                             [&](std::string_view start) { return begins_with(text, start); });
}

bool defines_kernel(std::string_view code, std::string_view kernel) {
  const std::vector<KernelHead> heads = kernel_heads(code_tokens(code));
  return std::ranges::any_of(
      heads, [&](const KernelHead& head) { return head.has_body && head.name == kernel; });
}

// Whether a text without code is a refusal, by the way it begins.
bool sounds_like_refusal(std::string_view prose) {
  std::string start(prose.substr(0, 400));
  std::ranges::transform(start, start.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  constexpr auto kPhrases = std::to_array<std::string_view>(
      {"i can't", "i can\u2019t", "i cannot", "i'm sorry", "i\u2019m sorry", "i am sorry",
       "i'm unable", "i\u2019m unable", "i am unable", "i won't", "i won\u2019t",
       "not able to help"});
  return std::ranges::any_of(
      kPhrases, [&](std::string_view phrase) { return start.find(phrase) != std::string::npos; });
}

// Takes `launch` in, unless another one is there already.
Status merge(std::optional<LaunchChange>& into, Result<LaunchChange> launch) {
  if (!launch) return launch.error();
  if (into && !(*into == *launch)) {
    return unusable("the answer holds two different launch plans; give one");
  }
  into = std::move(*launch);
  return {};
}

// The code of an object may be fenced once more.
Result<std::string> unfenced(const std::string& code) {
  if (!begins_with(code, "```")) return code;
  const Result<AnswerParts> parts = split_answer(code);
  if (!parts) return parts.error();
  if (parts->blocks.size() != 1) return unusable("'code' holds several blocks; give one");
  return std::string(parts->blocks[0].text);
}

Result<Draft> draft_of_object(const Json& object) {
  Draft draft;
  if (!object["code"].is_string()) return unusable("'code' must be text");
  Result<std::string> code = unfenced(object["code"].get<std::string>());
  if (!code) return code.error();
  draft.code = std::move(*code);
  if (const auto launch = object.find("launch"); launch != object.end() && !launch->is_null()) {
    if (!launch->is_object() && !launch->is_string()) {
      return unusable("'launch' must be an object with block, grid and smem");
    }
    Status merged = merge(
        draft.launch,
        read_launch_change(launch->is_string() ? launch->get<std::string>() : launch->dump()));
    if (!merged) return merged.error();
  }
  if (const auto notes = object.find("notes"); notes != object.end() && notes->is_string()) {
    draft.notes = notes->get<std::string>();
  }
  return draft;
}

Result<Draft> draft_of_json(std::string_view text) {
  const Result<Json> object = parse_strict_json(text);
  if (!object) return unusable("the answer's object: " + object.error().message);
  if (!object->is_object() || !object->contains("code")) {
    return unusable("the answer holds no code: its object has no key 'code'");
  }
  return draft_of_object(*object);
}

// Of several blocks of code the one that holds the kernel. Equal ones count once.
Result<std::string> chosen_code(const std::set<std::string_view>& codes,
                                const std::string& kernel) {
  if (codes.size() == 1) return std::string(*codes.begin());
  std::vector<std::string_view> holding;
  for (const std::string_view code : codes) {
    if (defines_kernel(code, kernel)) holding.push_back(code);
  }
  if (holding.size() == 1) return std::string(holding[0]);
  return unusable(
      fmt::format("{} different blocks of code, {} of them with __global__ {}; give "
                  "one block with all of the device code",
                  codes.size(), holding.size(), kernel));
}

Result<Draft> draft_of_parts(const AnswerParts& parts, const std::string& kernel) {
  Draft draft;
  std::set<std::string_view> codes;
  std::optional<Json> object;
  bool has_diff = false;
  for (const AnswerBlock& block : parts.blocks) {
    const bool is_data =
        is_data_language(block.language) || (block.language.empty() && looks_like_data(block.text));
    if (!is_data) {
      has_diff = has_diff || block.language == "diff" || block.language == "patch";
      if (is_code_language(block.language)) codes.insert(block.text);
      continue;
    }
    const Result<Json> json = parse_strict_json(block.text);
    if (json && json->is_object() && json->contains("code")) {
      if (object && !(*object == *json))
        return unusable("the answer holds several objects with code; give one");
      object = *json;
    } else if (!json && block.text.find("\"code\"") != std::string_view::npos) {
      return unusable("the answer's object: " + json.error().message);
    } else if (Status merged = merge(draft.launch, read_launch_change(block.text)); !merged) {
      return merged.error();
    }
  }
  if (object) {
    if (!codes.empty() || draft.launch) {
      return unusable("the answer holds an object with code and other blocks; give one of them");
    }
    return draft_of_object(*object);
  }
  if (codes.empty()) {
    return unusable(has_diff ? "the answer is a diff; give the whole device code in a ```cuda block"
                    : sounds_like_refusal(parts.prose)
                        ? "the model refused: " + one_line(parts.prose, 200)
                    : parts.prose.find("__global__") != std::string::npos
                        ? "the code is not fenced; put it in a ```cuda block"
                        : "the answer holds no code; give it in a ```cuda block");
  }
  Result<std::string> code = chosen_code(codes, kernel);
  if (!code) return code.error();
  draft.code = std::move(*code);
  draft.notes = parts.prose;
  return draft;
}

Result<Draft> draft_of(std::string_view text, const std::string& kernel) {
  if (begins_with(text, "{")) return draft_of_json(text);
  const Result<AnswerParts> parts = split_answer(text);
  if (!parts) return parts.error();
  return draft_of_parts(*parts, kernel);
}

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

}  // namespace

Result<ParsedAnswer> AnswerParser::parse(const ChatChoice& choice, const Problem& problem,
                                         const Candidate& base) const {
  const std::string& kernel = problem.signature.name;
  const Result<std::string_view> text = answer_text(choice, limits_.answer);
  if (!text) return text.error();
  Result<Draft> draft = draft_of(*text, kernel);
  if (!draft) return draft.error();
  Result<std::string> source = plain_source(draft->code, limits_.code);
  if (!source) return source.error();
  if (source->find_first_not_of(" \t\n") == std::string::npos) {
    return unusable("the answer holds no code: its block is empty");
  }
  if (Status rules = check_code_rules(*source, base.source); !rules) return rules.error();
  if (Status kernels = check_kernels(*source, problem, base); !kernels) return kernels.error();
  for (const std::string& comment : take_launch_comments(*source, base.source)) {
    if (Status merged = merge(draft->launch, read_launch_change(comment)); !merged) {
      return merged.error();
    }
  }
  if (draft->launch) {
    if (Status possible = check_launch_change(*draft->launch, problem); !possible) {
      return possible.error();
    }
  }
  if (is_same_launch(draft->launch, base.plan, kernel) && same_tokens(*source, base.source)) {
    return unusable("nothing was changed: code and launch are those that were given");
  }
  return ParsedAnswer{std::move(*source), std::move(draft->launch),
                      cut_text(clean_text(draft->notes), limits_.notes)};
}

}  // namespace regraph::llm
