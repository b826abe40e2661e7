#include "kernel/launch_plan.h"

namespace regraph {}
