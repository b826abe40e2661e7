// Everything a handler set consists of; the parts build on one another in this order.
// clang-format off
#include "ptx/handlers/lane_types.h"
#include "ptx/handlers/approximations.h"
#include "ptx/handlers/functions.h"
#include "ptx/handlers/bit_functions.h"
#include "ptx/handlers/arithmetic.h"
#include "ptx/handlers/conversion.h"
#include "ptx/handlers/memory.h"
#include "ptx/handlers/tables.h"
// clang-format on
