// What a launch in the user's file has to become for a winner.
#pragma once

#include "base/result.h"
#include "handback/launch_sites.h"
#include "kernel/launch_plan.h"
#include "kernel/problem.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph::handback {

struct LaunchBeforeAndAfter {
  const Problem& problem;
  const Launch& before;  // of the original, as the search had it
  const Launch& after;   // of the winner

  // Whether a launch as `before` is one as `after`, too.
  [[nodiscard]] bool same() const;
};

struct EditedLaunch {
  std::string shape;               // what is to stand between "<<<" and ">>>"; empty: what is there
  std::vector<std::string> notes;  // what was taken for granted
};

// The text for one launch. Errors, with the reason: unsupported.
[[nodiscard]] Result<EditedLaunch> edit_launch(const LaunchSite& site,
                                               const LaunchBeforeAndAfter& change);

// "block 32 x 8, grid cdiv(m, 8) x 1 x 1, 0 bytes of dynamic shared memory".
[[nodiscard]] std::string launch_text(const Launch& launch);

}  // namespace regraph::handback
