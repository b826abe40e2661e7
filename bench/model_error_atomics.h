// The model against the table of bench/h200/atomics.txt.
#pragma once

#include "eval/compile/compiler.h"
#include "eval/model/device.h"

#include <string>

namespace regraph {

// Predicts every entry of atomics.txt in `folder` (with a slash at its end) and prints nanoseconds
// an atomic, measured and predicted, and the errors. Returns false, having said why on standard
// error, when a kernel cannot be predicted; - stands for what the model does not support.
bool compare_atomics(Compiler& compiler, const DeviceSpec& device, const std::string& folder);

}  // namespace regraph
