// The types that generated kernels compute with, and how their numbers are written.
#pragma once

#include <string>
#include <string_view>

namespace regraph::dataset {

enum class Element : unsigned char { float32, float64, int32 };

// "float", "double" or "int".
[[nodiscard]] std::string_view type_name(Element element);
// 4 or 8.
[[nodiscard]] int byte_size(Element element);
[[nodiscard]] bool is_floating(Element element);
// A literal: 2.5f, 2.5, or 2 where the type is int (rounded towards zero). Negative numbers have
// their sign in front and no parentheses.
[[nodiscard]] std::string number(Element element, double value);
// The name of a function of the mathematical library for the type: "fabs" -> "fabsf", "fabs" or
// "abs"; "fmin" and "fmax" become min and max for int. Others must not be asked for int.
[[nodiscard]] std::string function_name(Element element, std::string_view name);

}  // namespace regraph::dataset
