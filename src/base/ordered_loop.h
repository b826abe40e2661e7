// A loop whose iterations have a half that may run side by side and a half that may not.
#pragma once

#include "base/thread_budget.h"

#include <cstddef>
#include <functional>

namespace regraph {

// Calls prepare(i) on this thread and on those to spare, begun in the order of i, and finish(i)
// after it: one after the other, from 0 on, until one returns false or all are done. Alone, this
// thread calls prepare(0), finish(0), prepare(1) and so on. After the last finish those that were
// begun are waited for. What one throws is thrown here once all have returned.
void for_each_in_order(ThreadBudget& threads, std::size_t count,
                       const std::function<void(std::size_t)>& prepare,
                       const std::function<bool(std::size_t)>& finish);

}  // namespace regraph
