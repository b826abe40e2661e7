// Items as parts of larger JSON.
#pragma once

#include "base/result.h"
#include "score/score_item.h"

#include <nlohmann/json.hpp>

#include <cstddef>

namespace regraph::score {

inline constexpr std::size_t kLargestCompletion = std::size_t{1} << 20;  // bytes
inline constexpr std::size_t kLargestName = 1024;  // bytes of an item's id or state

// An object as read_item takes it. `cut_off` may be left out. Errors: parse (names the key).
[[nodiscard]] Result<ScoreItem> item_of(const nlohmann::ordered_json& json);

[[nodiscard]] nlohmann::ordered_json json_of(const Score& score);
// Errors: parse.
[[nodiscard]] Result<Score> score_of(const nlohmann::ordered_json& json);

}  // namespace regraph::score
