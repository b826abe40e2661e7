#include "eval/compile/standard_headers.h"

namespace regraph::compile_internal {

namespace {

constexpr const char* kStandardUtility = R"cuda(#pragma once
#include <type_traits>
namespace std {
template <class T>
constexpr void swap(T& a, T& b) {
  T kept = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(kept);
}
template <class T, class U = T>
constexpr T exchange(T& object, U&& value) {
  T kept = static_cast<T&&>(object);
  object = static_cast<U&&>(value);
  return kept;
}
template <class T>
constexpr const T& as_const(T& object) {
  return object;
}
template <class T, class U>
struct pair {
  using first_type = T;
  using second_type = U;
  T first;
  U second;
  constexpr pair() : first(), second() {}
  constexpr pair(const T& a, const U& b) : first(a), second(b) {}
  template <class A, class B>
  constexpr pair(const pair<A, B>& other) : first(other.first), second(other.second) {}
};
template <class T, class U>
pair(T, U) -> pair<T, U>;
template <class T, class U>
constexpr pair<decay_t<T>, decay_t<U>> make_pair(T&& a, U&& b) {
  return pair<decay_t<T>, decay_t<U>>(a, b);
}
template <class T, class U>
constexpr bool operator==(const pair<T, U>& a, const pair<T, U>& b) {
  return a.first == b.first && a.second == b.second;
}
template <class T, class U>
constexpr bool operator<(const pair<T, U>& a, const pair<T, U>& b) {
  return a.first < b.first || (!(b.first < a.first) && a.second < b.second);
}
template <class T, T... I>
struct integer_sequence {
  static constexpr size_t size() { return sizeof...(I); }
};
template <size_t... I>
using index_sequence = integer_sequence<size_t, I...>;
template <size_t N, size_t... I>
struct regraph_indices : regraph_indices<N - 1, N - 1, I...> {};
template <size_t... I>
struct regraph_indices<0, I...> {
  using type = index_sequence<I...>;
};
template <size_t N>
using make_index_sequence = typename regraph_indices<N>::type;
template <class... T>
using index_sequence_for = make_index_sequence<sizeof...(T)>;
}
)cuda";

constexpr const char* kStandardAlgorithm = R"cuda(#pragma once
#include <utility>
namespace std {
template <class T>
constexpr const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T>
constexpr const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <class T, class Less>
constexpr const T& min(const T& a, const T& b, Less less) {
  return less(b, a) ? b : a;
}
template <class T, class Less>
constexpr const T& max(const T& a, const T& b, Less less) {
  return less(a, b) ? b : a;
}
template <class T>
constexpr T min(initializer_list<T> list) {
  T best = *list.begin();
  for (const T& one : list)
    if (one < best) best = one;
  return best;
}
template <class T>
constexpr T max(initializer_list<T> list) {
  T best = *list.begin();
  for (const T& one : list)
    if (best < one) best = one;
  return best;
}
template <class T>
constexpr const T& clamp(const T& value, const T& low, const T& high) {
  return value < low ? low : high < value ? high : value;
}
template <class I, class T>
constexpr void fill(I first, I last, const T& value) {
  for (; first != last; ++first)
    *first = value;
}
template <class I, class N, class T>
constexpr I fill_n(I first, N count, const T& value) {
  for (N i = 0; i < count; ++i, ++first)
    *first = value;
  return first;
}
template <class I, class O>
constexpr O copy(I first, I last, O out) {
  for (; first != last; ++first, ++out)
    *out = *first;
  return out;
}
template <class I, class N, class O>
constexpr O copy_n(I first, N count, O out) {
  for (N i = 0; i < count; ++i, ++first, ++out)
    *out = *first;
  return out;
}
template <class I, class T>
constexpr I lower_bound(I first, I last, const T& value) {
  auto count = last - first;
  while (count > 0) {
    const auto half = count / 2;
    if (first[half] < value) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}
template <class I, class T>
constexpr I upper_bound(I first, I last, const T& value) {
  auto count = last - first;
  while (count > 0) {
    const auto half = count / 2;
    if (!(value < first[half])) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}
}
)cuda";

constexpr const char* kStandardFunctional = R"cuda(#pragma once
#include <utility>
namespace std {
#define REGRAPH_BINARY(name, symbol)                                               \
  template <class T = void>                                                        \
  struct name {                                                                    \
    constexpr auto operator()(const T& a, const T& b) const { return a symbol b; } \
  };                                                                               \
  template <>                                                                      \
  struct name<void> {                                                              \
    template <class A, class B>                                                    \
    constexpr auto operator()(const A& a, const B& b) const {                      \
      return a symbol b;                                                           \
    }                                                                              \
  };
REGRAPH_BINARY(plus, +)
REGRAPH_BINARY(minus, -) REGRAPH_BINARY(multiplies, *) REGRAPH_BINARY(divides, /)
    REGRAPH_BINARY(modulus, %) REGRAPH_BINARY(less, <) REGRAPH_BINARY(greater, >)
        REGRAPH_BINARY(less_equal, <=) REGRAPH_BINARY(greater_equal, >=)
            REGRAPH_BINARY(equal_to, ==) REGRAPH_BINARY(not_equal_to, !=)
                REGRAPH_BINARY(logical_and, &&) REGRAPH_BINARY(logical_or, ||)
                    REGRAPH_BINARY(bit_and, &) REGRAPH_BINARY(bit_or, |) REGRAPH_BINARY(bit_xor, ^)
#undef REGRAPH_BINARY
}
)cuda";

constexpr const char* kStandardArray = R"cuda(#pragma once
#include <utility>
namespace std {
template <class T, size_t N>
struct array {
  using value_type = T;
  T elements[N == 0 ? 1 : N];
  constexpr T& operator[](size_t i) { return elements[i]; }
  constexpr const T& operator[](size_t i) const { return elements[i]; }
  constexpr T& at(size_t i) { return elements[i]; }
  constexpr const T& at(size_t i) const { return elements[i]; }
  constexpr T& front() { return elements[0]; }
  constexpr const T& front() const { return elements[0]; }
  constexpr T& back() { return elements[N - 1]; }
  constexpr const T& back() const { return elements[N - 1]; }
  constexpr T* data() { return elements; }
  constexpr const T* data() const { return elements; }
  constexpr T* begin() { return elements; }
  constexpr const T* begin() const { return elements; }
  constexpr T* end() { return elements + N; }
  constexpr const T* end() const { return elements + N; }
  static constexpr size_t size() { return N; }
  static constexpr bool empty() { return N == 0; }
  constexpr void fill(const T& value) {
    for (size_t i = 0; i < N; ++i)
      elements[i] = value;
  }
};
template <class T, class... U>
array(T, U...) -> array<T, 1 + sizeof...(U)>;
}
)cuda";

constexpr const char* kStandardInteger = R"cuda(#pragma once
#include <stdint.h>
namespace std {
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::intptr_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
}
)cuda";

// Small and used without <cstring>, <cstdlib> or <cstdio> having been included.
constexpr const char* kStandardFunctions = R"cuda(#pragma once
namespace std {
using ::free;
using ::malloc;
using ::memcpy;
using ::memset;
using ::printf;
}
)cuda";

constexpr const char* kStandardTuple = R"cuda(#pragma once
#include <cuda/std/tuple>
namespace std {
using ::cuda::std::apply;
using ::cuda::std::forward_as_tuple;
using ::cuda::std::get;
using ::cuda::std::make_tuple;
using ::cuda::std::tie;
using ::cuda::std::tuple;
using ::cuda::std::tuple_cat;
}
)cuda";

constexpr const char* kStandardComplex = R"cuda(#pragma once
#include <cuda/std/complex>
namespace std {
using ::cuda::std::abs;
using ::cuda::std::arg;
using ::cuda::std::complex;
using ::cuda::std::conj;
using ::cuda::std::cos;
using ::cuda::std::exp;
using ::cuda::std::imag;
using ::cuda::std::log;
using ::cuda::std::norm;
using ::cuda::std::polar;
using ::cuda::std::pow;
using ::cuda::std::proj;
using ::cuda::std::real;
using ::cuda::std::sin;
using ::cuda::std::sqrt;
using ::cuda::std::tan;
}
)cuda";

constexpr const char* kStandardAtomic = R"cuda(#pragma once
#include <cuda/std/atomic>
namespace std {
using ::cuda::std::atomic;
using ::cuda::std::atomic_ref;
using ::cuda::std::memory_order;
using ::cuda::std::memory_order_acq_rel;
using ::cuda::std::memory_order_acquire;
using ::cuda::std::memory_order_relaxed;
using ::cuda::std::memory_order_release;
using ::cuda::std::memory_order_seq_cst;
}
)cuda";

// Thrust's own converts to the host's std::complex.
constexpr const char* kThrustComplex = R"cuda(#pragma once
#include <cuda/std/complex>
namespace thrust {
using ::cuda::std::abs;
using ::cuda::std::arg;
using ::cuda::std::complex;
using ::cuda::std::conj;
using ::cuda::std::cos;
using ::cuda::std::cosh;
using ::cuda::std::exp;
using ::cuda::std::log;
using ::cuda::std::log10;
using ::cuda::std::norm;
using ::cuda::std::polar;
using ::cuda::std::pow;
using ::cuda::std::proj;
using ::cuda::std::sin;
using ::cuda::std::sinh;
using ::cuda::std::sqrt;
using ::cuda::std::tan;
using ::cuda::std::tanh;
}
)cuda";

}  // namespace

std::vector<std::pair<std::string, std::string>> standard_headers() {
  return {
      {"regraph_type_changes.h", kStandardTypeChanges},
      {"type_traits", kStandardTypeTraits},
      {"limits", kStandardLimits},
      {"cmath", kStandardMath},
      {"utility", kStandardUtility},
      {"algorithm", kStandardAlgorithm},
      {"functional", kStandardFunctional},
      {"array", kStandardArray},
      {"cstdint", kStandardInteger},
      {"cstring", kStandardFunctions},
      {"tuple", kStandardTuple},
      {"complex", kStandardComplex},
      {"atomic", kStandardAtomic},
      {"thrust/complex.h", kThrustComplex},
  };
}

}  // namespace regraph::compile_internal
