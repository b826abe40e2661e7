#include "eval/compile/standard_headers.h"

namespace regraph::compile_internal {

const char* const kStandardTypeTraits = R"cuda(#pragma once
#include <regraph_type_changes.h>
namespace std {
template <class T, class U>
struct is_same : false_type {};
template <class T>
struct is_same<T, T> : true_type {};
template <class T>
struct is_const : false_type {};
template <class T>
struct is_const<const T> : true_type {};
template <class T>
struct is_volatile : false_type {};
template <class T>
struct is_volatile<volatile T> : true_type {};
template <class T>
struct is_lvalue_reference : false_type {};
template <class T>
struct is_lvalue_reference<T&> : true_type {};
template <class T>
struct is_rvalue_reference : false_type {};
template <class T>
struct is_rvalue_reference<T&&> : true_type {};
template <class T>
struct is_reference
    : bool_constant<is_lvalue_reference<T>::value || is_rvalue_reference<T>::value> {};
template <class T>
struct is_array : false_type {};
template <class T>
struct is_array<T[]> : true_type {};
template <class T, size_t N>
struct is_array<T[N]> : true_type {};
template <class T>
struct is_pointer : bool_constant<!is_same<T, typename remove_pointer<T>::type>::value> {};
template <class T>
struct is_void : is_same<typename remove_cv<T>::type, void> {};
template <class T>
struct is_null_pointer : is_same<typename remove_cv<T>::type, nullptr_t> {};
template <class T, class... Of>
struct regraph_is_any_of : bool_constant<(is_same<T, Of>::value || ...)> {};
template <class T>
struct is_integral
    : regraph_is_any_of<typename remove_cv<T>::type, bool, char, signed char, unsigned char,
                        wchar_t, char8_t, char16_t, char32_t, short, unsigned short, int, unsigned,
                        long, unsigned long, long long, unsigned long long> {};
template <class T>
struct is_floating_point : regraph_is_any_of<typename remove_cv<T>::type, float, double> {};
template <class T>
struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <class T>
struct is_enum : bool_constant<__is_enum(T)> {};
template <class T>
struct is_class : bool_constant<__is_class(T)> {};
template <class T>
struct is_union : bool_constant<__is_union(T)> {};
template <class T>
struct is_function : bool_constant<!is_const<const T>::value && !is_reference<T>::value> {};
template <class T>
struct is_scalar : bool_constant<is_arithmetic<T>::value || is_enum<T>::value ||
                                 is_pointer<T>::value || is_null_pointer<T>::value> {};
template <class T>
struct is_fundamental
    : bool_constant<is_arithmetic<T>::value || is_void<T>::value || is_null_pointer<T>::value> {};
template <class T, bool = is_arithmetic<T>::value>
struct is_signed : bool_constant<(T(-1) < T(0))> {};
template <class T>
struct is_signed<T, false> : false_type {};
template <class T, bool = is_integral<T>::value>
struct is_unsigned : bool_constant<(T(0) < T(-1))> {};
template <class T>
struct is_unsigned<T, false> : false_type {};
template <class T>
struct is_empty : bool_constant<__is_empty(T)> {};
template <class T>
struct is_aggregate : bool_constant<__is_aggregate(T)> {};
template <class T>
struct is_standard_layout : bool_constant<__is_standard_layout(T)> {};
template <class T>
struct is_trivial : bool_constant<__is_trivial(T)> {};
template <class T>
struct is_pod : bool_constant<__is_pod(T)> {};
template <class T>
struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class T>
struct is_trivially_destructible : bool_constant<__is_trivially_destructible(T)> {};
template <class T>
struct is_trivially_default_constructible : bool_constant<__is_trivially_constructible(T)> {};
template <class T>
struct is_default_constructible : bool_constant<__is_constructible(T)> {};
template <class T, class... A>
struct is_constructible : bool_constant<__is_constructible(T, A...)> {};
template <class B, class D>
struct is_base_of : bool_constant<__is_base_of(B, D)> {};
template <class From, class To>
struct is_convertible : bool_constant<__is_convertible_to(From, To)> {};
template <class T>
struct rank : integral_constant<size_t, 0> {};
template <class T>
struct rank<T[]> : integral_constant<size_t, rank<T>::value + 1> {};
template <class T, size_t N>
struct rank<T[N]> : integral_constant<size_t, rank<T>::value + 1> {};
template <class T>
struct alignment_of : integral_constant<size_t, alignof(T)> {};

template <class T, class U>
inline constexpr bool is_same_v = is_same<T, U>::value;
template <class B, class D>
inline constexpr bool is_base_of_v = is_base_of<B, D>::value;
template <class F, class T>
inline constexpr bool is_convertible_v = is_convertible<F, T>::value;
template <class T, class... A>
inline constexpr bool is_constructible_v = is_constructible<T, A...>::value;
#define REGRAPH_TRAIT(name) \
  template <class T>        \
  inline constexpr bool name##_v = name<T>::value;
REGRAPH_TRAIT(is_const)
REGRAPH_TRAIT(is_volatile) REGRAPH_TRAIT(is_reference) REGRAPH_TRAIT(is_lvalue_reference)
    REGRAPH_TRAIT(is_rvalue_reference) REGRAPH_TRAIT(is_array) REGRAPH_TRAIT(is_pointer)
        REGRAPH_TRAIT(is_void) REGRAPH_TRAIT(is_null_pointer) REGRAPH_TRAIT(is_integral)
            REGRAPH_TRAIT(is_floating_point) REGRAPH_TRAIT(is_arithmetic) REGRAPH_TRAIT(is_enum)
                REGRAPH_TRAIT(is_class) REGRAPH_TRAIT(is_union) REGRAPH_TRAIT(is_function)
                    REGRAPH_TRAIT(is_scalar) REGRAPH_TRAIT(is_fundamental) REGRAPH_TRAIT(is_signed)
                        REGRAPH_TRAIT(is_unsigned) REGRAPH_TRAIT(is_empty)
                            REGRAPH_TRAIT(is_aggregate) REGRAPH_TRAIT(is_standard_layout)
                                REGRAPH_TRAIT(is_trivial) REGRAPH_TRAIT(is_pod)
                                    REGRAPH_TRAIT(is_trivially_copyable)
                                        REGRAPH_TRAIT(is_trivially_destructible)
                                            REGRAPH_TRAIT(is_default_constructible)
                                                REGRAPH_TRAIT(is_trivially_default_constructible)
#undef REGRAPH_TRAIT

                                                    template <class T>
                                                    struct negation
    : bool_constant<!bool(T::value)> {
};
template <class... T>
struct conjunction : bool_constant<(bool(T::value) && ...)> {};
template <class... T>
struct disjunction : bool_constant<(bool(T::value) || ...)> {};
template <class T>
inline constexpr bool negation_v = negation<T>::value;
template <class... T>
inline constexpr bool conjunction_v = conjunction<T...>::value;
template <class... T>
inline constexpr bool disjunction_v = disjunction<T...>::value;

template <class T>
struct decay {
  using U = typename remove_reference<T>::type;
  using type = conditional_t<
      is_array<U>::value, typename remove_extent<U>::type*,
      typename conditional<is_function<U>::value, add_pointer<U>, remove_cv<U>>::type::type>;
};
template <class T>
requires(is_array<remove_reference_t<T>>::value) struct decay<T> {
  using type = remove_extent_t<remove_reference_t<T>>*;
};
template <class T>
using decay_t = typename decay<T>::type;
template <size_t Size, size_t Alignment = 8>
struct aligned_storage {
  struct alignas(Alignment) type {
    unsigned char data[Size];
  };
};
template <size_t Size, size_t Alignment = 8>
using aligned_storage_t = typename aligned_storage<Size, Alignment>::type;
template <class T>
struct underlying_type {
  using type = __underlying_type(T);
};
template <class T>
using underlying_type_t = typename underlying_type<T>::type;
template <class... T>
struct common_type {};
template <class T>
struct common_type<T> {
  using type = decay_t<T>;
};
template <class T, class U>
struct common_type<T, U> {
  using type = decay_t<decltype(false ? declval<T>() : declval<U>())>;
};
template <class T, class U, class V, class... W>
struct common_type<T, U, V, W...> : common_type<typename common_type<T, U>::type, V, W...> {};
template <class... T>
using common_type_t = typename common_type<T...>::type;
template <class F, class... A>
struct invoke_result {
  using type = decltype(declval<F>()(declval<A>()...));
};
template <class F, class... A>
using invoke_result_t = typename invoke_result<F, A...>::type;

template <class T>
struct make_unsigned;
template <class T>
struct make_signed;
#define REGRAPH_SIGN(name)              \
  template <>                           \
  struct make_unsigned<signed name> {   \
    using type = unsigned name;         \
  };                                    \
  template <>                           \
  struct make_unsigned<unsigned name> { \
    using type = unsigned name;         \
  };                                    \
  template <>                           \
  struct make_signed<signed name> {     \
    using type = signed name;           \
  };                                    \
  template <>                           \
  struct make_signed<unsigned name> {   \
    using type = signed name;           \
  };
REGRAPH_SIGN(char)
REGRAPH_SIGN(short) REGRAPH_SIGN(int) REGRAPH_SIGN(long) REGRAPH_SIGN(long long)
#undef REGRAPH_SIGN
    template <>
    struct make_unsigned<char> {
  using type = unsigned char;
};
template <>
struct make_signed<char> {
  using type = signed char;
};
template <class T>
using make_unsigned_t = typename make_unsigned<T>::type;
template <class T>
using make_signed_t = typename make_signed<T>::type;
}
)cuda";

}  // namespace regraph::compile_internal
