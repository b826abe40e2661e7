// What a user is told of predicted times.
#pragma once

#include "eval/model/device.h"

#include <string>

namespace regraph {

// "times are predicted by the model, no GPU was used", and where the device's numbers were not
// measured, that.
[[nodiscard]] std::string predicted_text(const DeviceSpec& device);

}  // namespace regraph
