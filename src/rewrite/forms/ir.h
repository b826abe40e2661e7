// The kernel IR and its analysis under their own names: what a rewriter is written in.
#pragma once

#include "affine/ir.h"

namespace regraph::rewrite {

using namespace source;
using namespace affine;

}  // namespace regraph::rewrite
