// Lengths that were inferred, put plainly.
#pragma once

#include "infer/infer_manifest.h"
#include "kernel/manifest.h"

#include <string>
#include <vector>

namespace regraph {

// Lengths with quotients, such as (B * T - 1) / T * T + T, that are a product of sizes at whatever
// sizes, become that product, in notes too. Those of `given` stay as they are. `small` are sizes
// that others are larger than.
void put_lengths_plainly(const Manifest& given, const std::vector<std::string>& small,
                         infer::InferredManifest& inferred);

}  // namespace regraph
