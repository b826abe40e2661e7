#include "llm/prompt/code_language.h"

#include "llm/prompt/code_tokens.h"
#include "llm/prompt/kernel_head.h"
#include "llm/prompt/plain_source.h"
#include "triton/kernel_text.h"

#include <algorithm>
#include <array>
#include <vector>

namespace regraph::llm {

namespace {

bool is_cuda_fence(std::string_view word) {
  constexpr auto kNames = std::to_array<std::string_view>({"", "c", "c++", "cc", "cpp", "cxx"});
  return word.substr(0, 2) == "cu" || std::ranges::find(kNames, word) != kNames.end();
}

bool defines_cuda_kernel(std::string_view code, std::string_view kernel) {
  const Result<std::string> plain = plain_source(code, code.size());
  // What is wrong with it is said later; here it only has to be told from others.
  if (!plain) return code.find("__global__") != std::string_view::npos;
  const std::vector<std::string_view> tokens = code_tokens(*plain);
  const std::vector<KernelHead> heads = kernel_heads(tokens);
  return std::ranges::any_of(heads, [&](const KernelHead& head) {
    return head.has_body && (kernel.empty() || head.name == kernel);
  });
}

bool is_python_fence(std::string_view word) {
  return word.empty() || word.starts_with("py") || word == "triton";
}

// A line "def kernel(" that is not indented.
bool defines_python_function(std::string_view code, std::string_view kernel) {
  constexpr std::string_view kDefine = "def ";
  while (!code.empty()) {
    const std::string_view line = code.substr(0, code.find('\n'));
    code.remove_prefix(std::min(line.size() + 1, code.size()));
    if (!line.starts_with(kDefine)) continue;
    std::string_view name = line.substr(kDefine.size());
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    const std::string_view rest = name.substr(std::min(name.find_first_of(" ("), name.size()));
    if (rest.empty()) continue;
    if (kernel.empty() || name.substr(0, name.size() - rest.size()) == kernel) return true;
  }
  return false;
}

constexpr CodeLanguage kCuda = {
    is_cuda_fence,
    defines_cuda_kernel,
    "__global__",
    "all of the device code",
    "give the whole device code in a ```cuda block, or search-and-replace blocks "
    "(<<<<<<< SEARCH, lines as they stand in the code, =======, new lines, >>>>>>> REPLACE)",
    true};
constexpr CodeLanguage kTriton = {
    is_python_fence,
    defines_python_function,
    "@triton.jit",
    "the whole module and its comment",
    "give the whole module with its comment in a ```python block, or search-and-replace blocks "
    "(<<<<<<< SEARCH, lines as they stand in the code, =======, new lines, >>>>>>> REPLACE)",
    false};

}  // namespace

const CodeLanguage& cuda_code() {
  return kCuda;
}

const CodeLanguage& triton_code() {
  return kTriton;
}

const CodeLanguage& language_of(const Candidate& candidate) {
  return triton::has_header(candidate.source) ? kTriton : kCuda;
}

}  // namespace regraph::llm
