// How things are called on the server.
#pragma once

#include "base/hash.h"

#include <optional>
#include <string>
#include <string_view>

namespace regraph::fleet {

inline constexpr const char* kJobStream = "regraph_jobs";
inline constexpr const char* kResultBucket = "regraph_results";
inline constexpr const char* kBlobBucket = "regraph_blobs";
inline constexpr const char* kWorkerBucket = "regraph_workers";
inline constexpr const char* kFailureBucket = "regraph_failures";

// A lane as a part of a subject and as a consumer's name: a '.' would divide it. Lanes have no '_'.
[[nodiscard]] std::string lane_token(std::string_view lane);

// "regraph.jobs.<token>.<id>": one subject a job, so that the server itself refuses a second copy.
[[nodiscard]] std::string job_subject(std::string_view lane, const Hash128& id);
[[nodiscard]] std::string lane_subjects(std::string_view lane);  // all jobs of the lane
// Nothing where it is no job of that lane.
[[nodiscard]] std::optional<Hash128> job_of_subject(std::string_view subject,
                                                    std::string_view lane);

// Where it is said, to whoever listens, that a result is there.
[[nodiscard]] std::string done_subject(const Hash128& id);
inline constexpr const char* kAllDone = "regraph.done.*";
[[nodiscard]] std::optional<Hash128> job_of_done(std::string_view subject);

}  // namespace regraph::fleet
