// Asks the process that captures. One connection a process: a child that fork() made gets its own.
#pragma once

#include "capture/runtime/protocol.h"

#include <cstddef>
#include <string>

namespace regraph::capture {

struct Part {
  const void* data = nullptr;
  std::size_t bytes = 0;
};

// What came back.
struct Answer {
  int status = 0;  // a cudaError_t
  std::string payload;
  int descriptor = -1;  // the caller's

  // The payload as a struct; false when it is shorter.
  template <typename Structure>
  [[nodiscard]] bool read(Structure& into) const {
    if (payload.size() < sizeof into) return false;
    __builtin_memcpy(&into, payload.data(), sizeof into);
    return true;
  }
};

// Sends the parts as one request and waits for the answer. When nobody answers (the process that
// captures has ended) the status is cudaErrorSystemDriverMismatch. Thread-safe.
[[nodiscard]] Answer ask(RequestKind kind, Part first = {}, Part second = {});

}  // namespace regraph::capture
