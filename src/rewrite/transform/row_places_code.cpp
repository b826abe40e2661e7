#include "rewrite/transform/row_places_code.h"

#include "source/build.h"
#include "source/printer.h"

#include <cstddef>

namespace regraph::rewrite {

Names names_of_places(const RowPlaces& places) {
  Names names(places.form->kernel);
  names.take(places.axis.coordinate);
  for (const auto& [name, value] : places.values_of_block)
    names.take(name);
  return names;
}

void declare_values_of_block(CodeLines& lines, const RowPlaces& places) {
  for (const ExprPtr& condition : places.conditions)
    lines.line("if (!({})) return;", print(condition));
  for (const auto& [name, value] : places.values_of_block)
    lines.line("const {} {} = {};", std::string(cuda_name(*value->type)), name, print(value));
}

void declare_row_limit(CodeLines& lines, const RowPlaces& places, const std::string& name,
                       const std::string& first_row) {
  for (std::size_t at = 0; at < places.row_limits.size(); ++at) {
    const Polynomial limit =
        places.row_limits[at].substitute(places.axis.coordinate, Polynomial::symbol(first_row));
    const std::string text = print(to_expression(limit, false));
    if (at == 0)
      lines.line("int {} = {};", name, text);
    else
      lines.line("if ({0} < {1}) {1} = {0};", text, name);
  }
  lines.line("if ({} >= {}) return;", first_row, name);
}

}  // namespace regraph::rewrite
