// The winner in the user's own files, and what their own check said of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

// A launch in the user's files that the winner needs changed; texts between "<<<" and ">>>".
struct HandedLaunch {
  std::string file;
  int line = 0;
  std::string before;
  std::string after;
};

struct HandBackReport {
  std::string patch;               // unified diff for patch -p1; empty: `why_not` says why
  std::string why_not;             // and what is to be done by hand
  std::string folder;              // that it is applied in; empty: the current one
  std::vector<std::string> files;  // that it changes, below that folder
  std::vector<HandedLaunch> launches;
  std::vector<std::string> notes;  // what was taken for granted
};

// The user's own command in a copy of their files, as they are and with the patch.
struct CheckReport {
  std::string command;
  bool ran = false;     // both times; else `trouble` says why not
  bool same = false;    // with the patch it ended with 0 and wrote what it wrote before
  std::string trouble;  // why it did not run, or what was different
  std::optional<int> baseline_exit_code;  // 128 and the signal where one ended it
  std::optional<int> patched_exit_code;
  double baseline_seconds = 0.0;
  double patched_seconds = 0.0;
  bool on_gpu = false;  // else kernels ran on the interpreter
  // Of the kernel, with the patch; none where nobody counts: on a GPU, or where it did not run.
  std::optional<std::uint64_t> launches;
  std::vector<std::string> notes;
};

}  // namespace regraph
