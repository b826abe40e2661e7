// The GPU that is here, as the timing model sees it.
#pragma once

#include "eval/gpu/protocol/messages.h"
#include "eval/model/device.h"

#include <string_view>

namespace regraph::gpu {

// The device of known_devices() that `gpu` is: by name, else the first of its architecture, else
// the one whose architecture is nearest. Where it is not the very device, the figures that the
// driver knows (SMs, clock, L2, memory bandwidth) are put in place of the table's; the rest is then
// a guess, and so are predictions.
[[nodiscard]] DeviceSpec model_of(const DeviceProperties& gpu);

// Whether times taken on `gpu` are times of the device a user named: by its name ("h200" for
// "NVIDIA H200") or architecture ("sm_90").
[[nodiscard]] bool is_device(const DeviceProperties& gpu, std::string_view name);

}  // namespace regraph::gpu
