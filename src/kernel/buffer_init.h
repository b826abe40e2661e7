// How a buffer is filled before a launch.
#pragma once

#include "base/result.h"
#include "kernel/expression.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

// Bytes that a file holds: what a buffer, or a structure by value, held when a program launched the
// kernel, or what the user gives a buffer.
struct CapturedContent {
  std::string file;          // of the data; captured: its name begins with their hash
  std::uint64_t offset = 0;  // of the first byte in the file
  // From there to the file's end; null until they are loaded (captured_data.h, input_files.h).
  std::shared_ptr<const std::vector<std::byte>> bytes;

  // The same place; what is loaded does not count.
  bool operator==(const CapturedContent& other) const {
    return file == other.file && offset == other.offset;
  }
};

struct BufferInit {
  enum class Kind : std::uint8_t {
    normal,
    uniform,      // low to high
    integers,     // low to high, both included
    iota,         // the element's index
    constant,     // low, in every distribution
    permutation,  // every index once
    csr_offsets,  // nondecreasing, from 0 to high: where each row of a sparse matrix begins, one of
                  // which has at least low entries
    csr_columns,  // 0 to high - 1: sorted in each row, and distinct where there are enough
    file,         // `content`
  };
  Kind kind = Kind::normal;
  double low = 0.0;
  double high = 1.0;
  // Instead of low and high where these follow the sizes.
  std::optional<IntegerExpression> low_expression = {};
  std::optional<IntegerExpression> high_expression = {};
  CapturedContent content = {};
  std::string hash = {};  // of the file's bytes, in hexadecimal digits; empty: not known yet

  bool operator==(const BufferInit&) const = default;

  // Whether the elements go together, so that a pattern that repeats is no such content.
  [[nodiscard]] bool is_whole() const {
    return kind == Kind::permutation || kind == Kind::csr_offsets || kind == Kind::csr_columns ||
           kind == Kind::file;
  }

  // The same with low and high worked out. Errors: an expression without a value, low above high,
  // more than 2^53.
  [[nodiscard]] Result<BufferInit> at(const Symbols& symbols) const;

  // As the manifest has it, e.g. "int(0,N - 1)"; of a file its path.
  [[nodiscard]] std::string text() const;
};

}  // namespace regraph
