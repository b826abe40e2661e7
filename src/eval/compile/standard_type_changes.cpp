#include "eval/compile/standard_headers.h"

namespace regraph::compile_internal {

const char* const kStandardTypeChanges = R"cuda(#pragma once
namespace std {
using ::size_t;
using ptrdiff_t = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));
using nullptr_t = decltype(nullptr);
template <class T, T v>
struct integral_constant {
  using value_type = T;
  using type = integral_constant;
  static constexpr T value = v;
  constexpr operator T() const noexcept { return v; }
  constexpr T operator()() const noexcept { return v; }
};
template <bool B>
using bool_constant = integral_constant<bool, B>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <class T>
struct type_identity {
  using type = T;
};
template <class T>
using type_identity_t = T;
template <class...>
using void_t = void;
template <bool B, class T, class F>
struct conditional {
  using type = T;
};
template <class T, class F>
struct conditional<false, T, F> {
  using type = F;
};
template <bool B, class T, class F>
using conditional_t = typename conditional<B, T, F>::type;
template <bool B, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  using type = T;
};
template <bool B, class T = void>
using enable_if_t = typename enable_if<B, T>::type;

template <class T>
struct remove_const {
  using type = T;
};
template <class T>
struct remove_const<const T> {
  using type = T;
};
template <class T>
struct remove_volatile {
  using type = T;
};
template <class T>
struct remove_volatile<volatile T> {
  using type = T;
};
template <class T>
struct remove_cv {
  using type = typename remove_const<typename remove_volatile<T>::type>::type;
};
template <class T>
struct remove_reference {
  using type = T;
};
template <class T>
struct remove_reference<T&> {
  using type = T;
};
template <class T>
struct remove_reference<T&&> {
  using type = T;
};
template <class T>
struct remove_pointer {
  using type = T;
};
template <class T>
struct remove_pointer<T*> {
  using type = T;
};
template <class T>
struct remove_pointer<T* const> {
  using type = T;
};
template <class T>
struct remove_pointer<T* volatile> {
  using type = T;
};
template <class T>
struct remove_extent {
  using type = T;
};
template <class T>
struct remove_extent<T[]> {
  using type = T;
};
template <class T, size_t N>
struct remove_extent<T[N]> {
  using type = T;
};
template <class T>
struct remove_all_extents {
  using type = T;
};
template <class T>
struct remove_all_extents<T[]> {
  using type = typename remove_all_extents<T>::type;
};
template <class T, size_t N>
struct remove_all_extents<T[N]> {
  using type = typename remove_all_extents<T>::type;
};
template <class T>
struct remove_cvref {
  using type = typename remove_cv<typename remove_reference<T>::type>::type;
};
template <class T>
struct add_const {
  using type = const T;
};
template <class T>
struct add_volatile {
  using type = volatile T;
};
template <class T>
struct add_cv {
  using type = const volatile T;
};
template <class T>
using remove_const_t = typename remove_const<T>::type;
template <class T>
using remove_volatile_t = typename remove_volatile<T>::type;
template <class T>
using remove_cv_t = typename remove_cv<T>::type;
template <class T>
using remove_reference_t = typename remove_reference<T>::type;
template <class T>
using remove_pointer_t = typename remove_pointer<T>::type;
template <class T>
using remove_extent_t = typename remove_extent<T>::type;
template <class T>
using remove_all_extents_t = typename remove_all_extents<T>::type;
template <class T>
using remove_cvref_t = typename remove_cvref<T>::type;
template <class T>
using add_const_t = const T;
template <class T>
using add_volatile_t = volatile T;
template <class T>
using add_cv_t = const volatile T;

template <class T, class = void>
struct add_lvalue_reference {
  using type = T;
};
template <class T>
struct add_lvalue_reference<T, void_t<T&>> {
  using type = T&;
};
template <class T, class = void>
struct add_rvalue_reference {
  using type = T;
};
template <class T>
struct add_rvalue_reference<T, void_t<T&&>> {
  using type = T&&;
};
template <class T>
struct add_pointer {
  using type = typename remove_reference<T>::type*;
};
template <class T>
using add_lvalue_reference_t = typename add_lvalue_reference<T>::type;
template <class T>
using add_rvalue_reference_t = typename add_rvalue_reference<T>::type;
template <class T>
using add_pointer_t = typename add_pointer<T>::type;
template <class T>
typename add_rvalue_reference<T>::type declval() noexcept;
}
)cuda";

}  // namespace regraph::compile_internal
