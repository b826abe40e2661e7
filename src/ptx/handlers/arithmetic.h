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

// Reads lane l of the operand at the offset as type L.
template <typename L>
REGRAPH_INLINE typename L::Value operand(Warp& w, std::uint32_t offset, int l) {
  return L::read(lanes<typename L::Slot>(w, offset)[l]);
}

template <Operation O, typename L>
const Record* unary(const Record* r, Warp& w) {
  return for_lanes<typename L::Slot>(r, w, [&](int l) {
    return L::write(Function<O>::template apply<L>(operand<L>(w, r->a, l)));
  });
}
template <Operation O, typename L>
const Record* binary(const Record* r, Warp& w) {
  return for_lanes<typename L::Slot>(r, w, [&](int l) {
    return L::write(Function<O>::template apply<L>(operand<L>(w, r->a, l), operand<L>(w, r->b, l)));
  });
}
template <Operation O, typename L>
const Record* ternary(const Record* r, Warp& w) {
  return for_lanes<typename L::Slot>(r, w, [&](int l) {
    return L::write(Function<O>::template apply<L>(operand<L>(w, r->a, l), operand<L>(w, r->b, l),
                                                   operand<L>(w, r->c, l)));
  });
}
template <Operation O, typename L>
const Record* shift(const Record* r, Warp& w) {
  return for_lanes<typename L::Slot>(r, w, [&](int l) {
    return L::write(
        Function<O>::template apply_shift<L>(operand<L>(w, r->a, l), lanes<LaneU32>(w, r->b)[l]));
  });
}
template <Operation O, typename L>
const Record* field(const Record* r, Warp& w) {
  return for_lanes<typename L::Slot>(r, w, [&](int l) {
    return L::write(Function<O>::template apply_field<L>(
        operand<L>(w, r->a, l), lanes<LaneU32>(w, r->b)[l], lanes<LaneU32>(w, r->c)[l]));
  });
}
template <Operation O, typename L>
const Record* insert(const Record* r, Warp& w) {
  return for_lanes<typename L::Slot>(r, w, [&](int l) {
    return L::write(Function<O>::template apply_insert<L>(
        operand<L>(w, r->a, l), operand<L>(w, r->b, l), lanes<LaneU32>(w, r->c)[l],
        lanes<LaneU32>(w, r->e)[l]));
  });
}
template <Operation O, typename L>
const Record* count_bits(const Record* r, Warp& w) {
  return for_lanes<LaneU32>(
      r, w, [&](int l) { return Function<O>::template apply_count<L>(operand<L>(w, r->a, l)); });
}
// Pairs of halves: each half is one lane of type H.
template <Operation O, typename H, int kOperands>
const Record* paired(const Record* r, Warp& w) {
  return for_lanes<LaneU32>(r, w, [&](int l) {
    std::uint32_t result = 0;
    for (int half = 0; half < 2; ++half) {
      const auto part = [&](std::uint32_t offset) {
        return H::read(lanes<LaneU32>(w, offset)[l] >> (16 * half));
      };
      std::uint32_t value = 0;
      if constexpr (kOperands == 1) {
        value = H::write(Function<O>::template apply<H>(part(r->a)));
      } else if constexpr (kOperands == 2) {
        value = H::write(Function<O>::template apply<H>(part(r->a), part(r->b)));
      } else {
        value = H::write(Function<O>::template apply<H>(part(r->a), part(r->b), part(r->c)));
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
  if constexpr (sizeof(T) == 2) {
    return for_lanes<LaneU32>(r, w, [&](int l) {
      const auto product =
          static_cast<std::uint32_t>(static_cast<std::int32_t>(operand<L>(w, r->a, l))) *
          static_cast<std::uint32_t>(static_cast<std::int32_t>(operand<L>(w, r->b, l)));
      return kAccumulate ? product + lanes<LaneU32>(w, r->c)[l] : product;
    });
  } else {
    using Product = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return for_lanes<LaneU64>(r, w, [&](int l) {
      const auto product = static_cast<std::uint64_t>(static_cast<Product>(operand<L>(w, r->a, l)) *
                                                      static_cast<Product>(operand<L>(w, r->b, l)));
      return kAccumulate ? product + lanes<LaneU64>(w, r->c)[l] : product;
    });
  }
}

// Moves bits: no canonical NaN, no flush.
template <typename Slot>
const Record* move(const Record* r, Warp& w) {
  const Slot* a = lanes<Slot>(w, r->a);
  return for_lanes<Slot>(r, w, [&](int l) { return a[l]; });
}
template <typename Slot>
const Record* select(const Record* r, Warp& w) {
  const Slot* a = lanes<Slot>(w, r->a);
  const Slot* b = lanes<Slot>(w, r->b);
  const std::uint32_t choice = predicate(w, r->c) ^ (r->flags == kNegated ? kFullMask : 0U);
  return for_lanes<Slot>(r, w, [&](int l) { return ((choice >> l) & 1U) != 0 ? a[l] : b[l]; });
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
  write_predicate(
      r, w, [&](int l) { return compare<O>(operand<L>(w, r->a, l), operand<L>(w, r->b, l)); });
  return r + 1;
}
