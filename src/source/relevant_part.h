// What of some device code matters to a few of its kernels, to be shown to a language model: files
// hold other kernels, their helpers and licences, which cost tokens and mislead.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

// Made by relevant_part; what is not shown is of use to put_back alone.
struct RelevantPart {
  std::string shown;
  std::string whole;     // the source without #line directives
  std::string head;      // comments on top of it that are not shown
  std::string left_out;  // declarations that are not shown, in order, as they may follow the rest
  std::vector<std::string> words;  // what those mention, also through what is shown; sorted

  // Whether nothing at all was left out.
  [[nodiscard]] bool is_whole() const { return shown == whole; }
};

// Returns what `kernels`, plain names, need of `source`: every declaration and macro that they
// mention, directly or through others, with the scopes around them, and what works without being
// mentioned (#include, #pragma, using namespace, operators). A group of conditional lines counts as
// one. Comments within what is kept stay, and so do those directly above it or behind it on its
// line, but for licences. Declarations keep their order and text. Deterministic and near linear.
// Everything is shown where the source cannot be taken apart safely (code_items.h), no kernel is
// named or one is not declared in it, or a macro that is needed makes names with ##.
[[nodiscard]] RelevantPart relevant_part(std::string_view source,
                                         std::span<const std::string> kernels);

// Returns the whole source again where `answer` has the tokens of `part.shown`; else `answer` with
// what was left out behind it. Nothing where that might not compile or mean something else: the
// answer cannot be taken apart, it defines a name that stands in what was left out, or defines
// something that this uses otherwise than it was shown, or not at all.
[[nodiscard]] std::optional<std::string> put_back(const RelevantPart& part,
                                                  std::string_view answer);

}  // namespace regraph::source
