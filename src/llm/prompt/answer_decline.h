// Answers that say no: the step is of no use to this kernel, or cannot be sound. A good answer,
// where it is true, and a cheap one.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace regraph::llm {

// Returns the reason given by a line "DECLINE: reason" of `prose`: the first such line, in letters
// of either case, perhaps in bold, as a heading or as an item of a list. The reason reaches to the
// end of the paragraph. As from decline_reason. Linear.
[[nodiscard]] std::optional<std::string> decline_in(std::string_view prose);

// Returns the reason under the key `declined` or `decline` of an object. Nothing: there is no such
// key, or it says false or null.
[[nodiscard]] std::optional<std::string> decline_of_object(const nlohmann::json& object);

// Whether all there is to `text` is one paragraph that declines.
[[nodiscard]] bool only_declines(std::string_view text);

// Returns `words` on one line of at most 300 bytes, without the marks of emphasis around them; "no
// reason given" where nothing is left.
[[nodiscard]] std::string decline_reason(std::string_view words);

}  // namespace regraph::llm
