#include "ptx/caches/sm_replay.h"

#include "ptx/memory/sectors.h"

#include <algorithm>

namespace regraph::ptx {
namespace {

constexpr std::uint32_t kSectorMask = (1U << (kLineBytes / kSectorBytes)) - 1;

}  // namespace

void SmReplay::begin(const TracedWave& wave, std::size_t first, std::size_t stride) {
  asked_ = {};
  counts_ = {};
  counts_.served.resize(instruction_count_);
  cursors_.clear();
  next_quantum_ = ~0U;
  for (std::size_t block = first; block < wave.blocks.size(); block += stride) {
    const BlockRequests& requests = wave.blocks[block];
    if (requests.begin == requests.end) continue;
    cursors_.push_back({requests, requests.begin});
    next_quantum_ = std::min(next_quantum_, quantum_of(requests.trace->requests()[requests.begin]));
  }
}

void SmReplay::play(std::uint32_t last, SmOutput& output) {
  while (next_quantum_ <= last && !cursors_.empty()) {
    const std::uint32_t quantum = next_quantum_;
    output.quanta.push_back({quantum, static_cast<std::uint32_t>(output.accesses.size())});
    next_quantum_ = ~0U;
    for (Cursor& cursor : cursors_) {
      const std::vector<TracedRequest>& requests = cursor.block.trace->requests();
      while (cursor.at < cursor.block.end && quantum_of(requests[cursor.at]) == quantum)
        play_request(*cursor.block.trace, requests[cursor.at++], quantum, output);
      if (cursor.at < cursor.block.end)
        next_quantum_ = std::min(next_quantum_, quantum_of(requests[cursor.at]));
    }
    std::erase_if(cursors_, [](const Cursor& cursor) { return cursor.at == cursor.block.end; });
  }
}

void SmReplay::play_request(const AccessTrace& trace, const TracedRequest& request,
                            std::uint32_t quantum, SmOutput& output) {
  const AccessPattern& pattern = trace.pattern(request.pattern);
  const AccessPattern::Line* lines = trace.lines(pattern);
  if (pattern.kind == AccessPattern::Kind::load ||
      pattern.kind == AccessPattern::Kind::load_bypassing_l1) {
    return play_load(pattern, lines, request.line, quantum, output);
  }
  for (std::uint32_t i = 0; i < pattern.line_count; ++i) {
    const std::uint64_t line = request.line + static_cast<std::uint64_t>(lines[i].delta);
    L2Access access{line, pattern.instruction, pattern.kind};
    access.wanted = lines[i].sectors & kSectorMask;
    access.whole = lines[i].whole & kSectorMask;
    output.accesses.push_back(access);
  }
}

void SmReplay::play_load(const AccessPattern& pattern, const AccessPattern::Line* lines,
                         std::uint64_t base_line, std::uint32_t quantum, SmOutput& output) {
  const std::size_t before = output.accesses.size();
  for (std::uint32_t i = 0; i < pattern.line_count; ++i) {
    const std::uint64_t line = base_line + static_cast<std::uint64_t>(lines[i].delta);
    const std::uint32_t sectors = lines[i].sectors;
    counts_.load_sectors += sector_count(sectors);
    std::uint32_t hit = 0;
    if (pattern.kind == AccessPattern::Kind::load) {
      hit = l1_.read(line, sectors);
      counts_.l1_hit_sectors += sector_count(hit);
    }
    const std::uint32_t wanted = sectors & ~hit;
    if (hit != 0 && asked_.find(line, quantum) == nullptr) hit = 0;  // long there
    if (wanted != 0) asked_.add(line, quantum);
    if (wanted == 0 && hit == 0) continue;
    L2Access access{line, pattern.instruction, pattern.kind};
    access.wanted = wanted & kSectorMask;
    access.in_l1 = static_cast<std::uint8_t>(hit);
    output.accesses.push_back(access);
  }
  if (output.accesses.size() == before) {
    ++counts_.served[pattern.instruction];
  } else {
    output.accesses.back().last = true;
  }
}

}  // namespace regraph::ptx
