// Sees to it that a compile's folder goes when the program that made it is killed.
#pragma once

#include <string>
#include <sys/types.h>

namespace regraph::compile_internal {

// To be called before `keep_folder` starts anything: from here on the end of the program that
// started this one is a signal that waits to be looked at, not the end of this process.
void expect_orphanage();

// Undoes that in a child.
void stop_expecting_orphanage();

// Waits for the child and ends as it ended. When the program that started this one goes first, all
// of this process group is ended and the folder removed.
[[noreturn]] void keep_folder(const std::string& folder, pid_t child);

}  // namespace regraph::compile_internal
