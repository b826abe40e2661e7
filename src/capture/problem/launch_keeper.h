// Keeps launches of a captured program, with the contents of memory before them, as problem
// folders.
#pragma once

#include "capture/problem/kept_contents.h"
#include "capture/problem/problem_keeper.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace regraph::capture {

// Not thread-safe.
class LaunchKeeper final : public ProblemKeeper {
 public:
  explicit LaunchKeeper(KeepOptions options)
      : options_(std::move(options)), contents_(options_.most_bytes, options_.most_bytes_in_all) {}

  void before_launch(const ObservedLaunch& launch) override;
  bool may_skip(const std::string& symbol) override;
  [[nodiscard]] bool wants_contents(const ObservedLaunch& launch) const override;
  [[nodiscard]] double quiet_threads(const std::string& symbol) const override;
  void count_launches(const std::string& symbol, std::uint64_t launches) override;
  void add_seconds(const std::string& symbol, double seconds) override;
  void after_launch(const ObservedLaunch& launch, std::uint64_t thread_instructions) override;

  void begin_run() override { ++run_; }
  // By kernel, in the order of first launches.
  [[nodiscard]] std::vector<KeptFolder> take() override;
  [[nodiscard]] std::string trouble() const override { return contents_.trouble(); }

 private:
  struct Kept {
    KeptFolder folder;
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

  const KeepOptions options_;
  KeptContents contents_;
  std::uint64_t run_ = 0;
  std::map<std::string, Kept> kernels_;  // by symbol
  std::vector<std::string> order_;
};

}  // namespace regraph::capture
