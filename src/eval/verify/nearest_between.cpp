#include "eval/verify/nearest_between.h"

#include "eval/verify/element.h"

#include <cstdint>
#include <cstring>
#include <utility>

namespace regraph::verify {
namespace {

// Of 64-bit integers, which doubles do not hold.
template <typename Integer>
int order_of(const std::byte* left, const std::byte* right) {
  Integer a = 0;
  Integer b = 0;
  std::memcpy(&a, left, sizeof(a));
  std::memcpy(&b, right, sizeof(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

enum class Order : std::uint8_t { less, equal, greater, none };

Order compare_elements(ScalarType type, const std::byte* left, const std::byte* right) {
  int order = 0;
  if (type == ScalarType::i64 || type == ScalarType::u64) {
    order = type == ScalarType::i64 ? order_of<std::int64_t>(left, right)
                                    : order_of<std::uint64_t>(left, right);
  } else {
    const double a = load_element(type, left);
    const double b = load_element(type, right);
    if (a != a || b != b) return Order::none;
    order = a < b ? -1 : a > b ? 1 : 0;
  }
  return order < 0 ? Order::less : order > 0 ? Order::greater : Order::equal;
}

}  // namespace

std::vector<std::byte> nearest_between(ScalarType type, std::span<const std::byte> one,
                                       std::span<const std::byte> other,
                                       std::span<const std::byte> actual) {
  std::vector<std::byte> nearest(one.begin(), one.end());
  const std::size_t size = size_in_bytes(type);
  for (std::size_t at = 0; at + size <= nearest.size(); at += size) {
    const std::byte* low = one.data() + at;
    const std::byte* high = other.data() + at;
    const Order order = compare_elements(type, low, high);
    if (order == Order::none) continue;
    if (order == Order::greater) std::swap(low, high);
    const Order from_low = compare_elements(type, actual.data() + at, low);
    if (from_low == Order::none) continue;
    const bool above = compare_elements(type, actual.data() + at, high) == Order::greater;
    const std::byte* chosen = from_low == Order::less ? low : above ? high : actual.data() + at;
    std::memcpy(nearest.data() + at, chosen, size);
  }
  return nearest;
}

}  // namespace regraph::verify
