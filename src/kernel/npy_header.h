// The head of a NumPy file (.npy, format versions 1.0 and 2.0): what its data are, read and
// written.
#pragma once

#include "base/result.h"
#include "kernel/scalar_type.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph {

struct NpyHeader {
  std::string type;  // NumPy's code of an element, e.g. "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;  // outermost extent first; empty: one element
  std::int64_t elements = 1;        // the product of the shape
  std::size_t data_begin = 0;       // byte of the file
};

// Reads the head at the begin of a file's content; what comes after it is not looked at. Strict:
// the three keys once each and nothing else, extents that are not negative, no more elements than
// 64 bits count. Error: invalid_argument, why.
[[nodiscard]] Result<NpyHeader> parse_npy_header(std::string_view content);

// The type of an element; nothing for those that no kernel argument has: big-endian numbers,
// complex ones, text, structures.
[[nodiscard]] std::optional<ScalarType> scalar_type_from_npy(std::string_view type);

// The head of a file of version 1.0 with elements of that type in C order; the data come after it.
[[nodiscard]] std::string npy_header_text(ScalarType type, const std::vector<std::int64_t>& shape);

// NumPy's code for it; for bf16, which NumPy has not got, that of two bytes.
[[nodiscard]] std::string_view npy_type(ScalarType type);

}  // namespace regraph
