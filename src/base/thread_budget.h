// A number of threads that calls which run at once share: a call that finds some to spare divides
// its work, one that does not does it alone. What is computed must not depend on it.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace regraph {

// Thread-safe, but for limit().
class ThreadBudget {
 public:
  // A thread that was counted already, until this ends.
  class Share {
   public:
    explicit Share(ThreadBudget& budget) : budget_(&budget) {}
    ~Share() {
      if (budget_ != nullptr) --budget_->used_;
    }
    Share(Share&& other) noexcept : budget_(other.budget_) { other.budget_ = nullptr; }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    Share& operator=(Share&&) = delete;

   private:
    ThreadBudget* budget_;
  };

  // Without a limit set nothing is ever to spare.
  void limit(int most) { most_ = most; }

  // Counts a thread that works anyway: the caller's.
  [[nodiscard]] Share enter() {
    ++used_;
    return Share(*this);
  }

  // Whether calls may ever divide their work.
  [[nodiscard]] bool divides() const { return most_ > 1; }
  // Whether a call would find a thread now; others may take it meanwhile.
  [[nodiscard]] bool any_to_spare() const { return used_ < most_; }

  // Calls work(0) to work(count - 1), once each, on this thread, which counts already, and on those
  // to spare; begun in that order. Returns when all have returned. What one throws is thrown here
  // once all have; later calls may then be left out.
  void for_each_index(std::size_t count, const std::function<void(std::size_t)>& work);

 private:
  [[nodiscard]] bool spare();

  int most_ = 0;
  std::atomic<int> used_{0};
};

}  // namespace regraph
