// Reads what compute-sanitizer writes.
#pragma once

#include <string>
#include <string_view>

namespace regraph::gpu {

struct SanitizerLog {
  bool complete = false;      // it has the summary, and nothing says that the tool failed
  int errors = 0;             // by the summary; hazards that are mere warnings do not count
  int warnings = 0;           // hazards that may be intended (racecheck)
  std::string first_finding;  // in one line with place and thread; empty: none
  std::string trouble;        // what the tool says of itself when it fails; empty: nothing
};

// Takes any text: a log that was cut off, of another version, or of another program.
[[nodiscard]] SanitizerLog read_sanitizer_log(std::string_view text);

}  // namespace regraph::gpu
