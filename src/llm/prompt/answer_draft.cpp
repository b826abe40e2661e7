#include "llm/prompt/answer_draft.h"

#include "llm/prompt/answer_blocks.h"
#include "llm/prompt/code_tokens.h"
#include "llm/prompt/kernel_head.h"
#include "llm/prompt/plain_source.h"
#include "llm/prompt/prompt_text.h"
#include "llm/prompt/strict_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace regraph::llm {

namespace {

using Json = nlohmann::json;

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
  const Result<std::string> plain = plain_source(code, code.size());
  // What is wrong with it is said later; here it only has to be told from others.
  if (!plain) return code.find("__global__") != std::string_view::npos;
  const std::vector<std::string_view> tokens = code_tokens(*plain);
  const std::vector<KernelHead> heads = kernel_heads(tokens);
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

// The code of an object may be fenced once more.
Result<std::string> unfenced(const std::string& code) {
  if (!begins_with(code, "```")) return code;
  const Result<AnswerParts> parts = split_answer(code);
  if (!parts) return parts.error();
  if (parts->blocks.size() != 1) return unusable("'code' holds several blocks; give one");
  return std::string(parts->blocks[0].text);
}

Result<AnswerDraft> draft_of_object(const Json& object) {
  AnswerDraft draft;
  if (!object["code"].is_string()) return unusable("'code' must be text");
  Result<std::string> code = unfenced(object["code"].get<std::string>());
  if (!code) return code.error();
  draft.code = std::move(*code);
  if (const auto launch = object.find("launch"); launch != object.end() && !launch->is_null()) {
    if (!launch->is_object() && !launch->is_string()) {
      return unusable("'launch' must be an object with block, grid and smem");
    }
    const std::string text = launch->is_string() ? launch->get<std::string>() : launch->dump();
    if (Status added = draft.add_launch(text); !added) return added.error();
  }
  if (const auto notes = object.find("notes"); notes != object.end() && notes->is_string()) {
    draft.notes = notes->get<std::string>();
  }
  return draft;
}

Result<AnswerDraft> draft_of_json(std::string_view text) {
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

// Why an answer without a block of code is none.
Error without_code(const std::string& prose, bool has_diff) {
  constexpr std::size_t kShown = 200;
  if (has_diff) {
    return unusable("the answer is a diff; give the whole device code in a ```cuda block");
  }
  if (sounds_like_refusal(prose)) return unusable("the model refused: " + one_line(prose, kShown));
  if (prose.find("__global__") != std::string::npos) {
    return unusable("the code is not fenced; put it in a ```cuda block");
  }
  return unusable("the answer holds no code; give it in a ```cuda block");
}

Result<AnswerDraft> draft_of_parts(const AnswerParts& parts, const std::string& kernel) {
  AnswerDraft draft;
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
    } else if (Status added = draft.add_launch(block.text); !added) {
      return added.error();
    }
  }
  if (object) {
    if (!codes.empty() || draft.launch) {
      return unusable("the answer holds an object with code and other blocks; give one of them");
    }
    return draft_of_object(*object);
  }
  if (codes.empty()) return without_code(parts.prose, has_diff);
  Result<std::string> code = chosen_code(codes, kernel);
  if (!code) return code.error();
  draft.code = std::move(*code);
  draft.notes = parts.prose;
  return draft;
}

}  // namespace

Status AnswerDraft::add_launch(std::string_view text) {
  Result<LaunchChange> added = read_launch_change(text);
  if (!added) return added.error();
  if (launch && !(*launch == *added)) {
    return unusable("the answer holds two different launch plans; give one");
  }
  launch = std::move(*added);
  return {};
}

Result<AnswerDraft> draft_of(std::string_view text, const std::string& kernel) {
  if (begins_with(text, "{")) return draft_of_json(text);
  const Result<AnswerParts> parts = split_answer(text);
  if (!parts) return parts.error();
  return draft_of_parts(*parts, kernel);
}

}  // namespace regraph::llm
