// Which problems a judge keeps open: those that were used last, as far as there is room on its GPU.
#pragma once

#include "base/hash.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

namespace regraph::fleet {

// `Problem` is Session but in tests. Not thread-safe.
template <typename Problem>
class OpenProblems {
 public:
  // At most so many, and so many bytes of buffers of those that are measured together; a single one
  // may have more.
  OpenProblems(std::size_t most, std::uint64_t most_bytes) : most_(most), most_bytes_(most_bytes) {}

  // The problem, which is the one used last then; null where it is not open.
  [[nodiscard]] Problem* find(const Hash128& id) {
    const auto found = std::ranges::find(open_, id, &Open::id);
    if (found == open_.end()) return nullptr;
    std::rotate(open_.begin(), found, found + 1);
    return open_.front().problem.get();
  }

  // Before another one is opened, whose size is not known yet: half of the room is made free.
  void expect_another() { keep_within(most_bytes_ / 2); }

  // `gpu_bytes`: of a problem's buffers; 0: nothing is measured.
  Problem* add(const Hash128& id, std::unique_ptr<Problem> problem, std::uint64_t gpu_bytes) {
    keep_within(most_bytes_ - std::min(most_bytes_, gpu_bytes));
    while (open_.size() >= most_)
      open_.pop_back();
    open_.push_front({id, std::move(problem), gpu_bytes});
    return open_.front().problem.get();
  }

  // Closes all that are measured. Whether there were any.
  bool close_measured() {
    const std::size_t before = open_.size();
    keep_within(0);
    return open_.size() < before;
  }

  [[nodiscard]] std::size_t size() const { return open_.size(); }

 private:
  struct Open {
    Hash128 id;
    std::unique_ptr<Problem> problem;
    std::uint64_t gpu_bytes = 0;
  };

  // Closes measured problems from the first on that does not fit beside those used after it.
  void keep_within(std::uint64_t bytes) {
    std::uint64_t used = 0;
    std::deque<Open> kept;
    for (Open& one : open_) {
      used += one.gpu_bytes;
      if (one.gpu_bytes == 0 || used <= bytes) kept.push_back(std::move(one));
    }
    open_ = std::move(kept);
  }

  std::size_t most_;
  std::uint64_t most_bytes_;
  std::deque<Open> open_;  // the one that was used last in front
};

}  // namespace regraph::fleet
