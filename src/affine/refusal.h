// How an analysis says no.
#pragma once

#include "base/result.h"

#include <string>
#include <utility>

namespace regraph::affine {

// Shorthand for a refusal: a reason a person can act on.
[[nodiscard]] inline Error refuse(std::string reason) {
  return Error{ErrorCode::refused, std::move(reason)};
}

}  // namespace regraph::affine
