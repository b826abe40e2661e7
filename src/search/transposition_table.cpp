#include "search/transposition_table.h"

#include <algorithm>
#include <bit>

namespace regraph {

namespace {

// Linear probing stays short below three quarters.
constexpr bool too_full(std::size_t used, std::size_t slots) {
  return used * 4 >= slots * 3;
}

}  // namespace

std::uint32_t TranspositionTable::find(const Hash128& identity,
                                       std::span<const Hash128> identities) const {
  if (slots_.empty()) return kAbsent;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = identity.low & mask;; slot = (slot + 1) & mask) {
    const std::uint32_t node = slots_[slot];
    if (node == kAbsent || identities[node] == identity) return node;
  }
}

void TranspositionTable::add(std::uint32_t node, std::span<const Hash128> identities) {
  constexpr std::size_t kFirstSlots = 64;
  if (slots_.empty() || too_full(used_ + 1, slots_.size())) {
    rehash(std::max(kFirstSlots, slots_.size() * 2), identities.first(node));
  }
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = identities[node].low & mask;
  while (slots_[slot] != kAbsent)
    slot = (slot + 1) & mask;
  slots_[slot] = node;
  ++used_;
}

void TranspositionTable::reserve(std::size_t nodes, std::span<const Hash128> identities) {
  std::size_t wanted = std::bit_ceil(nodes + 1);
  if (too_full(nodes, wanted)) wanted *= 2;
  if (wanted > slots_.size()) rehash(wanted, identities);
}

void TranspositionTable::rehash(std::size_t slot_count, std::span<const Hash128> identities) {
  slots_.assign(slot_count, kAbsent);
  const std::size_t mask = slot_count - 1;
  for (std::uint32_t node = 0; node < identities.size(); ++node) {
    std::size_t slot = identities[node].low & mask;
    while (slots_[slot] != kAbsent)
      slot = (slot + 1) & mask;
    slots_[slot] = node;
  }
}

}  // namespace regraph
