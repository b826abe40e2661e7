#include "llm/prompt/answer_draft.h"

#include "llm/prompt/answer_blocks.h"
#include "llm/prompt/answer_decline.h"
#include "llm/prompt/missing_code.h"
#include "llm/prompt/strict_json.h"
#include "triton/kernel_text.h"

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

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool has_code(const Json& value) {
  return value.is_object() && value.contains("code") && !value["code"].is_null();
}

Error edits_beside_code() {
  return unusable(
      "the answer holds search-and-replace blocks and a whole kernel; give one of them");
}

Error launch_beside_code() {
  return unusable(
      "the launch of a Triton kernel stands in the comment '# regraph-triton:' in front of it; "
      "change it there, without a block or key of its own");
}

// The code of an object may be fenced once more.
Result<std::string> unfenced(const std::string& code) {
  if (!begins_with(code, "```")) return code;
  const Result<AnswerParts> parts = split_answer(code);
  if (!parts) return parts.error();
  if (parts->blocks.size() != 1) return unusable("'code' holds several blocks; give one");
  return std::string(parts->blocks[0].text);
}

Result<AnswerDraft> draft_of_object(const Json& object, const CodeLanguage& language) {
  AnswerDraft draft;
  if (!object["code"].is_string()) return unusable("'code' must be text");
  const auto& text = object["code"].get_ref<const std::string&>();
  if (holds_edits(text)) {
    Result<EditAnswer> read = read_edits(text);
    if (!read) return read.error();
    if (language.defines(read->rest, "")) return edits_beside_code();
    draft.edits = std::move(read->edits);
  } else {
    Result<std::string> code = unfenced(text);
    if (!code) return code.error();
    draft.code = std::move(*code);
  }
  draft.declined = decline_of_object(object);
  if (const auto launch = object.find("launch"); launch != object.end() && !launch->is_null()) {
    if (!language.launch_apart) return launch_beside_code();
    if (!launch->is_object() && !launch->is_string()) {
      return unusable("'launch' must be an object with block, grid and smem");
    }
    const std::string plan = launch->is_string() ? launch->get<std::string>() : launch->dump();
    if (Status added = draft.add_launch(plan); !added) return added.error();
  }
  if (const auto notes = object.find("notes"); notes != object.end() && notes->is_string()) {
    draft.notes = notes->get<std::string>();
  }
  return draft;
}

Result<AnswerDraft> draft_of_json(std::string_view text, const CodeLanguage& language) {
  const Result<Json> object = parse_strict_json(text);
  if (!object) return unusable("the answer's object: " + object.error().message);
  if (has_code(*object)) return draft_of_object(*object, language);
  AnswerDraft draft;
  if (object->is_object()) draft.declined = decline_of_object(*object);
  if (!draft.declined) return unusable("the answer holds no code: its object has no key 'code'");
  return draft;
}

// Of several blocks of code the one that holds the kernel. Equal ones count once.
Result<std::string> chosen_code(const std::set<std::string_view>& codes, const std::string& kernel,
                                const CodeLanguage& language) {
  if (codes.size() == 1) return std::string(*codes.begin());
  std::vector<std::string_view> holding;
  for (const std::string_view code : codes) {
    if (language.defines(code, kernel)) holding.push_back(code);
  }
  const bool has_parts = !language.launch_apart && std::ranges::any_of(codes, [](auto code) {
    return triton::has_header(code) && !triton_code().defines(code, "");
  });
  if (holding.size() == 1 && !has_parts) return std::string(holding[0]);
  return unusable(
      fmt::format("{} different blocks of code, {} of them with {} {}; give one block "
                  "with {}",
                  codes.size(), holding.size(), language.mark, kernel, language.whole));
}

// What the blocks of an answer are.
struct SortedBlocks {
  AnswerDraft draft;                 // launch, notes and decline
  std::set<std::string_view> codes;  // equal ones count once
  std::optional<Json> object;        // with code
  bool has_diff = false;
};

Status sort_data(std::string_view text, const CodeLanguage& language, SortedBlocks& sorted) {
  const auto launch = [&]() -> Status {
    return language.launch_apart ? sorted.draft.add_launch(text) : launch_beside_code();
  };
  const Result<Json> json = parse_strict_json(text);
  if (!json && text.find("\"code\"") != std::string_view::npos)
    return unusable("the answer's object: " + json.error().message);
  if (!json || !json->is_object()) return launch();
  if (json->contains("code")) {
    if (sorted.object && !(*sorted.object == *json))
      return unusable("the answer holds several objects with code; give one");
    sorted.object = *json;
    return {};
  }
  std::optional<std::string> declined = decline_of_object(*json);
  if (!declined) return launch();
  sorted.draft.declined = std::move(declined);
  return {};
}

Result<SortedBlocks> sorted_blocks(const AnswerParts& parts, const CodeLanguage& language,
                                   bool beside_edits) {
  SortedBlocks sorted;
  sorted.draft.notes = parts.prose;
  sorted.draft.declined = decline_in(parts.prose);
  for (const AnswerBlock& block : parts.blocks) {
    // What was left of a block that held edits.
    if (beside_edits && is_blank(block.text)) continue;
    const bool is_data =
        is_data_language(block.language) || (block.language.empty() && looks_like_data(block.text));
    if (is_data) {
      if (Status status = sort_data(block.text, language, sorted); !status) return status.error();
    } else if (only_declines(block.text)) {
      sorted.draft.declined = decline_in(block.text);
    } else if (language.is_fence(block.language)) {
      sorted.codes.insert(block.text);
    } else {
      sorted.has_diff = sorted.has_diff || block.language == "diff" || block.language == "patch";
    }
  }
  return sorted;
}

Result<AnswerDraft> draft_of_parts(const AnswerParts& parts, const std::string& kernel,
                                   const CodeLanguage& language) {
  Result<SortedBlocks> sorted = sorted_blocks(parts, language, false);
  if (!sorted) return sorted.error();
  AnswerDraft& draft = sorted->draft;
  const std::set<std::string_view>& codes = sorted->codes;
  if (sorted->object) {
    if (!codes.empty() || draft.launch) {
      return unusable("the answer holds an object with code and other blocks; give one of them");
    }
    if (has_code(*sorted->object)) return draft_of_object(*sorted->object, language);
    draft.declined = decline_of_object(*sorted->object);
  }
  if (codes.empty()) {
    if (draft.declined) return std::move(draft);
    // Code that somebody forgot to fence is none, and not left as it was.
    draft.keeps_code =
        draft.launch && !sorted->has_diff && parts.prose.find(language.mark) == std::string::npos;
    if (draft.keeps_code) return std::move(draft);
    return missing_code(parts.prose, sorted->has_diff, language);
  }
  Result<std::string> code = chosen_code(codes, kernel, language);
  if (!code) return code.error();
  draft.code = std::move(*code);
  return std::move(draft);
}

// Edits may stand in blocks of any language, or in none.
Result<AnswerDraft> draft_of_edits(std::string_view text, const CodeLanguage& language) {
  Result<EditAnswer> read = read_edits(text);
  if (!read) return read.error();
  const Result<AnswerParts> parts = split_answer(read->rest);
  if (!parts) return parts.error();
  Result<SortedBlocks> sorted = sorted_blocks(*parts, language, true);
  if (!sorted) return sorted.error();
  const bool beside_kernel = std::ranges::any_of(
      sorted->codes, [&](std::string_view code) { return language.defines(code, ""); });
  if (beside_kernel || sorted->object) return edits_beside_code();
  sorted->draft.edits = std::move(read->edits);
  return std::move(sorted->draft);
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

Result<AnswerDraft> draft_of(std::string_view text, const std::string& kernel,
                             const CodeLanguage& language) {
  if (begins_with(text, "{")) return draft_of_json(text, language);
  if (holds_edits(text)) return draft_of_edits(text, language);
  const Result<AnswerParts> parts = split_answer(text);
  if (!parts) return parts.error();
  return draft_of_parts(*parts, kernel, language);
}

}  // namespace regraph::llm
