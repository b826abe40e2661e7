#include "dataset/generate/element.h"

#include <fmt/format.h>

namespace regraph::dataset {

std::string_view type_name(Element element) {
  switch (element) {
    case Element::float32:
      return "float";
    case Element::float64:
      return "double";
    case Element::int32:
      return "int";
  }
  return {};
}

int byte_size(Element element) {
  return element == Element::float64 ? 8 : 4;
}

bool is_floating(Element element) {
  return element != Element::int32;
}

std::string number(Element element, double value) {
  if (element == Element::int32) return std::to_string(static_cast<int>(value));
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return element == Element::float32 ? text + "f" : text;
}

std::string function_name(Element element, std::string_view name) {
  if (element == Element::float32) return std::string(name) + "f";
  // rsqrt, fmin and the rest are overloads or plain names for double.
  if (element == Element::float64) return std::string(name);
  return std::string(name.substr(name.starts_with("f") ? 1 : 0));
}

}  // namespace regraph::dataset
