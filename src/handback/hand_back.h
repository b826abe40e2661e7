// A winner put back into the files that the user wrote: its kernel in the original's place, and the
// launches as it needs them.
#pragma once

#include "handback/launch_edit.h"
#include "kernel/candidate.h"
#include "kernel/problem.h"

#include <string>
#include <vector>

namespace regraph::handback {

struct UserFile {
  std::string name;  // for messages
  std::string text;
};

struct HandBackRequest {
  const Problem& problem;
  const Candidate& winner;
  std::vector<UserFile> files;       // one of them defines the kernel, others may launch it
  std::vector<std::string> remarks;  // lines of the comment above the kernel
  bool overlap_is_known = false;     // a run of the program showed which buffers overlap
};

struct ChangedLaunch {
  std::string file;
  int line = 0;        // in the user's file
  std::string before;  // between "<<<" and ">>>"
  std::string after;
};

struct HandedBack {
  std::vector<std::string> texts;  // of the files as they are to be, in order
  std::vector<ChangedLaunch> launches;
  std::vector<std::string> notes;  // what was taken for granted
};

// Errors say why it cannot be done by itself: unsupported; not_found (no file defines the kernel as
// it was searched). Files are changed in nothing else: comments, other kernels and launches stay.
[[nodiscard]] Result<HandedBack> hand_back(const HandBackRequest& request);

}  // namespace regraph::handback
