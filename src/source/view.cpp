#include "source/view.h"

#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <map>

namespace regraph::source {
namespace {

// "const float4 *" -> "float4"; empty where it is no pointer.
std::string pointee_of(const std::string& type) {
  const std::size_t star = type.find('*');
  if (star == std::string::npos || type.find('*', star + 1) != std::string::npos) return "";
  std::string name = type.substr(0, star);
  for (const std::string word : {"const ", " const"}) {
    const std::size_t at = name.find(word);
    if (at != std::string::npos) name.erase(at, word.size());
  }
  const std::size_t first = name.find_first_not_of(' ');
  const std::size_t last = name.find_last_not_of(' ');
  return first == std::string::npos ? "" : name.substr(first, last - first + 1);
}

bool set_type(const std::string& name, View& view) {
  static const std::map<std::string, ScalarType> kStems = {
      {"char", ScalarType::i8},      {"uchar", ScalarType::u8},      {"short", ScalarType::i16},
      {"ushort", ScalarType::u16},   {"int", ScalarType::i32},       {"uint", ScalarType::u32},
      {"longlong", ScalarType::i64}, {"ulonglong", ScalarType::u64}, {"float", ScalarType::f32},
      {"double", ScalarType::f64},   {"half", ScalarType::f16},      {"__half", ScalarType::f16}};
  view.vector = name;
  if (name.empty()) return false;
  if (const auto scalar = scalar_type_from_cuda_name(name)) {
    view.scalar = *scalar;
    return true;
  }
  const char digit = name.back();
  const auto stem = kStems.find(name.substr(0, name.size() - 1));
  if (digit < '1' || digit > '4' || stem == kStems.end()) return false;
  view.scalar = stem->second;
  view.width = digit - '0';
  return true;
}

// The address as an array and an element of it, null where that is not known.
void set_place(const ExprPtr& address, View& view) {
  if (const auto* array = as<VariableReference>(address)) {
    view.array = array;
    view.first = integer(0);
    return;
  }
  ExprPtr base;
  ExprPtr index;
  const bool is_place = matches(address, sum(any(base), any(index))) ||
                        matches(address, address_of(subscript(any(base), any(index))));
  if (is_place && is<VariableReference>(base)) {
    view.array = as<VariableReference>(base);
    view.first = index;
  } else {
    view.array = place_variable(*address);
  }
}

}  // namespace

std::optional<View> view_of(const Expr& access) {
  const auto* element = as<Subscript>(access);
  const auto* cast = element != nullptr ? as<Cast>(element->base) : nullptr;
  if (cast == nullptr) return std::nullopt;
  View view;
  if (!set_type(pointee_of(cast->target), view)) return std::nullopt;
  set_place(cast->operand, view);
  if (view.array == nullptr) return std::nullopt;
  if (view.first) view.first = add(view.first, multiply(element->index, integer(view.width)));
  return view;
}

}  // namespace regraph::source
