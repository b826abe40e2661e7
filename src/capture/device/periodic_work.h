// Device work that repeats: benchmarks launch the same kernels hundreds of times, swap two buffers,
// or set their input anew before each round.
//
// When memory is what it was p pieces of work ago, those pieces again would only bring the same
// memories around: they can be skipped. A memory that is needed is one that at most p - 1 pieces,
// executed from here, lead to. Memory is hashed where the pieces of work are seen to repeat.
//
//   if (repeats.skip(key)) return;              // as the caller says which work comes
//   for (const Work* work : repeats.behind()) execute(*work);
//   repeats.caught_up();
//   execute(...);                               // and, when that went well:
//   if (repeats.done({...}, seconds, hash_seconds)) repeats.remember(hash of all memory);
//
// Sound where the same work in the same memory leads to the same memory, nothing else writes there,
// and the caller catches up before anybody reads.
#pragma once

#include "base/hash.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace regraph::capture {

// Pure bookkeeping; not thread-safe.
class PeriodicWork {
 public:
  static constexpr std::size_t kLongestPeriod = 16;
  static constexpr std::size_t kMostKeptBytes = std::size_t{128} << 20;
  // Of the time that work takes, for hashing memory.
  static constexpr double kHashingShare = 0.2;

  struct Work {
    Hash128 key;  // of all that it does, but for memory
    std::uint32_t kind = 0;
    std::string request;  // to do it again
  };

  // Whether skip() would say so.
  [[nodiscard]] bool expects(const Hash128& key) const;
  // Whether the work that comes next need not be done now. False: catch up first.
  [[nodiscard]] bool skip(const Hash128& key);
  // What must be executed, in this order, for memory to be as if nothing had been skipped. Valid
  // until the next call of another function.
  [[nodiscard]] std::vector<const Work*> behind() const;
  // What `behind` said has been executed.
  void caught_up() { executed_ = position_; }

  // Work has been done that `skip` had refused. True: remember() wants the hash of memory as it is
  // now, which takes `hash_seconds` or so.
  [[nodiscard]] bool done(Work work, double seconds, double hash_seconds);
  // Memory after the last work. Only after done() was true.
  void remember(const Hash128& memory);

  // Something else has changed memory, or what there is of it. Only when nothing is behind.
  void forget();

  // 0 while nothing is skipped.
  [[nodiscard]] std::size_t period() const { return period_; }

 private:
  struct Memory {
    std::uint64_t after = 0;  // so many pieces of work
    Hash128 hash;
  };

  [[nodiscard]] bool can_hash(double times) const;

  std::deque<Work> last_;  // at most kLongestPeriod, the newest at the end
  std::size_t kept_bytes_ = 0;
  // By period p, less 1: how many pieces of work in a row were those of p pieces before.
  std::array<std::size_t, kLongestPeriod> repeated_{};
  std::uint64_t pieces_ = 0;  // of work so far
  std::deque<Memory> seen_;   // no older than kLongestPeriod pieces
  std::uint64_t next_ = 0;    // when memory is to be hashed again, 0: not yet known
  std::size_t expected_ = 0;  // period that memory was last hashed for
  double worked_seconds_ = 0.0;
  double hashed_seconds_ = 0.0;
  double hash_seconds_ = 0.0;  // of the next

  // While work is skipped: the last `period_` pieces go round; positions count from the first.
  std::size_t period_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t executed_ = 0;  // memory is that after so many
};

}  // namespace regraph::capture
