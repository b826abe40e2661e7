#include "eval/verify/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

namespace regraph::verify {

namespace {

struct Feature {
  std::string_view token;
  std::string_view why;
};

constexpr std::string_view kClock = "reads a clock: results must not depend on time";
constexpr std::string_view kIdentity = "asks which launch or multiprocessor it runs on";
constexpr std::string_view kCache = "steers what stays in the cache between launches";
constexpr std::string_view kTiming = "changes when the launch counts as finished, or waits";
constexpr std::string_view kCall = "calls into the runtime, which a kernel under test must not";

// Special registers and called functions, as whole tokens.
constexpr std::array<Feature, 16> kTokens = {{
    {"%clock", kClock},
    {"%clock_hi", kClock},
    {"%clock64", kClock},
    {"%globaltimer", kClock},
    {"%globaltimer_lo", kClock},
    {"%globaltimer_hi", kClock},
    {"%smid", kIdentity},
    {"%nsmid", kIdentity},
    {"%gridid", kIdentity},
    {"vprintf", kCall},
    {"malloc", kCall},
    {"free", kCall},
    {"cudaLaunchDevice", kCall},
    {"cudaLaunchDeviceV2", kCall},
    {"cudaGetParameterBuffer", kCall},
    {"cudaGetParameterBufferV2", kCall},
}};

// Parts of opcodes between dots.
constexpr std::array<Feature, 7> kOpcodeParts = {{
    {"nanosleep", kTiming},
    {"brkpt", kTiming},
    {"griddepcontrol", kTiming},
    {"createpolicy", kCache},
    {"applypriority", kCache},
    {"discard", kCache},
    {"evict_last", kCache},
}};

bool is_token_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%' || c == '.';
}

// All tokens of a PTX text, and the dot-separated parts of those that have dots. Comments and
// strings are skipped: a file name is no instruction.
std::set<std::string_view> tokens_of(std::string_view ptx) {
  std::set<std::string_view> tokens;
  for (std::size_t i = 0; i < ptx.size();) {
    if (ptx.substr(i, 2) == "//") {
      i = std::min(ptx.find('\n', i), ptx.size());
    } else if (ptx.substr(i, 2) == "/*") {
      const std::size_t end = ptx.find("*/", i + 2);
      i = end == std::string_view::npos ? ptx.size() : end + 2;
    } else if (ptx[i] == '"') {
      const std::size_t end = ptx.find('"', i + 1);
      i = end == std::string_view::npos ? ptx.size() : end + 1;
    } else if (!is_token_character(ptx[i])) {
      ++i;
    } else {
      const std::size_t start = i;
      while (i < ptx.size() && is_token_character(ptx[i]))
        ++i;
      std::string_view token = ptx.substr(start, i - start);
      tokens.insert(token);
      while (!token.empty()) {
        const std::size_t dot = token.find('.');
        tokens.insert(token.substr(0, dot));
        token.remove_prefix(dot == std::string_view::npos ? token.size() : dot + 1);
      }
    }
  }
  return tokens;
}

// Names of variables declared in global memory without a value: ".global .align 4 .u32 flag;".
// Those with a value are tables. The compiler's own tables start with "__cudart".
std::set<std::string> mutable_globals(std::string_view ptx) {
  constexpr std::string_view kDeclaration = ".global .";
  std::set<std::string> names;
  for (std::size_t at = ptx.find(kDeclaration); at != std::string_view::npos;
       at = ptx.find(kDeclaration, at + 1)) {
    const std::string_view declaration = ptx.substr(at, ptx.find(';', at) - at);
    if (declaration.find('=') != std::string_view::npos) continue;
    std::size_t end = declaration.find('[');
    if (end == std::string_view::npos) end = declaration.size();
    while (end > 0 && !is_token_character(declaration[end - 1]))
      --end;
    std::size_t start = end;
    while (start > 0 && is_token_character(declaration[start - 1]))
      --start;
    names.emplace(declaration.substr(start, end - start));
  }
  return names;
}

}  // namespace

std::optional<std::string> find_forbidden(std::string_view candidate_ptx,
                                          std::string_view original_ptx) {
  const std::set<std::string_view> candidate = tokens_of(candidate_ptx);
  const std::set<std::string_view> original = tokens_of(original_ptx);
  for (const auto& features :
       {std::span<const Feature>(kTokens), std::span<const Feature>(kOpcodeParts)}) {
    for (const Feature& feature : features) {
      if (candidate.count(feature.token) == 0 || original.count(feature.token) != 0) continue;
      return fmt::format("the kernel uses '{}', which the original does not: it {}", feature.token,
                         feature.why);
    }
  }
  const std::set<std::string> known = mutable_globals(original_ptx);
  for (const std::string& name : mutable_globals(candidate_ptx)) {
    if (known.count(name) != 0) continue;
    return fmt::format(
        "the kernel has the __device__ variable '{}', which the original does not: it "
        "could carry results from one launch to the next",
        name);
  }
  return std::nullopt;
}

}  // namespace regraph::verify
