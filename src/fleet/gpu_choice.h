// Which of a fleet's GPUs one search uses.
//
//   there:  A B C D E F          so many as it can keep busy, the idlest first; searches that
//   mine:       C   E            begin together choose differently
//   first looks: the one of mine that does least for this search   confirmations: the first of mine
//
// Opening a problem takes a GPU's worker as long as measuring several candidates, and a process
// each for three things: spread over all GPUs, many searches would do little else.
#pragma once

#include "fleet/queue/notice_board.h"

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::fleet {

struct FleetGpu {
  std::string lane;    // its own
  std::string worker;  // its name
  int places = 1;      // candidates that it takes at once
  int busy = 0;        // of them
};

// As many of `there` as have places for what a search has under way (kUnderWay), those with the
// smallest share of busy places first; `occasion` decides between equals. All where they are no
// more than that.
[[nodiscard]] std::vector<FleetGpu> choose_gpus(std::vector<FleetGpu> there,
                                                const std::string& occasion);

// Candidates that a search has under way at once, about: what it measures decides what it tries
// next.
inline constexpr int kUnderWay = 4;

// Thread-safe.
class GpuChoice {
 public:
  // `board` must outlive this; `lane` is that of all GPUs that may measure (lanes.h).
  GpuChoice(NoticeBoard& board, std::string lane, std::string occasion)
      : board_(board), lane_(std::move(lane)), occasion_(std::move(occasion)) {}

  // The GPUs that are there now: the one that confirms, the others that were chosen, the rest.
  [[nodiscard]] std::vector<FleetGpu> there() const;

  // The GPU that is to take a first look at a candidate, which `end_look` tells the end of; nothing
  // where the search uses all that are there: whichever is free takes it.
  [[nodiscard]] std::optional<FleetGpu> begin_look();
  void end_look(const FleetGpu& gpu);
  // The GPU does not answer: it is used no more, others are chosen once none is left. After a few
  // of them, whichever is free takes first looks: notices may be anybody's.
  void drop(const FleetGpu& gpu);

  // The GPU that confirms, the same for as long as it is there; nothing while none is.
  [[nodiscard]] std::optional<FleetGpu> confirming();

  // Those that are chosen; none where all are used.
  [[nodiscard]] std::vector<FleetGpu> mine();

 private:
  struct Used {
    FleetGpu gpu;
    int looks = 0;  // under way
  };

  void choose();

  NoticeBoard& board_;
  const std::string lane_;
  const std::string occasion_;
  mutable std::mutex mutex_;
  bool is_chosen_ = false;
  std::vector<Used> mine_;         // empty: all that are there
  std::set<std::string> dropped_;  // lanes
  std::string confirming_;         // its lane
};

}  // namespace regraph::fleet
