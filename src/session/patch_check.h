// The user's own build and test of a patched copy of their files.
#pragma once

#include "base/cancellation.h"
#include "report/hand_back_report.h"
#include "session/installation.h"
#include "session/opened_problem.h"
#include "session/winner_patch.h"

#include <filesystem>
#include <string>

namespace regraph {

struct CheckRequest {
  std::string command;              // for sh -c
  double seconds = 600.0;           // that each run may take
  std::filesystem::path directory;  // that the user would type it in
  bool on_gpu = false;              // else our CUDA runtime runs kernels on the interpreter
};

// Copies the folder that `directory` and the user's source have in common, runs the command there
// as it is and once more with the patch, and compares. Copies are removed again, whatever happens.
[[nodiscard]] CheckReport check_patch(const CheckRequest& request, const WinnerPatch& patch,
                                      const OpenedProblem& opened, const Installation& installation,
                                      const Cancellation& cancellation);

// The folder that is copied for a command typed in `directory` about the file `source`, both
// absolute: `directory` where the source lies below it, a folder not far above both, else the
// source's own.
[[nodiscard]] std::filesystem::path folder_to_copy(const std::filesystem::path& directory,
                                                   const std::filesystem::path& source);

}  // namespace regraph
