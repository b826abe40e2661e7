// Short loops that go through small arrays of indices, written out.
#pragma once

#include "rewrite/forms/small_tables.h"

namespace regraph::rewrite {

// Returns the kernel's body with a copy for each iteration of loops of constant length that ask a
// table by their counter and do nothing but index arithmetic: they change integers of the thread,
// elements of tables among them, and read no memory.
[[nodiscard]] source::Block with_table_loops_written(const source::Kernel& kernel,
                                                     const Tables& tables);

}  // namespace regraph::rewrite
