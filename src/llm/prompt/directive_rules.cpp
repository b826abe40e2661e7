#include "llm/prompt/directive_rules.h"

#include "llm/prompt/code_tokens.h"
#include "llm/prompt/prompt_text.h"
#include "source/reserved_names.h"
#include "source/top_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace regraph::llm {

namespace {

constexpr std::size_t kShownOfDirective = 80;

Error wrong(std::string what) {
  return fail(ErrorCode::parse, std::move(what));
}

Status check_include(std::string_view rest) {
  const std::size_t first = rest.find_first_not_of(" \t");
  const char open = first == std::string_view::npos ? '\0' : rest[first];
  const std::size_t close =
      open == '<' || open == '"' ? rest.find(open == '<' ? '>' : '"', first + 1) : first;
  if (close == std::string_view::npos || close == first) {
    return wrong("#include needs a header's name in <> or quotes");
  }
  const std::string_view header = rest.substr(first + 1, close - first - 1);
  if (!is_allowed_header(header)) {
    return wrong(
        fmt::format("#include of '{}' is not accepted", one_line(header, kShownOfDirective)));
  }
  const std::size_t after = rest.find_first_not_of(" \t", close + 1);
  if (after != std::string_view::npos && rest[after] != '/') {
    return wrong("something stands after the #include's header");
  }
  return {};
}

Status check_macro(const std::vector<std::string_view>& words) {
  // "#", "define", NAME, ...
  const std::string_view name = words.size() > 2 ? words[2] : std::string_view();
  if (!is_name(name)) return wrong("a macro needs a name");
  // The checks and the verifier rely on what these mean.
  if (source::is_reserved_name(name)) {
    return wrong(fmt::format("the macro '{}' gives a reserved name another meaning",
                             one_line(name, kShownOfDirective)));
  }
  for (std::size_t place = 3; place + 1 < words.size(); ++place) {
    if (words[place] == "#" && words[place + 1] == "#") {
      return wrong("token pasting (##) is not accepted");
    }
    if (words[place] == "%" && words[place + 1] == ":") {
      return wrong("the digraph '%:'; write the character itself");
    }
  }
  return {};
}

}  // namespace

bool is_allowed_header(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>({"cuda_fp16.h",
                                                           "cuda_fp8.h",
                                                           "cuda_bf16.h",
                                                           "cuda_pipeline.h",
                                                           "mma.h",
                                                           "cooperative_groups.h",
                                                           "cuda/pipeline",
                                                           "cuda/barrier",
                                                           "cuda/std/cstdint",
                                                           "cuda/std/limits",
                                                           "cuda/std/cmath",
                                                           "cooperative_groups/memcpy_async.h",
                                                           "cooperative_groups/reduce.h",
                                                           "math_constants.h",
                                                           "cuda_runtime.h",
                                                           "cstdint",
                                                           "stdint.h",
                                                           "cfloat",
                                                           "float.h",
                                                           "climits",
                                                           "limits.h",
                                                           "cmath",
                                                           "math.h",
                                                           "cstddef",
                                                           "stddef.h",
                                                           "type_traits"});
  return std::ranges::find(kNames, name) != kNames.end();
}

Status check_directive(std::string_view directive) {
  const std::vector<std::string_view> words = code_tokens(directive);
  const std::string_view name = source::directive_name(directive);
  if (name == "include") return check_include(directive.substr(directive.find("include") + 7));
  if (name == "define" || name == "undef") return check_macro(words);
  if (name == "pragma") {
    const std::string_view what = words.size() > 2 ? words[2] : std::string_view();
    if (what == "unroll" || what == "nounroll") return {};
    return wrong("#pragma other than unroll is not accepted");
  }
  constexpr auto kHarmless =
      std::to_array<std::string_view>({"if", "ifdef", "ifndef", "elif", "else", "endif", "error"});
  if (std::ranges::find(kHarmless, name) != kHarmless.end()) return {};
  return wrong(fmt::format("the preprocessor line '{}' is not accepted",
                           one_line(directive, kShownOfDirective)));
}

}  // namespace regraph::llm
