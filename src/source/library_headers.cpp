#include "source/library_headers.h"

#include "kernel/pytorch_headers.h"
#include "source/device_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>

namespace regraph::source {
namespace {

struct HeaderOfName {
  std::string_view name;  // (fits_name)
  std::string_view header;
};

constexpr HeaderOfName kStandardNames[] = {
    {"is_*", "type_traits"},
    {"remove_*", "type_traits"},
    {"enable_if*", "type_traits"},
    {"conditional*", "type_traits"},
    {"decay*", "type_traits"},
    {"make_unsigned*", "type_traits"},
    {"make_signed*", "type_traits"},
    {"integral_constant", "type_traits"},
    {"bool_constant", "type_traits"},
    {"true_type", "type_traits"},
    {"false_type", "type_traits"},
    {"void_t", "type_traits"},
    {"common_type*", "type_traits"},
    {"underlying_type*", "type_traits"},
    {"numeric_limits", "limits"},
    {"pair", "utility"},
    {"make_pair", "utility"},
    {"swap", "utility"},
    {"move", "utility"},
    {"forward", "utility"},
    {"exchange", "utility"},
    {"declval", "utility"},
    {"index_sequence", "utility"},
    {"make_index_sequence", "utility"},
    {"clamp", "algorithm"},
    {"fill", "algorithm"},
    {"fill_n", "algorithm"},
    {"copy", "algorithm"},
    {"copy_n", "algorithm"},
    {"lower_bound", "algorithm"},
    {"upper_bound", "algorithm"},
    {"array", "array"},
    {"tuple", "tuple"},
    {"make_tuple", "tuple"},
    {"tie", "tuple"},
    {"complex", "complex"},
    {"plus", "functional"},
    {"minus", "functional"},
    {"multiplies", "functional"},
    {"less", "functional"},
    {"greater", "functional"},
    {"equal_to", "functional"},
    {"less_equal", "functional"},
    {"greater_equal", "functional"},
    {"atomic*", "atomic"},
    {"memory_order*", "atomic"},
};
// The CUDA headers have these without a namespace too.
constexpr HeaderOfName kQualifiedNames[] = {
    {"min", "algorithm"},  {"max", "algorithm"},  {"int*_t", "cstdint"}, {"uint*", "cstdint"},
    {"memcpy", "cstring"}, {"memset", "cstring"}, {"size_t", "cstddef"}, {"ptrdiff_t", "cstddef"},
};
constexpr HeaderOfName kCubNames[] = {
    {"BlockAdjacentDifference*", "cub/block/block_adjacent_difference.cuh"},
    {"BlockDiscontinuity*", "cub/block/block_discontinuity.cuh"},
    {"BlockExchange*", "cub/block/block_exchange.cuh"},
    {"BlockHistogram*", "cub/block/block_histogram.cuh"},
    {"BlockLoad*", "cub/block/block_load.cuh"},
    {"LoadDirect*", "cub/block/block_load.cuh"},
    {"BlockMergeSort*", "cub/block/block_merge_sort.cuh"},
    {"BlockRadixRank*", "cub/block/block_radix_rank.cuh"},
    {"BlockRadixSort*", "cub/block/block_radix_sort.cuh"},
    {"BlockReduce*", "cub/block/block_reduce.cuh"},
    {"BlockRunLengthDecode*", "cub/block/block_run_length_decode.cuh"},
    {"BlockScan*", "cub/block/block_scan.cuh"},
    {"BlockShuffle*", "cub/block/block_shuffle.cuh"},
    {"BlockStore*", "cub/block/block_store.cuh"},
    {"StoreDirect*", "cub/block/block_store.cuh"},
    {"WarpExchange*", "cub/warp/warp_exchange.cuh"},
    {"WarpLoad*", "cub/warp/warp_load.cuh"},
    {"WarpMergeSort*", "cub/warp/warp_merge_sort.cuh"},
    {"WarpReduce*", "cub/warp/warp_reduce.cuh"},
    {"WarpScan*", "cub/warp/warp_scan.cuh"},
    {"WarpStore*", "cub/warp/warp_store.cuh"},
    {"ThreadLoad*", "cub/thread/thread_load.cuh"},
    {"ThreadStore*", "cub/thread/thread_store.cuh"},
    {"ThreadReduce*", "cub/thread/thread_reduce.cuh"},
    {"ThreadScan*", "cub/thread/thread_scan.cuh"},
    {"*", "cub/util_ptx.cuh"},
};
constexpr HeaderOfName kThrustNames[] = {
    {"complex", "thrust/complex.h"},  {"pair", "thrust/pair.h"},
    {"make_pair", "thrust/pair.h"},   {"tuple", "thrust/tuple.h"},
    {"make_tuple", "thrust/tuple.h"}, {"get", "thrust/tuple.h"},
    {"*", "thrust/functional.h"},
};

std::string_view header_of(std::string_view name, std::span<const HeaderOfName> table) {
  const auto found = std::ranges::find_if(
      table, [&](const HeaderOfName& entry) { return fits_name(name, entry.name); });
  return found == table.end() ? std::string_view() : found->header;
}

// The name that a #define gives a meaning to; empty for other directives.
std::string_view defined_macro(std::string_view directive) {
  if (directive_name(directive) != "define") return {};
  const std::string_view rest = directive.substr(directive.find("define") + 6);
  const std::vector<Token> words = tokenize(rest);
  return words.empty() ? std::string_view() : words.front().in(rest);
}

// Reads the names that a sequence of tokens uses.
class UseReader {
 public:
  UseReader(std::string_view text, const std::vector<Token>& tokens,
            const std::vector<TopLevelDeclaration>& declarations, const std::vector<bool>& kept)
      : text_(text), tokens_(tokens), declarations_(declarations), kept_(kept) {
    for (const TopLevelDeclaration& declaration : declarations) {
      declared_.insert(declaration.names.begin(), declaration.names.end());
      if (declaration.kind == DeclarationKind::using_directive)
        opened_.insert(tokens[declaration.last - 2].in(text));
    }
    for (const Token& token : tokens) {
      const std::string_view macro =
          token.kind == TokenKind::directive ? defined_macro(token.in(text)) : std::string_view();
      if (!macro.empty()) declared_.insert(macro);
    }
  }

  LibraryUse run(const std::vector<std::string>& further,
                 const std::vector<std::string>& undefined) {
    for (const std::string& text : further)
      read(text, tokenize(text));
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      const TopLevelDeclaration& declaration = declarations_[i];
      if (!kept_[i] || declaration.kind == DeclarationKind::using_directive) continue;
      if (declaration.kind == DeclarationKind::directive) {
        read_directive(tokens_[declaration.first].in(text_));
      } else {
        read(text_,
             std::span(tokens_).subspan(declaration.first, declaration.last - declaration.first));
      }
    }
    for (const std::string_view header : included_)
      needed_.erase(std::string(header));
    for (const std::string& name : undefined) {
      if (const auto header = header_of_device_name(name, "", true); !header.empty())
        needed_.insert(std::string(header));
    }
    return {{needed_.begin(), needed_.end()}, std::move(namespaces_)};
  }

 private:
  void read_directive(std::string_view directive) {
    if (const std::string_view header = included_header(directive); !header.empty()) {
      included_.insert(header);
    } else if (directive_name(directive) == "define") {
      read(directive.substr(1), tokenize(directive.substr(1)));
    }
  }

  void read(std::string_view text, std::span<const Token> tokens) {
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      if (tokens[at].kind == TokenKind::directive) {
        read_directive(tokens[at].in(text));
      } else if (tokens[at].kind == TokenKind::identifier) {
        read_name(text, tokens, at);
      }
    }
  }

  void read_name(std::string_view text, std::span<const Token> tokens, std::size_t at) {
    const auto word = [&](std::size_t index) {
      return index < tokens.size() ? tokens[index].in(text) : std::string_view();
    };
    const std::string_view name = word(at);
    const std::string_view before = at > 0 ? word(at - 1) : std::string_view();
    if (before == "." || before == "->") return;
    if (before != "::") {
      if (!declared_.contains(name)) need_device(name, "");
      for (const std::string_view library : {"std", "cub", "thrust"}) {
        if (opened_.contains(library) && !declared_.contains(name)) need(library, name, false);
      }
      return;
    }
    // "std::min" and "::std::min", not "cuda::std::min".
    const std::string_view qualifier = at > 1 ? word(at - 2) : std::string_view();
    const bool nested =
        at > 3 && word(at - 3) == "::" && tokens[at - 4].kind == TokenKind::identifier;
    if (!nested) need(qualifier, name, true);
    need_device(name, qualifier);
  }

  void need_device(std::string_view name, std::string_view qualifier) {
    if (const auto header = header_of_device_name(name, qualifier, false); !header.empty())
      needed_.insert(std::string(header));
  }

  void need(std::string_view library, std::string_view name, bool qualified) {
    std::string_view header;
    if (library == "std") {
      header = header_of(name, kStandardNames);
      if (header.empty() && qualified) header = header_of(name, kQualifiedNames);
    } else if (library == "cub" || library == "thrust") {
      const std::span<const HeaderOfName> table =
          library == "cub" ? std::span<const HeaderOfName>(kCubNames) : kThrustNames;
      // Without its namespace any name could be meant, so the table's last entry does not count.
      header = header_of(name, qualified ? table : table.first(table.size() - 1));
    }
    if (header.empty()) return;
    needed_.insert(std::string(header));
    namespaces_.insert(library);
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  const std::vector<TopLevelDeclaration>& declarations_;
  const std::vector<bool>& kept_;
  std::set<std::string_view> declared_;  // by the file, macros too
  std::set<std::string_view> opened_;    // by "using namespace"
  std::set<std::string_view> included_;
  std::set<std::string> needed_;
  std::set<std::string_view> namespaces_;
};

}  // namespace

bool is_device_header(std::string_view name) {
  constexpr std::array<std::string_view, 14> kFamilies = {
      "cuda_fp",          "cuda_bf",        "cooperative_groups", "cuda/",
      "cub/block/",       "cub/warp/",      "cub/thread/",        "nv/",
      "thrust/complex.h", "math_constants", "cuda_pipeline",      "mma.h",
      "curand_",          "cuComplex.h"};
  constexpr std::array<std::string_view, 32> kNames = {"stdint.h",
                                                       "cstdint",
                                                       "inttypes.h",
                                                       "limits.h",
                                                       "climits",
                                                       "float.h",
                                                       "cfloat",
                                                       "math.h",
                                                       "cmath",
                                                       "assert.h",
                                                       "cassert",
                                                       "stddef.h",
                                                       "cstddef",
                                                       "stdio.h",
                                                       "cstdio",
                                                       "stdbool.h",
                                                       "string.h",
                                                       "cstring",
                                                       "type_traits",
                                                       "limits",
                                                       "utility",
                                                       "algorithm",
                                                       "array",
                                                       "functional",
                                                       "initializer_list",
                                                       "cuda_runtime.h",
                                                       "cuda.h",
                                                       "thrust/pair.h",
                                                       "thrust/tuple.h",
                                                       "device_launch_parameters.h",
                                                       "cub/util_type.cuh",
                                                       "cub/util_ptx.cuh"};
  if (name.find("..") != std::string_view::npos) return false;
  return std::ranges::find(kNames, name) != kNames.end() || is_pytorch_header(name) ||
         std::ranges::any_of(kFamilies,
                             [&](std::string_view family) { return name.starts_with(family); });
}

bool is_library_header(std::string_view name) {
  if (name.empty() || name.find("..") != std::string_view::npos) return false;
  constexpr std::array<std::string_view, 4> kFolders = {"thrust/", "cub/", "cuda/", "nv/"};
  // The standard's headers are one word: <vector>.
  return std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; }) ||
         std::ranges::any_of(kFolders,
                             [&](std::string_view folder) { return name.starts_with(folder); });
}

std::string_view included_header(std::string_view directive) {
  if (directive_name(directive) != "include") return {};
  const std::size_t open = directive.find_first_of("<\"");
  const std::size_t close = directive.find_first_of(">\"", open + 1);
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  return directive.substr(open + 1, close - open - 1);
}

std::vector<std::string> unknown_names_of_pytorch(std::string_view text) {
  std::vector<std::string> names;
  const std::vector<Token> tokens = tokenize(text);
  for (std::size_t at = 0; at + 2 < tokens.size(); ++at) {
    const std::string_view qualifier = tokens[at].in(text);
    const bool is_first = at == 0 || tokens[at - 1].in(text) != "::" ||
                          (at > 1 && tokens[at - 2].kind != TokenKind::identifier);
    if (!is_first || (qualifier != "at" && qualifier != "c10" && qualifier != "torch")) continue;
    std::size_t last = at;
    bool is_known = tokens[at + 1].in(text) != "::";
    std::string name(qualifier);
    while (last + 2 < tokens.size() && tokens[last + 1].in(text) == "::") {
      last += 2;
      const std::string_view part = tokens[last].in(text);
      is_known = is_known || !pytorch_header_of(part, true).empty();
      name += "::" + std::string(part);
    }
    if (!is_known && std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
    at = last;
  }
  return names;
}

LibraryUse library_use(std::string_view text, const std::vector<Token>& tokens,
                       const std::vector<TopLevelDeclaration>& declarations,
                       const std::vector<bool>& kept, const std::vector<std::string>& further,
                       const std::vector<std::string>& undefined) {
  return UseReader(text, tokens, declarations, kept).run(further, undefined);
}

}  // namespace regraph::source
