// How the program that a kernel was captured from behaved with the winner in it.
#pragma once

#include <cstdint>
#include <string>

namespace regraph {

struct ProgramRunReport {
  bool ran = false;            // else `trouble` says why not
  bool same = false;           // it behaved as it does without
  std::string trouble;         // why it did not run, or what was different
  std::uint64_t replaced = 0;  // launches of the winner
  std::uint64_t kept = 0;      // launches that the winner cannot stand in for
  double seconds = 0.0;        // of the run
};

}  // namespace regraph
