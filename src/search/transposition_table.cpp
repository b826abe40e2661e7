#include "search/transposition_table.h"

#include <algorithm>
#include <bit>

namespace regraph {

namespace {

// A word is a node's number and, above, bits of its identity that do not choose the slot: most
// probes of a slot that holds another node then need no look at its identity, far away in memory.
constexpr int kNodeBits = 28;
constexpr std::uint32_t kNodeMask = (1U << kNodeBits) - 1;
static_assert(kMaxNodes == kNodeMask, "no node has the number that makes a word kAbsent");

std::uint32_t tag_of(const Hash128& identity) {
  return static_cast<std::uint32_t>(identity.low >> 32) & ~kNodeMask;
}

// Linear probing stays short below seven eighths: slots are many to a cache line.
constexpr bool too_full(std::size_t used, std::size_t slots) {
  return used * 8 >= slots * 7;
}

}  // namespace

std::uint32_t TranspositionTable::find(const Hash128& identity,
                                       std::span<const Hash128> identities) const {
  if (slots_.empty()) return kAbsent;
  const std::size_t mask = slots_.size() - 1;
  const std::uint32_t tag = tag_of(identity);
  for (std::size_t slot = identity.low & mask;; slot = (slot + 1) & mask) {
    const std::uint32_t word = slots_[slot];
    if (word == kAbsent) return kAbsent;
    if ((word & ~kNodeMask) != tag) continue;
    const std::uint32_t node = word & kNodeMask;
    if (identities[node] == identity) return node;
  }
}

void TranspositionTable::add(std::uint32_t node, std::span<const Hash128> identities) {
  constexpr std::size_t kFirstSlots = 64;
  if (slots_.empty() || too_full(used_ + 1, slots_.size())) {
    rehash(std::max(kFirstSlots, slots_.size() * 2), identities.first(node));
  }
  place(node, identities[node]);
  ++used_;
}

void TranspositionTable::reserve(std::size_t nodes, std::span<const Hash128> identities) {
  std::size_t wanted = std::bit_ceil(nodes + 1);
  if (too_full(nodes, wanted)) wanted *= 2;
  if (wanted > slots_.size()) rehash(wanted, identities);
}

void TranspositionTable::rehash(std::size_t slot_count, std::span<const Hash128> identities) {
  slots_.assign(slot_count, kAbsent);
  for (std::uint32_t node = 0; node < identities.size(); ++node)
    place(node, identities[node]);
}

void TranspositionTable::place(std::uint32_t node, const Hash128& identity) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = identity.low & mask;
  while (slots_[slot] != kAbsent)
    slot = (slot + 1) & mask;
  slots_[slot] = node | tag_of(identity);
}

}  // namespace regraph
