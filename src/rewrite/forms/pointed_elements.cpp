#include "rewrite/forms/pointed_elements.h"

#include "source/build.h"
#include "source/view.h"

#include <string_view>

namespace regraph::rewrite {

std::optional<ElementType> element_behind(const std::string& pointer, const Kernel& kernel,
                                          const Analysis& analysis) {
  std::string type;
  ScalarHint scalar;
  if (const auto* parameter = kernel.parameter(pointer); parameter != nullptr) {
    if (!parameter->is_pointer) return std::nullopt;
    type = parameter->type;
    scalar = parameter->scalar;
  } else if (const Variable* local = analysis.local(pointer);
             local != nullptr && local->is_pointer) {
    type = local->type;
    scalar = local->scalar;
  }
  if (!scalar) return std::nullopt;
  constexpr std::string_view kConst = "const ";
  if (type.starts_with(kConst)) type = type.substr(kConst.size());
  return ElementType{type, *scalar};
}

std::int64_t bytes_of_vector(const std::string& type) {
  const auto view = view_of(Subscript(cast(type + " *", variable("x")), integer(0), std::nullopt));
  return view && view->width > 1
             ? view->width * static_cast<std::int64_t>(size_in_bytes(view->scalar))
             : 0;
}

}  // namespace regraph::rewrite
