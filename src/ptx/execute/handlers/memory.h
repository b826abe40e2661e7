// Loads and stores through remembered access plans. Included inside a handler set's namespace.

template <MemoryType>
struct Element;
template <>
struct Element<MemoryType::u8> {
  using Type = std::uint8_t;
  using Slot = LaneU32;
};
template <>
struct Element<MemoryType::s8> {
  using Type = std::int8_t;
  using Slot = LaneS32;
};
template <>
struct Element<MemoryType::u16> {
  using Type = std::uint16_t;
  using Slot = LaneU32;
};
template <>
struct Element<MemoryType::s16> {
  using Type = std::int16_t;
  using Slot = LaneS32;
};
template <>
struct Element<MemoryType::b32> {
  using Type = std::uint32_t;
  using Slot = LaneU32;
};
template <>
struct Element<MemoryType::b64> {
  using Type = std::uint64_t;
  using Slot = LaneU64;
};

template <typename T>
REGRAPH_INLINE T read_bytes(const std::byte* from) {
  T value;
  __builtin_memcpy(&value, from, sizeof(T));
  return value;
}
template <typename T>
REGRAPH_INLINE void write_bytes(std::byte* to, T value) {
  __builtin_memcpy(to, &value, sizeof(T));
}

// Whether the lanes' addresses follow the plan, given that the first active one is `first`.
template <typename Address>
REGRAPH_INLINE bool follows(const Address* a, Address first, const AccessPlan& plan,
                            std::uint32_t mask) {
  using Signed = std::make_signed_t<Address>;
  Address difference = 0;
  if (mask == kFullMask) [[likely]] {
    REGRAPH_LANES(l) {
      difference |= (a[l] - first) ^ static_cast<Address>(static_cast<Signed>(plan.delta[l]));
    }
  } else {
    REGRAPH_LANES(l) {
      const Address lane =
          (a[l] - first) ^ static_cast<Address>(static_cast<Signed>(plan.delta[l]));
      difference |= ((mask >> l) & 1U) != 0 ? lane : Address{0};
    }
  }
  return difference == 0;
}

// Checks the access. Returns its plan with `host` the first lane's memory; null when the lanes were
// scattered into `scattered` (host is then non-null) or a fault was set (host is null).
template <typename Address>
REGRAPH_INLINE const AccessPlan* check_access(const Record* r, Warp& w, AccessSite& site,
                                              ScatteredLanes& scattered, std::byte*& host) {
  const Address* a = lanes<Address>(w, r->a);
  const std::uint32_t mask = w.exec;
  const Address first = a[__builtin_ctz(mask)];
  const std::uint64_t base =
      static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(r->immediate);
  AccessPlan* plan = &site.plans[site.current];
  const auto low = base + static_cast<std::uint64_t>(plan->low);
  const auto high = base + static_cast<std::uint64_t>(plan->high);
  if (plan->mask == mask && (base & plan->alignment_mask) == plan->alignment &&
      low >= site.region_begin && high <= site.region_end && low < high &&
      follows<Address>(a, first, *plan, mask)) [[likely]] {
    ++plan->hits;
    host = site.region_host + (base - site.region_begin);
    return plan;
  }
  std::uint64_t addresses[kWarpLanes];
  for (int l = 0; l < kWarpLanes; ++l) {
    addresses[l] = static_cast<std::uint64_t>(a[l]) + static_cast<std::uint64_t>(r->immediate);
  }
  switch (resolve_access(r, w, site, addresses, scattered)) {
    case AccessOutcome::planned:
      host = site.region_host + (base - site.region_begin);
      return &site.plans[site.current];
    case AccessOutcome::scattered:
      host = scattered.host[__builtin_ctz(mask)];
      return nullptr;
    default:
      host = nullptr;
      return nullptr;
  }
}

template <typename Slot>
REGRAPH_INLINE void gather32([[maybe_unused]] Slot* d, [[maybe_unused]] const std::byte* host,
                             [[maybe_unused]] const std::int32_t* delta) {
#if defined(__AVX512F__)
  for (int half = 0; half < 2; ++half) {
    const __m512i index = _mm512_load_si512(delta + 16 * half);
    _mm512_store_si512(d + 16 * half,
                       _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), 0xffff, index, host, 1));
  }
#else
  for (int l = 0; l < kWarpLanes; ++l)
    d[l] = read_bytes<std::uint32_t>(host + delta[l]);
#endif
}

using Four [[gnu::vector_size(16)]] = std::uint32_t;

// 32 lanes of four words each: 4x4 transposes in registers.
REGRAPH_INLINE void gather_quads(LaneU32* const d[4], const std::byte* host,
                                 const std::int32_t* delta) {
  for (int l = 0; l < kWarpLanes; l += 4) {
    const Four r0 = read_bytes<Four>(host + delta[l]);
    const Four r1 = read_bytes<Four>(host + delta[l + 1]);
    const Four r2 = read_bytes<Four>(host + delta[l + 2]);
    const Four r3 = read_bytes<Four>(host + delta[l + 3]);
    const Four low01 = __builtin_shuffle(r0, r1, Four{0, 4, 1, 5});
    const Four low23 = __builtin_shuffle(r2, r3, Four{0, 4, 1, 5});
    const Four high01 = __builtin_shuffle(r0, r1, Four{2, 6, 3, 7});
    const Four high23 = __builtin_shuffle(r2, r3, Four{2, 6, 3, 7});
    const Four c0 = __builtin_shuffle(low01, low23, Four{0, 1, 4, 5});
    const Four c1 = __builtin_shuffle(low01, low23, Four{2, 3, 6, 7});
    const Four c2 = __builtin_shuffle(high01, high23, Four{0, 1, 4, 5});
    const Four c3 = __builtin_shuffle(high01, high23, Four{2, 3, 6, 7});
    __builtin_memcpy(d[0] + l, &c0, sizeof(c0));
    __builtin_memcpy(d[1] + l, &c1, sizeof(c1));
    __builtin_memcpy(d[2] + l, &c2, sizeof(c2));
    __builtin_memcpy(d[3] + l, &c3, sizeof(c3));
  }
}
REGRAPH_INLINE void scatter_quads(const LaneU32* const d[4], std::byte* host,
                                  const std::int32_t* delta) {
  for (int l = 0; l < kWarpLanes; l += 4) {
    const Four r0 = read_bytes<Four>(reinterpret_cast<const std::byte*>(d[0] + l));
    const Four r1 = read_bytes<Four>(reinterpret_cast<const std::byte*>(d[1] + l));
    const Four r2 = read_bytes<Four>(reinterpret_cast<const std::byte*>(d[2] + l));
    const Four r3 = read_bytes<Four>(reinterpret_cast<const std::byte*>(d[3] + l));
    const Four low01 = __builtin_shuffle(r0, r1, Four{0, 4, 1, 5});
    const Four low23 = __builtin_shuffle(r2, r3, Four{0, 4, 1, 5});
    const Four high01 = __builtin_shuffle(r0, r1, Four{2, 6, 3, 7});
    const Four high23 = __builtin_shuffle(r2, r3, Four{2, 6, 3, 7});
    write_bytes(host + delta[l], __builtin_shuffle(low01, low23, Four{0, 1, 4, 5}));
    write_bytes(host + delta[l + 1], __builtin_shuffle(low01, low23, Four{2, 3, 6, 7}));
    write_bytes(host + delta[l + 2], __builtin_shuffle(high01, high23, Four{0, 1, 4, 5}));
    write_bytes(host + delta[l + 3], __builtin_shuffle(high01, high23, Four{2, 3, 6, 7}));
  }
}

template <typename Address, MemoryType M, int kElements>
const Record* load(const Record* r, Warp& w) {
  using T = typename Element<M>::Type;
  using Slot = typename Element<M>::Slot;
  ScatteredLanes scattered;
  std::byte* host = nullptr;
  AccessSite& site = w.sites[r->site];
  const AccessPlan* plan = check_access<Address>(r, w, site, scattered, host);
  if (host == nullptr) [[unlikely]]
    return nullptr;
  // The base address may share its register with a destination: everything is checked by now.
  const std::uint32_t offsets[4] = {r->d, r->b, r->c, r->e};
  Slot* d[4];
  for (int i = 0; i < kElements; ++i)
    d[i] = lanes<Slot>(w, offsets[i]);
  const std::uint32_t mask = w.exec;
  if (plan != nullptr && mask == kFullMask) [[likely]] {
    if (plan->kind == AccessPlan::uniform) {
      for (int i = 0; i < kElements; ++i) {
        const auto value = static_cast<Slot>(read_bytes<T>(host + i * sizeof(T)));
        Slot* to = d[i];
        REGRAPH_LANES(l) to[l] = value;
      }
    } else if (kElements == 1 && plan->kind == AccessPlan::consecutive) {
      Slot* to = d[0];
      REGRAPH_LANES(l) to[l] = static_cast<Slot>(read_bytes<T>(host + l * sizeof(T)));
    } else if constexpr (kElements == 4 && M == MemoryType::b32) {
      gather_quads(d, host, plan->delta);
    } else if constexpr (M == MemoryType::b32) {
      for (int i = 0; i < kElements; ++i)
        gather32(d[i], host + i * sizeof(T), plan->delta);
    } else {
      for (int i = 0; i < kElements; ++i) {
        for (int l = 0; l < kWarpLanes; ++l) {
          d[i][l] = static_cast<Slot>(read_bytes<T>(host + plan->delta[l] + i * sizeof(T)));
        }
      }
    }
    return r + 1;
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    const std::byte* from = plan != nullptr ? host + plan->delta[l] : scattered.host[l];
    for (int i = 0; i < kElements; ++i) {
      d[i][l] = static_cast<Slot>(read_bytes<T>(from + i * sizeof(T)));
    }
  }
  return r + 1;
}

// Lanes that write the same address: the highest lane wins.
template <typename Address, MemoryType M, int kElements>
const Record* store(const Record* r, Warp& w) {
  using T = typename Element<M>::Type;
  using Slot = typename Element<M>::Slot;
  ScatteredLanes scattered;
  std::byte* host = nullptr;
  AccessSite& site = w.sites[r->site];
  const AccessPlan* plan = check_access<Address>(r, w, site, scattered, host);
  if (host == nullptr) [[unlikely]]
    return nullptr;
  const std::uint32_t offsets[4] = {r->d, r->b, r->c, r->e};
  const Slot* d[4];
  for (int i = 0; i < kElements; ++i)
    d[i] = lanes<Slot>(w, offsets[i]);
  const std::uint32_t mask = w.exec;
  if (plan != nullptr && mask == kFullMask) [[likely]] {
    if (kElements == 1 && plan->kind == AccessPlan::consecutive) {
      const Slot* from = d[0];
      REGRAPH_LANES(l) write_bytes(host + l * sizeof(T), static_cast<T>(from[l]));
    } else if constexpr (kElements == 4 && M == MemoryType::b32) {
      scatter_quads(d, host, plan->delta);
    } else {
      for (int l = 0; l < kWarpLanes; ++l) {
        for (int i = 0; i < kElements; ++i) {
          write_bytes(host + plan->delta[l] + i * sizeof(T), static_cast<T>(d[i][l]));
        }
      }
    }
    return r + 1;
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    std::byte* to = plan != nullptr ? host + plan->delta[l] : scattered.host[l];
    for (int i = 0; i < kElements; ++i) {
      write_bytes(to + i * sizeof(T), static_cast<T>(d[i][l]));
    }
  }
  return r + 1;
}

// Checks and counts the access; memory is not touched.
template <typename Address>
const Record* check(const Record* r, Warp& w) {
  ScatteredLanes scattered;
  std::byte* host = nullptr;
  check_access<Address>(r, w, w.sites[r->site], scattered, host);
  return host == nullptr ? nullptr : r + 1;
}

// The same, and reports it.
template <typename Address>
const Record* trace(const Record* r, Warp& w) {
  ScatteredLanes scattered;
  std::byte* host = nullptr;
  AccessSite& site = w.sites[r->site];
  check_access<Address>(r, w, site, scattered, host);
  if (host == nullptr) [[unlikely]]
    return nullptr;
  report_access(r, w, site);
  return r + 1;
}
