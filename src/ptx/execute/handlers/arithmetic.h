// Wraps functions into handlers: 32 lanes at once, a plain loop when the mask is full and a blend
// otherwise. Included inside a handler set's namespace.

template <typename Slot, typename Compute>
REGRAPH_INLINE const Record* for_lanes(const Record* r, Warp& w, Compute compute) {
  Slot* d = lanes<Slot>(w, r->d);
  const std::uint32_t mask = w.exec;
  if (mask == kFullMask) [[likely]] {
    REGRAPH_LANES(l) d[l] = compute(l);
  } else {
    REGRAPH_LANES(l) {
      const Slot value = compute(l);
      d[l] = ((mask >> l) & 1U) != 0 ? value : d[l];
    }
  }
  return r + 1;
}

// The operands of a record. Pointers are taken before a loop: inside it, the compiler would have to
// assume that writing a lane changes the record.
template <typename L>
struct Operands {
  using Slot = typename L::Slot;
  const Slot* a;
  const Slot* b;
  const Slot* c;
  REGRAPH_INLINE Operands(const Record* r, Warp& w)
      : a(lanes<Slot>(w, r->a)), b(lanes<Slot>(w, r->b)), c(lanes<Slot>(w, r->c)) {}
  REGRAPH_INLINE typename L::Value read_a(int l) const { return L::read(a[l]); }
  REGRAPH_INLINE typename L::Value read_b(int l) const { return L::read(b[l]); }
  REGRAPH_INLINE typename L::Value read_c(int l) const { return L::read(c[l]); }
};

template <Operation O, typename L>
const Record* unary(const Record* r, Warp& w) {
  const Operands<L> from(r, w);
  return for_lanes<typename L::Slot>(
      r, w, [=](int l) { return L::write(Function<O>::template apply<L>(from.read_a(l))); });
}
template <Operation O, typename L>
const Record* binary(const Record* r, Warp& w) {
  const Operands<L> from(r, w);
  return for_lanes<typename L::Slot>(r, w, [=](int l) {
    return L::write(Function<O>::template apply<L>(from.read_a(l), from.read_b(l)));
  });
}
template <Operation O, typename L>
const Record* ternary(const Record* r, Warp& w) {
  const Operands<L> from(r, w);
  return for_lanes<typename L::Slot>(r, w, [=](int l) {
    return L::write(Function<O>::template apply<L>(from.read_a(l), from.read_b(l), from.read_c(l)));
  });
}
template <Operation O, typename L>
const Record* shift(const Record* r, Warp& w) {
  const Operands<L> from(r, w);
  const LaneU32* count = lanes<LaneU32>(w, r->b);
  return for_lanes<typename L::Slot>(r, w, [=](int l) {
    return L::write(Function<O>::template apply_shift<L>(from.read_a(l), count[l]));
  });
}
template <Operation O, typename L>
const Record* field(const Record* r, Warp& w) {
  const Operands<L> from(r, w);
  const LaneU32* position = lanes<LaneU32>(w, r->b);
  const LaneU32* length = lanes<LaneU32>(w, r->c);
  return for_lanes<typename L::Slot>(r, w, [=](int l) {
    return L::write(Function<O>::template apply_field<L>(from.read_a(l), position[l], length[l]));
  });
}
template <Operation O, typename L>
const Record* insert(const Record* r, Warp& w) {
  const Operands<L> from(r, w);
  const LaneU32* position = lanes<LaneU32>(w, r->c);
  const LaneU32* length = lanes<LaneU32>(w, r->e);
  return for_lanes<typename L::Slot>(r, w, [=](int l) {
    return L::write(Function<O>::template apply_insert<L>(from.read_a(l), from.read_b(l),
                                                          position[l], length[l]));
  });
}
template <Operation O, typename L>
const Record* count_bits(const Record* r, Warp& w) {
  const Operands<L> from(r, w);
  return for_lanes<LaneU32>(
      r, w, [=](int l) { return Function<O>::template apply_count<L>(from.read_a(l)); });
}
// Pairs of halves: each half is one lane of type H.
template <Operation O, typename H, int kOperands>
const Record* paired(const Record* r, Warp& w) {
  const Operands<Lane<LaneType::u32>> from(r, w);
  return for_lanes<LaneU32>(r, w, [=](int l) {
    std::uint32_t result = 0;
    for (int half = 0; half < 2; ++half) {
      const auto part = [&](std::uint32_t both) { return H::read(both >> (16 * half)); };
      std::uint32_t value = 0;
      if constexpr (kOperands == 1) {
        value = H::write(Function<O>::template apply<H>(part(from.a[l])));
      } else if constexpr (kOperands == 2) {
        value = H::write(Function<O>::template apply<H>(part(from.a[l]), part(from.b[l])));
      } else {
        value = H::write(
            Function<O>::template apply<H>(part(from.a[l]), part(from.b[l]), part(from.c[l])));
      }
      result |= (value & 0xffffU) << (16 * half);
    }
    return result;
  });
}

// mul.wide and mad.wide: the sources are of type L, the result twice as wide.
template <typename L, bool kAccumulate>
const Record* multiply_wide(const Record* r, Warp& w) {
  using T = typename L::Value;
  // 16 bits give 32, 32 give 64; products of sign-extended factors are exact modulo the width.
  using Result = std::conditional_t<sizeof(T) == 2, LaneU32, LaneU64>;
  using Extended = std::conditional_t<std::is_signed_v<T>, std::make_signed_t<Result>, Result>;
  const Operands<L> from(r, w);
  const Result* c = lanes<Result>(w, r->c);
  return for_lanes<Result>(r, w, [=](int l) {
    const Result product = static_cast<Result>(static_cast<Extended>(from.read_a(l))) *
                           static_cast<Result>(static_cast<Extended>(from.read_b(l)));
    return kAccumulate ? product + c[l] : product;
  });
}

// Moves bits: no canonical NaN, no flush.
template <typename Slot>
const Record* move(const Record* r, Warp& w) {
  const Slot* a = lanes<Slot>(w, r->a);
  return for_lanes<Slot>(r, w, [=](int l) { return a[l]; });
}
template <typename Slot>
const Record* select(const Record* r, Warp& w) {
  const Slot* a = lanes<Slot>(w, r->a);
  const Slot* b = lanes<Slot>(w, r->b);
  const std::uint32_t choice = predicate(w, r->c) ^ (r->flags == kNegated ? kFullMask : 0U);
  return for_lanes<Slot>(r, w, [=](int l) { return ((choice >> l) & 1U) != 0 ? a[l] : b[l]; });
}

template <Operation O, typename T>
REGRAPH_INLINE bool compare(T a, T b) {
  const bool unordered = a != a || b != b;
  switch (O) {
    case Operation::equal:
      return a == b;
    case Operation::not_equal:
      return !unordered && a != b;
    case Operation::less:
      return a < b;
    case Operation::less_equal:
      return a <= b;
    case Operation::greater:
      return a > b;
    case Operation::greater_equal:
      return a >= b;
    case Operation::equal_unordered:
      return unordered || a == b;
    case Operation::not_equal_unordered:
      return a != b;
    case Operation::less_unordered:
      return !(a >= b);
    case Operation::less_equal_unordered:
      return !(a > b);
    case Operation::greater_unordered:
      return !(a <= b);
    case Operation::greater_equal_unordered:
      return !(a < b);
    case Operation::ordered:
      return !unordered;
    case Operation::unordered:
      return unordered;
    case Operation::test_finite:
      return __builtin_fabs(static_cast<double>(a)) < __builtin_inf();
    case Operation::test_infinite:
      return __builtin_fabs(static_cast<double>(a)) == __builtin_inf();
    case Operation::test_number:
      return a == a;
    case Operation::test_nan:
      return a != a;
    default: {
      const double smallest = sizeof(T) == 4 ? 0x1p-126 : 0x1p-1022;
      const double magnitude = __builtin_fabs(static_cast<double>(a));
      if (O == Operation::test_subnormal) return magnitude > 0 && magnitude < smallest;
      return magnitude >= smallest && magnitude < __builtin_inf();
    }
  }
}
// Gathers 32 lane results, each 0 or 1, into a mask.
template <typename Test>
REGRAPH_INLINE void write_predicate(const Record* r, Warp& w, Test test) {
  alignas(64) std::uint32_t bit[kWarpLanes];
  REGRAPH_LANES(l) bit[l] = test(l) ? 1U << l : 0U;
  std::uint32_t result = 0;
  REGRAPH_LANES(l) result |= bit[l];
  std::uint32_t& d = predicate(w, r->d);
  d = (d & ~w.exec) | (result & w.exec);
}
template <Operation O, typename L>
const Record* compare_lanes(const Record* r, Warp& w) {
  const Operands<L> from(r, w);
  write_predicate(r, w, [=](int l) { return compare<O>(from.read_a(l), from.read_b(l)); });
  return r + 1;
}
