#include "sass/local_reuse.h"

#include "sass/loop_entries.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace regraph::sass {
namespace {

constexpr double kWordBytes = 4.0;
// Loops nested deeper are walked once: two walks a level would double the work with each.
constexpr int kDeepestTwice = 3;

struct Line {
  std::int32_t word = 0;
  bool stored_to = false;
  std::uint32_t longest = 0;  // distance since the last store
};

// The lines of one warp, the last touched at the end.
class LineStack {
 public:
  struct Found {
    std::uint32_t distance = kMostDistance;
    // Above 0: what was stored is overwritten or needed no more; until then it once lay this far
    // back.
    std::uint32_t written = 0;
  };

  Found touch(std::int32_t word, bool store, bool last) {
    Found found;
    Line line = {word, false, 0};
    const auto at =
        std::find_if(lines_.rbegin(), lines_.rend(), [&](const Line& l) { return l.word == word; });
    if (at != lines_.rend()) {
      found.distance = static_cast<std::uint32_t>(at - lines_.rbegin()) + 1;
      line = *at;
      line.longest = std::max(line.longest, found.distance);
      lines_.erase(std::next(at).base());
    }
    if (line.stored_to && (store || last)) found.written = line.longest;
    if (last) return found;
    if (store) line = {word, true, 0};
    lines_.push_back(line);
    if (lines_.size() > kMostDistance) lines_.erase(lines_.begin());
    return found;
  }

 private:
  std::vector<Line> lines_;
};

class Walk {
 public:
  Walk(const MachineCode& code, const ExecutionCounts& counts, double frame_bytes)
      : code_(code),
        counts_(counts),
        entered_(entered_shares(code.flow, counts.block_executions)),
        frame_lines_(static_cast<std::uint32_t>(
            std::clamp(frame_bytes / kWordBytes, 1.0, static_cast<double>(kMostDistance)))) {
    accesses_.resize(code.flow.blocks.size());
    for (std::uint32_t j = 0; j < code.instructions.size(); ++j) {
      const OperationClass kind = code.instructions[j].what.operation_class;
      const bool local = kind == OperationClass::load_local || kind == OperationClass::store_local;
      if (!local || counts.active[j] <= 0.0) continue;
      accesses_[code.flow.block_of[j]].push_back(j);
      any_ = true;
    }
  }

  LocalReuse run() {
    if (any_) walk(0, code_.flow.blocks.size(), -1, 0, 1.0);
    return std::move(reuse_);
  }

 private:
  // The loop directly inside `outer` that block b is in; `outer` itself: in none.
  std::int32_t child_of(std::size_t b, std::int32_t outer) const {
    std::int32_t loop = code_.flow.blocks[b].loop;
    while (loop != outer && loop >= 0) {
      const std::int32_t parent = code_.flow.loops[static_cast<std::size_t>(loop)].parent;
      if (parent == outer) return loop;
      loop = parent;
    }
    return outer;
  }

  void walk(std::size_t first, std::size_t last, std::int32_t loop, int depth, double share) {
    for (std::size_t b = first; b < last;) {
      const std::int32_t child = child_of(b, loop);
      if (child == loop) {
        for (const std::uint32_t j : accesses_[b])
          access(j, share);
        ++b;
        continue;
      }
      const std::size_t begin = b;
      bool any = false;
      for (; b < last && child_of(b, loop) == child; ++b)
        any = any || !accesses_[b].empty();
      if (!any) continue;
      const double entered = entered_[static_cast<std::size_t>(child)];
      if (depth < kDeepestTwice) {
        walk(begin, b, child, depth + 1, share * entered);
        walk(begin, b, child, depth + 1, share * (1.0 - entered));
      } else {
        walk(begin, b, child, depth + 1, share);
      }
    }
  }

  void access(std::uint32_t j, double share) {
    const Instruction& what = code_.instructions[j].what;
    const bool store = what.operation_class == OperationClass::store_local;
    const double times = counts_.active[j] * share;
    const int words = std::max(1, what.access_bytes / static_cast<int>(kWordBytes));
    (store ? reuse_.stored : reuse_.loaded) += times * words;
    for (int word = 0; word < words; ++word) {
      if (what.local_base != kStackPointer) {
        LocalLines& lines = reuse_.by_distance[frame_lines_];
        if (!store) lines.loaded += times;
        if (store) lines.written += times;
        continue;
      }
      const auto found = stack_.touch(what.local_offset / static_cast<int>(kWordBytes) + word,
                                      store, what.last_use);
      if (times <= 0.0) continue;
      if (!store) reuse_.by_distance[found.distance].loaded += times;
      if (found.written > 0) reuse_.by_distance[found.written].written += times;
    }
  }

  const MachineCode& code_;
  const ExecutionCounts& counts_;
  std::vector<double> entered_;
  std::uint32_t frame_lines_;
  std::vector<std::vector<std::uint32_t>> accesses_;  // instructions, by block
  bool any_ = false;
  LineStack stack_;
  LocalReuse reuse_;
};

}  // namespace

LocalReuse local_reuse(const MachineCode& code, const ExecutionCounts& counts, double frame_bytes) {
  if (counts.block_executions.size() != code.flow.blocks.size()) return {};
  return Walk(code, counts, frame_bytes).run();
}

}  // namespace regraph::sass
