// Keeps launches of a captured program, with the contents of memory before them, as problem
// folders.
#pragma once

#include "capture/device/launch_observer.h"
#include "capture/problem/captured_kernel.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace regraph::capture {

struct KeepOptions {
  std::filesystem::path folder;  // a folder for each kernel comes in here
  std::string kernel;            // those alone whose name contains this; empty: all
  std::uint64_t launch = 0;      // this one of each kernel, from 1; 0: the first and the largest
  std::uint64_t most_bytes = std::uint64_t{1} << 30;  // of contents, a kernel
  std::uint64_t most_bytes_in_all = std::uint64_t{4} << 30;
};

// Not thread-safe.
class LaunchKeeper final : public LaunchObserver {
 public:
  explicit LaunchKeeper(KeepOptions options) : options_(std::move(options)) {}

  void before_launch(const ObservedLaunch& launch) override;
  bool may_skip(const std::string& symbol) override;
  [[nodiscard]] bool wants_contents(const ObservedLaunch& launch) const override;
  [[nodiscard]] double quiet_threads(const std::string& symbol) const override;
  void count_launches(const std::string& symbol, std::uint64_t launches) override;
  void add_seconds(const std::string& symbol, double seconds) override;
  void after_launch(const ObservedLaunch& launch, std::uint64_t thread_instructions) override;

  // Launches from now on are those of a further run.
  void begin_run() { ++run_; }

  struct Folder {
    std::filesystem::path path;
    CapturedKernel kernel;
  };
  // What was kept, by kernel in the order of first launches; nothing of it has a capture.json yet.
  [[nodiscard]] std::vector<Folder> take();
  // The first write that failed; empty: none did.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  struct Kept {
    Folder folder;
    std::uint64_t bytes = 0;
    std::uint64_t run = 0;
    std::uint64_t seen = 0;       // launches in this run
    double largest = 0.0;         // threads of a kept launch of this run
    std::size_t pending = 0;      // 1 + the place of the launch that runs
    std::vector<double> seconds;  // of launches of the first run
  };

  [[nodiscard]] Kept& kernel_of(const ObservedLaunch& launch);
  [[nodiscard]] bool wanted(const Kept& kept, const ObservedLaunch& launch) const;
  void keep(Kept& kept, const ObservedLaunch& launch);
  // The file's name, empty where it was not kept. `size`: of the buffer, whose content may not be
  // there.
  std::string store(Kept& kept, std::span<const std::byte> bytes, std::uint64_t size);

  const KeepOptions options_;
  std::uint64_t run_ = 0;
  std::uint64_t bytes_ = 0;
  std::map<std::string, Kept> kernels_;  // by symbol
  std::vector<std::string> order_;
  std::string trouble_;
};

}  // namespace regraph::capture
