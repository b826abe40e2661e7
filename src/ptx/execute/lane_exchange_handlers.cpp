// Shuffles, votes, matches, reductions over a warp, predicate logic, packing: the same for all
// sets.
#include "ptx/decode/execution.h"
#include "ptx/execute/lane_meeting.h"
#include "ptx/execute/reconvergence_stack.h"
#include "ptx/memory/block_context.h"

namespace regraph::ptx {
namespace {

using Word = std::uint32_t;

template <typename Compute>
const Record* set_predicate(const Record* r, Warp& w, Compute compute) {
  Word& d = predicate(w, r->d);
  d = (d & ~w.exec) | (compute() & w.exec);
  return r + 1;
}
const Record* predicate_move(const Record* r, Warp& w) {
  return set_predicate(r, w, [&] { return predicate(w, r->a); });
}
const Record* predicate_not(const Record* r, Warp& w) {
  return set_predicate(r, w, [&] { return ~predicate(w, r->a); });
}
const Record* predicate_and(const Record* r, Warp& w) {
  return set_predicate(r, w, [&] { return predicate(w, r->a) & predicate(w, r->b); });
}
const Record* predicate_or(const Record* r, Warp& w) {
  return set_predicate(r, w, [&] { return predicate(w, r->a) | predicate(w, r->b); });
}
const Record* predicate_xor(const Record* r, Warp& w) {
  return set_predicate(r, w, [&] { return predicate(w, r->a) ^ predicate(w, r->b); });
}

template <typename Body>
void for_active(const Warp& w, Body body) {
  if (w.exec == kFullMask) [[likely]] {
    for (int l = 0; l < kWarpLanes; ++l)
      body(l);
    return;
  }
  for (Word rest = w.exec; rest != 0; rest &= rest - 1)
    body(__builtin_ctz(rest));
}

const Record* pack_2x32(const Record* r, Warp& w) {
  auto* d = lanes<std::uint64_t>(w, r->d);
  const Word* a = lanes<Word>(w, r->a);
  const Word* b = lanes<Word>(w, r->b);
  for_active(w, [&](int l) { d[l] = a[l] | (static_cast<std::uint64_t>(b[l]) << 32); });
  return r + 1;
}
// d: low half, b: high half. Either may share the source's lanes only if all have the same width.
const Record* unpack_2x32(const Record* r, Warp& w) {
  const auto* a = lanes<std::uint64_t>(w, r->a);
  Word* low = lanes<Word>(w, r->d);
  Word* high = lanes<Word>(w, r->b);
  for_active(w, [&](int l) {
    const std::uint64_t value = a[l];
    low[l] = static_cast<Word>(value);
    high[l] = static_cast<Word>(value >> 32);
  });
  return r + 1;
}
const Record* pack_2x16(const Record* r, Warp& w) {
  Word* d = lanes<Word>(w, r->d);
  const Word* a = lanes<Word>(w, r->a);
  const Word* b = lanes<Word>(w, r->b);
  for_active(w, [&](int l) { d[l] = (a[l] & 0xffffU) | (b[l] << 16); });
  return r + 1;
}
const Record* unpack_2x16(const Record* r, Warp& w) {
  const Word* a = lanes<Word>(w, r->a);
  Word* low = lanes<Word>(w, r->d);
  Word* high = lanes<Word>(w, r->b);
  for_active(w, [&](int l) {
    const Word value = a[l];
    low[l] = value & 0xffffU;
    high[l] = value >> 16;
  });
  return r + 1;
}

enum class Shuffle { up, down, exclusive_or, index };

// PTX ISA, shfl.sync: c packs the segment mask (bits 8-12) and the clamp (bits 0-4).
template <Shuffle kMode>
const Record* shuffle(const Record* r, Warp& w) {
  Word* d = lanes<Word>(w, r->d);
  const Word* b = lanes<Word>(w, r->b);
  const Word* c = lanes<Word>(w, r->c);
  Word from[kWarpLanes];
  __builtin_memcpy(from, lanes<Word>(w, r->a), sizeof(from));
  Word in_range = 0;
  for_active(w, [&](int l) {
    const int distance = static_cast<int>(b[l] & 31U);
    const int segment = static_cast<int>((c[l] >> 8) & 31U);
    const int clamp = static_cast<int>(c[l] & 31U);
    const int highest = (l & segment) | (clamp & ~segment);
    const int lowest = l & segment;
    int lane = 0;
    bool valid = false;
    if constexpr (kMode == Shuffle::up) {
      lane = l - distance;
      valid = lane >= highest;
    } else if constexpr (kMode == Shuffle::down) {
      lane = l + distance;
      valid = lane <= highest;
    } else if constexpr (kMode == Shuffle::exclusive_or) {
      lane = l ^ distance;
      valid = lane <= highest;
    } else {
      lane = lowest | (distance & ~segment);
      valid = lane <= highest;
    }
    d[l] = from[valid ? lane : l];
    if (valid) in_range |= 1U << l;
  });
  if (r->e != 0) {
    Word& p = predicate(w, r->e);
    p = (p & ~w.exec) | in_range;
  }
  return r + 1;
}

const Record* vote_all(const Record* r, Warp& w) {
  const bool all = (predicate(w, r->a) & w.exec) == w.exec;
  return set_predicate(r, w, [&] { return all ? kFullMask : 0U; });
}
const Record* vote_any(const Record* r, Warp& w) {
  const bool any = (predicate(w, r->a) & w.exec) != 0;
  return set_predicate(r, w, [&] { return any ? kFullMask : 0U; });
}
const Record* vote_uniform(const Record* r, Warp& w) {
  const Word votes = predicate(w, r->a) & w.exec;
  return set_predicate(r, w, [&] { return votes == 0 || votes == w.exec ? kFullMask : 0U; });
}
const Record* vote_ballot(const Record* r, Warp& w) {
  Word* d = lanes<Word>(w, r->d);
  const Word votes = predicate(w, r->a) & w.exec;
  for_active(w, [&](int l) { d[l] = votes; });
  return r + 1;
}
// Lanes that parted at a branch may go on apart, also past the place where their ways meet: every
// second one then comes here later, alone with its like.
void part_lanes(const Record* r, Warp& w) {
  constexpr std::uint32_t kEverySecond = 0x55555555U;
  const std::uint32_t first = w.active & kEverySecond;
  const bool never_parted = w.stack[0].mask == 0;
  if (never_parted || w.exec != w.active || first == 0 || first == w.active) return;
  push(w, static_cast<std::uint32_t>(r - w.records), w.reconvergence, w.active & ~kEverySecond);
  w.active = w.exec = first;
}

const Record* active_mask(const Record* r, Warp& w) {
  if (w.block->lanes_stay_apart) part_lanes(r, w);
  Word* d = lanes<Word>(w, r->d);
  for_active(w, [&](int l) { d[l] = w.exec; });
  return r + 1;
}

// The lowest of the lanes leads.
const Record* elect(const Record* r, Warp& w) {
  Word* d = lanes<Word>(w, r->d);
  const int leader = __builtin_ctz(w.exec);
  for_active(w, [&](int l) { d[l] = static_cast<Word>(leader); });
  Word& p = predicate(w, r->e);
  p = (p & ~w.exec) | (1U << leader);
  return r + 1;
}

std::uint64_t match_key(const Record* r, Warp& w, int l) {
  return (r->flags & kWideMatch) != 0 ? lanes<std::uint64_t>(w, r->a)[l] : lanes<Word>(w, r->a)[l];
}
const Record* match_any(const Record* r, Warp& w) {
  Word result[kWarpLanes] = {};
  for_active(w, [&](int l) {
    for_active(w, [&](int other) {
      if (match_key(r, w, l) == match_key(r, w, other)) result[l] |= 1U << other;
    });
  });
  Word* d = lanes<Word>(w, r->d);
  for_active(w, [&](int l) { d[l] = result[l]; });
  return r + 1;
}
const Record* match_all(const Record* r, Warp& w) {
  bool same = true;
  const std::uint64_t first = match_key(r, w, __builtin_ctz(w.exec));
  for_active(w, [&](int l) { same = same && match_key(r, w, l) == first; });
  Word* d = lanes<Word>(w, r->d);
  for_active(w, [&](int l) { d[l] = same ? w.exec : 0U; });
  if (r->e != 0) {
    Word& p = predicate(w, r->e);
    p = (p & ~w.exec) | (same ? w.exec : 0U);
  }
  return r + 1;
}

// Reduces over the active lanes.
template <typename T, typename Combine>
const Record* reduce(const Record* r, Warp& w, Combine combine) {
  const Word* a = lanes<Word>(w, r->a);
  T result = static_cast<T>(a[__builtin_ctz(w.exec)]);
  for (Word rest = w.exec & (w.exec - 1); rest != 0; rest &= rest - 1) {
    result = combine(result, static_cast<T>(a[__builtin_ctz(rest)]));
  }
  Word* d = lanes<Word>(w, r->d);
  for_active(w, [&](int l) { d[l] = static_cast<Word>(result); });
  return r + 1;
}
template <typename T>
const Record* reduce_min(const Record* r, Warp& w) {
  return reduce<T>(r, w, [](T a, T b) { return a < b ? a : b; });
}
template <typename T>
const Record* reduce_max(const Record* r, Warp& w) {
  return reduce<T>(r, w, [](T a, T b) { return a > b ? a : b; });
}
const Record* reduce_add(const Record* r, Warp& w) {
  return reduce<Word>(r, w, [](Word a, Word b) { return a + b; });
}
const Record* reduce_and(const Record* r, Warp& w) {
  return reduce<Word>(r, w, [](Word a, Word b) { return a & b; });
}
const Record* reduce_or(const Record* r, Warp& w) {
  return reduce<Word>(r, w, [](Word a, Word b) { return a | b; });
}
const Record* reduce_xor(const Record* r, Warp& w) {
  return reduce<Word>(r, w, [](Word a, Word b) { return a ^ b; });
}

const Record* sync_warp(const Record* r, Warp& /*w*/) {
  return r + 1;
}

// Shuffles and bar.warp.sync: what a lane gets does not depend on which others it names.
template <Handler kExchange>
const Record* when_all_are_here(const Record* r, Warp& w) {
  if (w.exec == w.live) [[likely]]
    return kExchange(r, w);
  return exchange_apart(r, w, kExchange);
}
// The others combine the values of those that name each other. A lane that names all of them names
// what all of them must.
template <Handler kExchange>
const Record* among_members(const Record* r, Warp& w) {
  if (w.exec == w.live) [[likely]] {
    if ((r->flags & (kAllMembers | kNoMembers)) != 0 ||
        lanes<Word>(w, static_cast<Word>(r->immediate))[__builtin_ctz(w.exec)] == kFullMask) {
      return kExchange(r, w);
    }
  }
  return exchange_apart(r, w, kExchange);
}

}  // namespace

void fill_lane_exchange_handlers(Handler* table) {
  put(table, Operation::predicate_move, &predicate_move);
  put(table, Operation::predicate_not, &predicate_not);
  put(table, Operation::predicate_and, &predicate_and);
  put(table, Operation::predicate_or, &predicate_or);
  put(table, Operation::predicate_xor, &predicate_xor);
  put(table, Operation::pack_2x32, &pack_2x32);
  put(table, Operation::unpack_2x32, &unpack_2x32);
  put(table, Operation::pack_2x16, &pack_2x16);
  put(table, Operation::unpack_2x16, &unpack_2x16);
  put(table, Operation::shuffle_up, &when_all_are_here<&shuffle<Shuffle::up>>);
  put(table, Operation::shuffle_down, &when_all_are_here<&shuffle<Shuffle::down>>);
  put(table, Operation::shuffle_xor, &when_all_are_here<&shuffle<Shuffle::exclusive_or>>);
  put(table, Operation::shuffle_index, &when_all_are_here<&shuffle<Shuffle::index>>);
  put(table, Operation::vote_all, &among_members<&vote_all>);
  put(table, Operation::vote_any, &among_members<&vote_any>);
  put(table, Operation::vote_uniform, &among_members<&vote_uniform>);
  put(table, Operation::vote_ballot, &among_members<&vote_ballot>);
  put(table, Operation::sync_warp, &when_all_are_here<&sync_warp>);
  put(table, Operation::active_mask, &active_mask);
  put(table, Operation::elect, &among_members<&elect>);
  put(table, Operation::match_any, &among_members<&match_any>);
  put(table, Operation::match_all, &among_members<&match_all>);
  put(table, Operation::reduce_add_u, &among_members<&reduce_add>);
  put(table, Operation::reduce_min_u, &among_members<&reduce_min<Word>>);
  put(table, Operation::reduce_min_s, &among_members<&reduce_min<std::int32_t>>);
  put(table, Operation::reduce_max_u, &among_members<&reduce_max<Word>>);
  put(table, Operation::reduce_max_s, &among_members<&reduce_max<std::int32_t>>);
  put(table, Operation::reduce_and, &among_members<&reduce_and>);
  put(table, Operation::reduce_or, &among_members<&reduce_or>);
  put(table, Operation::reduce_xor, &among_members<&reduce_xor>);
}

}  // namespace regraph::ptx
