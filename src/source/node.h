// Telling the kinds of IR nodes apart, as LLVM's isa and dyn_cast do: a node class T has a static
// kKind, its base a kind().
#pragma once

#include <cassert>
#include <memory>

namespace regraph::source {

template <typename T, typename Node>
[[nodiscard]] bool is(const Node& node) {
  return node.kind() == T::kKind;
}
// Null is of no kind.
template <typename T, typename Node>
[[nodiscard]] bool is(const std::shared_ptr<const Node>& node) {
  return node != nullptr && node->kind() == T::kKind;
}

// The node as a T, or null when it is of another kind. Valid as long as the node.
template <typename T, typename Node>
[[nodiscard]] const T* as(const Node& node) {
  return is<T>(node) ? static_cast<const T*>(&node) : nullptr;
}
template <typename T, typename Node>
[[nodiscard]] const T* as(const std::shared_ptr<const Node>& node) {
  return is<T>(node) ? static_cast<const T*>(node.get()) : nullptr;
}
template <typename T, typename Node>
[[nodiscard]] const T* as(const Node* node) {
  return node != nullptr && is<T>(*node) ? static_cast<const T*>(node) : nullptr;
}

// The node as the T that it is known to be.
template <typename T, typename Node>
[[nodiscard]] const T& to(const Node& node) {
  assert(is<T>(node));
  return static_cast<const T&>(node);
}
template <typename T, typename Node>
[[nodiscard]] const T& to(const std::shared_ptr<const Node>& node) {
  assert(is<T>(node));
  return static_cast<const T&>(*node);
}

}  // namespace regraph::source
