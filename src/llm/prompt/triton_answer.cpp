#include "llm/prompt/triton_answer.h"

#include "triton/kernel_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace regraph::llm {

namespace {

using triton::KernelText;

constexpr std::size_t kLongestComment = 8 << 10;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Lines that end in "\n", without characters that are not what they seem to be.
Result<std::string> plain_module(std::string_view text, std::size_t limit) {
  if (text.size() > limit) {
    return unusable(
        fmt::format("the code is too long: {} bytes, at most {} are read", text.size(), limit));
  }
  std::string out;
  out.reserve(text.size() + 1);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c == '\r' && at + 1 < text.size() && text[at + 1] == '\n') continue;
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) {
      return unusable(fmt::format("line {} of the code: the control character 0x{:02x}",
                                  1 + std::ranges::count(out, '\n'), c));
    }
    out += text[at];
  }
  if (!out.empty() && out.back() != '\n') out += '\n';
  return out;
}

// A comment's lines, those below its heading that are indented as the first of them or deeper, and
// the code without them.
struct Parts {
  std::string comment;
  std::string module;
};

std::size_t indentation(std::string_view line) {
  if (!line.starts_with('#')) return 0;
  const std::size_t first = line.find_first_not_of(" \t", 1);
  return first == std::string_view::npos || line[first] == '\n' ? 0 : first - 1;
}

Parts parts_of(std::string_view code) {
  Parts parts;
  std::size_t least = 0;
  bool within = false;
  while (!code.empty()) {
    const std::string_view line = code.substr(0, std::min(code.find('\n'), code.size() - 1) + 1);
    code.remove_prefix(line.size());
    if (parts.comment.empty() && triton::has_header(line)) {
      parts.comment = line;
      within = true;
      continue;
    }
    const std::size_t depth = within ? indentation(line) : 0;
    if (least == 0) least = depth;
    within = within && depth > 0 && depth >= least;
    (within ? parts.comment : parts.module) += line;
  }
  parts.module.erase(0, std::min(parts.module.find_first_not_of('\n'), parts.module.size()));
  return parts;
}

Error must_stay(const std::string& key, const KernelText& shown) {
  KernelText plain = shown;
  plain.module.clear();
  return unusable(
      fmt::format("the comment changes '{}', which must stay as it was:\n{}", key, plain.text()));
}

Result<KernelText> text_of(Parts parts, const KernelText& shown) {
  KernelText text = shown;
  if (parts.comment.empty()) {
    text.module = std::move(parts.module);
    return text;
  }
  if (parts.comment.size() > kLongestComment) {
    return unusable(fmt::format("the comment '# regraph-triton:' is too long: {} bytes, at most {}",
                                parts.comment.size(), kLongestComment));
  }
  KernelText unsaid = shown;
  unsaid.constants.clear();
  auto said = triton::parse_kernel_text(parts.comment, unsaid);
  if (!said) return unusable(said.error().message);
  if (said->kernel != shown.kernel) return must_stay("kernel", shown);
  if (said->parameters != shown.parameters) return must_stay("signature", shown);
  if (said->arguments != shown.arguments) return must_stay("arguments", shown);
  for (auto& [name, value] : said->constants)
    text.constants[name] = value;
  text.grid = said->grid;
  text.warps = said->warps;
  text.stages = said->stages;
  text.ctas = said->ctas;
  if (!is_blank(parts.module)) text.module = std::move(parts.module);
  return text;
}

}  // namespace

Result<std::string> triton_source(const AnswerDraft& draft, std::string_view shown,
                                  std::size_t limit) {
  auto before = triton::parse_kernel_text(shown);
  if (!before) return before.error();
  std::string code = draft.code;
  if (!draft.edits.empty()) {
    auto edited = apply_edits(shown, draft.edits);
    if (!edited) return edited.error();
    code = *std::move(edited);
  }
  auto plain = plain_module(code, limit);
  if (!plain) return plain.error();
  if (is_blank(*plain)) return unusable("the answer holds no code: its block is empty");
  auto text = text_of(parts_of(*plain), *before);
  if (!text) return text.error();
  // Parameters that the kernel has no more.
  std::erase_if(text->constants, [&](const auto& constant) {
    return before->constants.contains(constant.first) &&
           text->module.find(constant.first) == std::string::npos;
  });
  if (!triton_code().defines(text->module, text->kernel)) {
    return unusable(
        fmt::format("the function '{}' under @triton.jit is missing; keep its name and give {}",
                    text->kernel, triton_code().whole));
  }
  if (auto plan = text->launch(0); !plan) return unusable(plan.error().message);
  return text->text();
}

}  // namespace regraph::llm
