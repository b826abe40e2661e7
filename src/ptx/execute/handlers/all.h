// Everything a handler set consists of; the parts build on one another in this order.
// clang-format off
#include "ptx/execute/handlers/lane_types.h"
#include "ptx/execute/handlers/approximations.h"
#include "ptx/execute/handlers/functions.h"
#include "ptx/execute/handlers/bit_functions.h"
#include "ptx/execute/handlers/arithmetic.h"
#include "ptx/execute/handlers/conversion.h"
#include "ptx/execute/handlers/memory.h"
#include "ptx/execute/handlers/tables.h"
// clang-format on
