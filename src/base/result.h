// Errors as values. Libraries in this project return Result<T> and never print, throw across a
// room's border, or exit; only the programs in cli/ do.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace regraph {

// What went wrong, as far as a caller needs to tell cases apart.
enum class ErrorCode : unsigned char {
  invalid_argument,  // the caller's input is malformed or out of range
  not_found,         // a file, symbol or kernel that was asked for is not there
  parse,             // foreign text (YAML, PTX, CUDA) could not be read
  unsupported,       // well-formed, but this version cannot handle it
  refused,           // a step's legality could not be proved
  declined,          // somebody who was asked for a step says that it does not apply
  compile,           // the CUDA compiler rejected a source
  resource,          // out of memory, disk, processes or time
  io,                // the operating system failed an operation
  permission,        // the operating system or a driver does not allow it to this user
  busy,              // somebody else holds what only one may hold
  cancelled,         // the caller asked to stop
  internal,          // a bug in this project
};

// Returns the lower-case name of `code`, e.g. "not_found".
[[nodiscard]] const char* name(ErrorCode code);

// One clear message: what is wrong, where (file:line when known), why, and what to do next.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

// Holds either a T or the reason why there is none: an Error, or what a room says instead where its
// callers need more (a GPU's Failure, a ChatError). Reading the side that is not there is a
// programming error.
template <typename T, typename E = Error>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit
  Result(E error) : content_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & { return std::get<0>(content_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(content_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(content_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const E& error() const& { return std::get<1>(content_); }
  [[nodiscard]] E&& error() && { return std::get<1>(std::move(content_)); }

 private:
  std::variant<T, E> content_;
};

// Success without a value, or the reason why there is none.
template <typename E>
class [[nodiscard]] Result<void, E> {
 public:
  Result() = default;
  Result(E error) : error_(std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const E& error() const& { return *error_; }
  [[nodiscard]] E&& error() && { return *std::move(error_); }

 private:
  std::optional<E> error_;
};

using Status = Result<void>;

// Shorthand: `return fail(ErrorCode::parse, "...")` from any function that returns a Result.
[[nodiscard]] inline Error fail(ErrorCode code, std::string message) {
  return Error{code, std::move(message)};
}

}  // namespace regraph
