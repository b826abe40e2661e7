// For code of others that calls itself once a level of what it reads, and for what follows it.
#pragma once

#include <cstddef>
#include <functional>

namespace regraph {

// Runs `work` to its end on a stack of its own of so many bytes, which cost memory where they are
// touched. On the caller's stack where no such thread can be had.
void run_on_large_stack(std::size_t bytes, const std::function<void()>& work);

}  // namespace regraph
