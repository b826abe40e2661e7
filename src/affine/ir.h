// The kernel IR under its own names: what is analysed here.
#pragma once

#include "source/ir.h"

namespace regraph::affine {

using namespace source;

}  // namespace regraph::affine
