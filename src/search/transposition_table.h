// Open-addressing hash table from a state's identity to its node.
#pragma once

#include "base/hash.h"
#include "search/state_graph_types.h"

#include <cstdint>
#include <span>
#include <vector>

namespace regraph {

// Stores node numbers and a few bits of their identities, 4 bytes a slot: identities are the
// owner's array, indexed by node, which every call is given. Entries are never removed.
class TranspositionTable {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;

  // Returns the node whose identity is `identity`, or kAbsent.
  [[nodiscard]] std::uint32_t find(const Hash128& identity,
                                   std::span<const Hash128> identities) const;
  // Has the processor fetch where find() will look first.
  void prefetch(const Hash128& identity) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[identity.low & (slots_.size() - 1)]);
  }
  // Adds `node`, the last of `identities`, whose identity must be absent.
  void add(std::uint32_t node, std::span<const Hash128> identities);
  // Makes room for `nodes` entries.
  void reserve(std::size_t nodes, std::span<const Hash128> identities);
  [[nodiscard]] std::size_t allocated_bytes() const {
    return slots_.capacity() * sizeof(slots_[0]);
  }

 private:
  void place(std::uint32_t node, const Hash128& identity);
  void rehash(std::size_t slot_count, std::span<const Hash128> identities);

  std::vector<std::uint32_t> slots_;  // a power of two of them; kAbsent when free
  std::size_t used_ = 0;
};

}  // namespace regraph
