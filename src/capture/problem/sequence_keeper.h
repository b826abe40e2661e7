// Keeps launches of several kernels that follow each other as one problem:
//
//     launches of the program   a  x  a  b  c  a  b  c  (grown)  a  b  c
//     sequence a, b, c                └──1──┘  └──2──┘           └──3──┘
//     kept                            first                      larger
//
// Contents of an allocation are those in front of the first of them that leads into it. What else
// is launched in between, or written to memory that the sequence has seen, ends it. Where that
// happens again and again, contents are kept only after the kernels were seen in a row once.
#pragma once

#include "capture/problem/kept_contents.h"
#include "capture/problem/problem_keeper.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regraph::capture {

// Not thread-safe.
class SequenceKeeper final : public ProblemKeeper {
 public:
  // `options.sequence` names kernels as a source does, with or without template arguments.
  explicit SequenceKeeper(KeepOptions options);

  void before_launch(const ObservedLaunch& launch) override;
  bool may_skip(const std::string& symbol) override;
  [[nodiscard]] bool wants_contents(const ObservedLaunch& launch) const override;
  void before_write(std::optional<std::uint64_t> allocation) override;
  void add_seconds(const std::string& symbol, double seconds) override;
  void after_launch(const ObservedLaunch& launch, std::uint64_t thread_instructions) override;

  void begin_run() override;
  [[nodiscard]] std::vector<KeptFolder> take() override;
  [[nodiscard]] std::string trouble() const override { return trouble_; }

 private:
  // The sequence that is going on.
  struct Pending {
    bool wanted = false;
    KeptLaunch launch;
    std::vector<KeptSlot> slots;
    std::vector<KernelStage> stages;
    std::map<std::uint64_t, std::string> files;   // of contents, by allocation
    std::map<std::string, std::uint64_t> stored;  // bytes of each file that was written for it
    std::vector<std::uint64_t> instructions;      // of each stage
    bool overlapping = false;
    bool after_cut = false;
  };

  [[nodiscard]] bool is_stage(std::size_t stage, const std::string& symbol) const;
  [[nodiscard]] bool wanted(const ObservedLaunch& first, std::uint64_t number) const;
  void add(const ObservedLaunch& launch);
  void complete();
  void give_up(const std::string& why);
  void choose_kernel();

  const KeepOptions options_;
  KeptContents contents_;
  std::uint64_t run_ = 0;
  std::uint64_t seen_ = 0;    // beginnings in this run
  double largest_ = 0.0;      // threads of a first stage that was kept in this run
  std::uint64_t of_run_ = 0;  // kept in this run
  std::optional<Pending> pending_;
  KeptFolder folder_;
  std::uint64_t kept_bytes_ = 0;
  std::vector<std::uint64_t> instructions_;             // of all launches, by stage
  std::map<std::string, std::vector<double>> seconds_;  // of launches of the first run, by symbol
  int given_up_ = 0;                                    // in this run, since the last complete one
  std::uint64_t first_not_kept_ = 0;  // the number of a complete one without contents; 0: none
  std::string why_given_up_;          // the first time
  std::string trouble_;
};

}  // namespace regraph::capture
