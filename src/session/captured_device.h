// A device as a captured program is told of it.
#pragma once

#include "capture/runtime/protocol.h"
#include "eval/model/device.h"

namespace regraph {

// What the runtime answers when the program asks for the device's properties.
[[nodiscard]] capture::DeviceFacts facts_of(const DeviceSpec& device);

}  // namespace regraph
