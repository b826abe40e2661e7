// The second half of asynchronous copies: what was read from global memory waits until the thread
// waits for it, and is written to shared memory then.
#include "ptx/memory/race_detector.h"

#include <cstring>

namespace regraph::ptx {
namespace {

using Word = std::uint32_t;

// Checks the places and keeps the values.
const Record* copy_to_shared(const Record* r, Warp& w) {
  const BlockContext& block = *w.block;
  const SiteInfo& site = block.code->sites[r->site];
  PendingCopies::Copy copy;
  copy.record = r;
  copy.lanes = w.exec;
  copy.bytes = static_cast<std::uint32_t>(site.element_bytes) * site.elements;
  const std::uint32_t slots[4] = {r->d, r->b, r->c, r->e};
  for (Word rest = w.exec; rest != 0; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    const auto lane = static_cast<std::size_t>(l);
    const std::uint64_t base = (r->flags & kCopyNarrowAddress) != 0
                                   ? lanes<Word>(w, r->a)[l]
                                   : lanes<std::uint64_t>(w, r->a)[l];
    const std::uint64_t address = base + static_cast<std::uint64_t>(r->immediate);
    const LaneAddress found = find_lane(block, w, site.space, address, copy.bytes, l);
    if (found.host == nullptr || address % copy.bytes != 0) {
      set_access_fault(r, w, site.space, true, address, copy.bytes, l);
      return nullptr;
    }
    copy.addresses[lane] = address;
    copy.host[lane] = found.host;
    copy.group[lane] = w.copies->committed[lane];
    for (std::size_t i = 0; i < site.elements; ++i)
      copy.values[lane][i] = lanes<Word>(w, slots[i])[l];
  }
  if (block.races != nullptr && !block.races->copy(copy, copy.lanes, w)) return nullptr;
  w.copies->copies.push_back(copy);
  return r + 1;
}

const Record* copies_committed(const Record* r, Warp& w) {
  for (Word rest = w.exec; rest != 0; rest &= rest - 1)
    ++w.copies->committed[static_cast<std::size_t>(__builtin_ctz(rest))];
  return r + 1;
}

const Record* copies_awaited(const Record* r, Warp& w) {
  PendingCopies& pending = *w.copies;
  const bool all = r->immediate == kAllCopies;
  const auto newest = static_cast<std::uint64_t>(all ? 0 : r->immediate);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pending.copies.size(); ++i) {
    PendingCopies::Copy& copy = pending.copies[i];
    Word arriving = 0;
    for (Word rest = copy.lanes & w.exec; rest != 0; rest &= rest - 1) {
      const int l = __builtin_ctz(rest);
      const auto lane = static_cast<std::size_t>(l);
      if (all || copy.group[lane] + newest < pending.committed[lane]) arriving |= 1U << l;
    }
    if (arriving != 0) {
      // The thread writes now, whatever it did since.
      if (w.block->races != nullptr && !w.block->races->copy(copy, arriving, w)) return nullptr;
      for (Word rest = arriving; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<std::size_t>(__builtin_ctz(rest));
        std::memcpy(copy.host[lane], copy.values[lane].data(), copy.bytes);
      }
      copy.lanes &= ~arriving;
    }
    if (copy.lanes == 0) continue;
    if (kept != i) pending.copies[kept] = copy;
    ++kept;
  }
  pending.copies.resize(kept);
  return r + 1;
}

}  // namespace

void fill_async_copy_handlers(Handler* table) {
  put(table, Operation::copy_to_shared, &copy_to_shared);
  put(table, Operation::copies_committed, &copies_committed);
  put(table, Operation::copies_awaited, &copies_awaited);
}

}  // namespace regraph::ptx
