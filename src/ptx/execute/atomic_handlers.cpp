// Read-modify-write, lane by lane in ascending order. Kernels with global atomics run their blocks
// in order on one thread, so plain memory accesses are enough and floating sums repeat exactly.
#include "ptx/decode/atomic_operation.h"
#include "ptx/memory/block_context.h"

#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

namespace regraph::ptx {
namespace {

#include "ptx/execute/handlers/lane_types.h"

// A half of kind L, or two of them, as they lie in memory.
template <typename L>
struct Half {
  std::uint16_t bits;
};
template <typename L>
struct HalfPair {
  Half<L> low;
  Half<L> high;
};

template <typename L>
Half<L> combine(AtomicOperation operation, Half<L> old, Half<L> b) {
  if (operation == AtomicOperation::exchange) return b;
  const double x = L::read(old.bits);
  const double y = L::read(b.bits);
  double result = x + y;
  // A NaN loses against a number.
  if (operation == AtomicOperation::min) result = x != x || y < x ? y : x;
  if (operation == AtomicOperation::max) result = x != x || y > x ? y : x;
  return {static_cast<std::uint16_t>(L::write(result))};
}
template <typename L>
HalfPair<L> combine(AtomicOperation operation, HalfPair<L> old, HalfPair<L> b) {
  return {combine(operation, old.low, b.low), combine(operation, old.high, b.high)};
}

template <typename T>
requires std::is_arithmetic_v<T> T combine(AtomicOperation operation, T old, T b) {
  switch (operation) {
    case AtomicOperation::min:
      return b < old ? b : old;
    case AtomicOperation::max:
      return old < b ? b : old;
    case AtomicOperation::exchange:
      return b;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const auto x = static_cast<U>(old);
    const auto y = static_cast<U>(b);
    switch (operation) {
      case AtomicOperation::bit_and:
        return static_cast<T>(x & y);
      case AtomicOperation::bit_or:
        return static_cast<T>(x | y);
      case AtomicOperation::bit_xor:
        return static_cast<T>(x ^ y);
      case AtomicOperation::increment:
        return static_cast<T>(x >= y ? U{0} : static_cast<U>(x + 1));
      case AtomicOperation::decrement:
        return static_cast<T>(x == 0 || x > y ? y : static_cast<U>(x - 1));
      default:
        return static_cast<T>(x + y);
    }
  } else {
    return old + b;
  }
}

template <typename T, typename Slot>
void apply(const Record* r, Warp& w, const ScatteredLanes& memory) {
  const auto operation = static_cast<AtomicOperation>(r->e);
  const Slot* b = lanes<Slot>(w, r->b);
  const Slot* c = lanes<Slot>(w, r->c);  // compare-and-swap alone
  for (std::uint32_t rest = w.exec; rest != 0; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    Slot bits = 0;
    std::memcpy(&bits, memory.host[l], sizeof(T));
    Slot result = bits;
    if (operation == AtomicOperation::compare_and_swap) {
      Slot wanted = 0;  // registers may be wider than what lies in memory
      std::memcpy(&wanted, &b[l], sizeof(T));
      if (bits == wanted) result = c[l];
    } else {
      const auto value = [](Slot slot) {
        T typed{};
        std::memcpy(&typed, &slot, sizeof(T));
        return typed;
      };
      const T combined = combine(operation, value(bits), value(b[l]));
      std::memcpy(&result, &combined, sizeof(T));
    }
    std::memcpy(memory.host[l], &result, sizeof(T));
    if (r->d != 0) lanes<Slot>(w, r->d)[l] = bits;
  }
}

const Record* atomic(const Record* r, Warp& w) {
  std::uint64_t addresses[kWarpLanes];
  const auto displacement = static_cast<std::uint64_t>(r->immediate);
  for (int l = 0; l < kWarpLanes; ++l) {
    addresses[l] = ((r->flags & kAtomicNarrowAddress) != 0 ? lanes<std::uint32_t>(w, r->a)[l]
                                                           : lanes<std::uint64_t>(w, r->a)[l]) +
                   displacement;
  }
  ScatteredLanes memory;
  if (resolve_access(r, w, w.sites[r->site], addresses, memory) == AccessOutcome::faulted) {
    return nullptr;
  }
  switch (static_cast<LaneType>(r->flags >> kAtomicTypeShift)) {
    case LaneType::s32:
      apply<std::int32_t, std::uint32_t>(r, w, memory);
      break;
    case LaneType::u64:
      apply<std::uint64_t, std::uint64_t>(r, w, memory);
      break;
    case LaneType::s64:
      apply<std::int64_t, std::uint64_t>(r, w, memory);
      break;
    case LaneType::f32:
    case LaneType::f32_flush:
      apply<float, std::uint32_t>(r, w, memory);
      break;
    case LaneType::f64:
      apply<double, std::uint64_t>(r, w, memory);
      break;
    case LaneType::u16:
    case LaneType::s16:
      apply<std::uint16_t, std::uint32_t>(r, w, memory);
      break;
    case LaneType::f16:
      apply<Half<Lane<LaneType::f16>>, std::uint32_t>(r, w, memory);
      break;
    case LaneType::bf16:
      apply<Half<Lane<LaneType::bf16>>, std::uint32_t>(r, w, memory);
      break;
    case LaneType::f16x2:
      apply<HalfPair<Lane<LaneType::f16>>, std::uint32_t>(r, w, memory);
      break;
    case LaneType::bf16x2:
      apply<HalfPair<Lane<LaneType::bf16>>, std::uint32_t>(r, w, memory);
      break;
    default:
      apply<std::uint32_t, std::uint32_t>(r, w, memory);
      break;
  }
  return r + 1;
}

}  // namespace

std::optional<AtomicOperation> atomic_operation(const Opcode& opcode, DataType type) {
  struct Entry {
    std::string_view name;
    AtomicOperation operation;
  };
  static constexpr Entry kOperations[] = {
      {"add", AtomicOperation::add},       {"min", AtomicOperation::min},
      {"max", AtomicOperation::max},       {"and", AtomicOperation::bit_and},
      {"or", AtomicOperation::bit_or},     {"xor", AtomicOperation::bit_xor},
      {"exch", AtomicOperation::exchange}, {"cas", AtomicOperation::compare_and_swap},
      {"inc", AtomicOperation::increment}, {"dec", AtomicOperation::decrement},
  };
  const bool real = type == DataType::f32 || type == DataType::f64;
  const bool half = is_floating(type) && !real;
  const std::size_t bytes = size_in_bytes(type);
  if (bytes != 2 && bytes != 4 && bytes != 8) return std::nullopt;
  if (type > DataType::f64) return std::nullopt;
  for (const Entry& entry : kOperations) {
    if (!opcode.has(entry.name)) continue;
    using A = AtomicOperation;
    const A operation = entry.operation;
    if (real && operation != A::add) return std::nullopt;
    if (half && operation != A::add && operation != A::min && operation != A::max) {
      return std::nullopt;
    }
    if (bytes == 2 && !half && operation != A::compare_and_swap && operation != A::exchange) {
      return std::nullopt;
    }
    return entry.operation;
  }
  return std::nullopt;
}

bool is_vector_atomic(AtomicOperation operation, DataType type, int elements) {
  if (type == DataType::f32) {
    return operation == AtomicOperation::add && (elements == 2 || elements == 4);
  }
  if (!is_floating(type) || type == DataType::f64) return false;
  return elements * size_in_bytes(type) <= 16;
}

void fill_atomic_handlers(Handler* table) {
  table[handler_id(Operation::atomic, LaneType::u32)] = &atomic;
}

}  // namespace regraph::ptx
