// The entries of known_devices(), each number with its source.
#pragma once

#include "eval/model/device.h"

#include <vector>

namespace regraph {

// The device that this project measured, which others are scaled from.
[[nodiscard]] DeviceSpec make_h200();

// With HBM: A100 to B300. The first of an architecture is the one `sm_XX` names, here and below.
[[nodiscard]] std::vector<DeviceSpec> make_data_centre_devices();
// With GDDR memory: Turing to RTX Blackwell.
[[nodiscard]] std::vector<DeviceSpec> make_card_devices();

}  // namespace regraph
