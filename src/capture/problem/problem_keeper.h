// Who looks on while a program launches kernels, and makes problem folders of what it saw.
#pragma once

#include "capture/device/launch_observer.h"
#include "capture/problem/captured_kernel.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace regraph::capture {

struct KeepOptions {
  std::filesystem::path folder;  // a folder for each problem comes in here
  std::string kernel;            // those alone whose name contains this; empty: all
  std::uint64_t launch = 0;      // this one of each kernel, from 1; 0: the first and the largest
  // Kernels that are launched one after the other and are to be one problem, by name; empty: each
  // kernel is one.
  std::vector<std::string> sequence = {};
  std::uint64_t most_bytes = std::uint64_t{1} << 30;  // of contents, a problem
  std::uint64_t most_bytes_in_all = std::uint64_t{4} << 30;
};

struct KeptFolder {
  std::filesystem::path path;
  CapturedKernel kernel;
};

// Not thread-safe.
class ProblemKeeper : public LaunchObserver {
 public:
  // Launches from now on are those of a further run.
  virtual void begin_run() = 0;
  // What was kept; nothing of it has a capture.json yet.
  [[nodiscard]] virtual std::vector<KeptFolder> take() = 0;
  // Why nothing was kept, or what could not be written; empty: all is well.
  [[nodiscard]] virtual std::string trouble() const = 0;
};

// LaunchKeeper, or SequenceKeeper where the options name a sequence.
[[nodiscard]] std::unique_ptr<ProblemKeeper> make_problem_keeper(const KeepOptions& options);

// "k<float, 3>" as a folder's name.
[[nodiscard]] std::string folder_name_of(const std::string& kernel);
// A new folder of that name for contents, in `parent`; numbered where there is one already.
[[nodiscard]] std::filesystem::path make_problem_folder(const std::filesystem::path& parent,
                                                        const std::string& name);

// A launch this much larger than those kept is kept, too, up to so many of a run.
inline constexpr double kLarger = 1.5;
inline constexpr std::size_t kMostKeptLaunches = 8;
// Module variables beyond that are tables that the program's image brings along.
inline constexpr std::uint64_t kMostVariableBytes = std::uint64_t{1} << 20;

// The middle one of the launches' seconds, times all launches; 0 where none was timed.
[[nodiscard]] double seconds_of_all(std::vector<double> seconds, std::uint64_t launches);
// The largest of the first run first: it is the one to be fast on.
void sort_launches(std::vector<KeptLaunch>& launches);

}  // namespace regraph::capture
