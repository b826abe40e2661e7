// Stands between the coordinator and a worker that runs under another program, such as a checking
// tool: whatever that program starts, and however it ends, nothing outlives the keeper.
#pragma once

namespace regraph::gpu::worker {

// Runs `program` (a path and its arguments, null-terminated) with this process's standard streams
// and environment. When it ends, when SIGTERM comes, or when the thread that started this process
// is gone, all descendants are killed, those that left the process group or lost their parent too.
// Returns the exit code: the program's, 128 and the signal that ended it, or 127.
int keep(char* const* program);

}  // namespace regraph::gpu::worker
