// The winner as a patch of the files that the user wrote.
#pragma once

#include "report/hand_back_report.h"
#include "search/outcome.h"
#include "session/opened_problem.h"

#include <filesystem>
#include <string>
#include <vector>

namespace regraph {

struct PatchedFile {
  std::filesystem::path path;
  std::string text;  // as it is to be
};

struct WinnerPatch {
  HandBackReport report;
  std::filesystem::path source;    // the user's file that was searched; empty: none is known
  std::vector<PatchedFile> files;  // those that change; none without a patch
};

// The file of the user's that the problem was cut from: not the copy in a captured folder.
[[nodiscard]] std::filesystem::path user_source(const OpenedProblem& opened);

// Reads the user's files as they are now. `folders`: further ones of their headers. `speedup`, in
// words, goes into the comment above the kernel.
[[nodiscard]] WinnerPatch make_winner_patch(const OpenedProblem& opened, const Candidate& winner,
                                            const std::vector<std::filesystem::path>& folders,
                                            const std::string& speedup);

}  // namespace regraph
