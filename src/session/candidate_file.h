// A kernel that somebody wrote by hand, to be judged against another one.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "kernel/candidate.h"
#include "session/session_error.h"

#include <string>
#include <vector>

namespace regraph {

class Session;  // session/session.h

struct CandidateFileOptions {
  std::string file;
  std::vector<std::string> include_directories;
  std::vector<std::string> defines;
  std::string block;  // "32x8"; empty: what the file's manifest says, else the original's
};

// The device code of the file with its own headers put in, launched as the manifest beside it or in
// its first comment says, else as the original is. Of several launches only the text may be
// another. Errors: usage (an option, a file or manifest that cannot be read), unusable_kernel (no
// kernel of the original's name in it, other parameters, a launch that cannot be).
[[nodiscard]] Result<Candidate, SessionError> read_candidate_file(
    const Session& session, const CandidateFileOptions& options, const Cancellation& cancellation);

// The same of a text, for answers that are data. `name` is for messages; `launch` is {block, grid,
// smem} as YAML or JSON, empty: the original's.
[[nodiscard]] Result<Candidate, SessionError> read_candidate_text(const Session& session,
                                                                  const std::string& name,
                                                                  const std::string& source,
                                                                  const std::string& launch,
                                                                  const Cancellation& cancellation);

}  // namespace regraph
