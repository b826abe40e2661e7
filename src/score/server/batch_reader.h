// Bodies of requests as items.
#pragma once

#include "base/result.h"
#include "learn/reward.h"
#include "score/score_item.h"
#include "score/server/reward_service.h"

#include <string_view>
#include <vector>

namespace regraph::score {

struct BatchRequest {
  learn::RewardKind kind = learn::RewardKind::regraph;
  std::vector<ScoreItem> items;
};

// As RewardService::admit and admit_queries take them. Refused with 400 and 413.
[[nodiscard]] Result<BatchRequest, Refusal> read_batch(std::string_view body);
[[nodiscard]] Result<BatchRequest, Refusal> read_queries(std::string_view body);

}  // namespace regraph::score
