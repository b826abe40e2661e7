#include "rewrite/transform/gathered_elements.h"

#include "rewrite/analysis/product_coordinates.h"
#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph::rewrite {

std::string GatheredElements::text_of(const ExprPtr& expr) const {
  return print(in_coordinates(expr, form_, launch_, gemm_.product));
}

bool GatheredElements::is_counter(const std::string& name) const {
  return std::ranges::any_of(gemm_.loops,
                             [&](const SummedLoop& loop) { return loop.counter == name; });
}

Asked GatheredElements::asked(const ExprPtr& condition) const {
  const std::set<std::string> names = variables_of(condition);
  if (std::ranges::none_of(names, [&](const std::string& name) { return is_counter(name); }))
    return Asked::of_line;
  if (chunked() != nullptr && !names.contains(chunked()->counter)) return Asked::of_chunk;
  return Asked::of_element;
}

std::string GatheredElements::conditions(std::size_t i, Asked when) const {
  std::string result;
  const auto add = [&](const std::string& condition) {
    result += (result.empty() ? "" : " & ") + condition;
  };
  for (const ExprPtr& condition : gathered(i).conditions) {
    if (asked(condition) == when) add("(" + text_of(condition) + ")");
  }
  const ProductAxis& axis = factor(i).axis;
  if (when == Asked::of_line && axis.limit)
    add(fmt::format("({} < {})", axis.coordinate, print(axis.limit)));
  return result;
}

void GatheredElements::declare_names(const std::vector<ExprPtr>& values,
                                     std::set<std::string>& done) {
  for (const ExprPtr& value : values) {
    for (const std::string& name : variables_of(value)) {
      const ExprPtr definition = is_counter(name) ? nullptr : form_.analysis.definition(name);
      if (!definition || !done.insert(name).second) continue;
      if (const auto value = values_.find(name); value != values_.end()) {
        lines_.line("const int {} = {};", name, value->second);
        continue;
      }
      declare_names({definition}, done);
      lines_.line("const {} {} = {};", form_.analysis.local(name)->type, name, text_of(definition));
    }
  }
}

void GatheredElements::declare_names_of(std::size_t i) {
  std::vector<ExprPtr> values = gathered(i).conditions;
  values.push_back(gathered(i).element);
  std::set<std::string> done;
  declare_names(values, done);
}

std::vector<std::string> GatheredElements::declare_trips() {
  std::vector<ExprPtr> bounds;
  for (const SummedLoop& loop : gemm_.loops) {
    bounds.push_back(loop.first);
    bounds.push_back(loop.limit);
  }
  std::set<std::string> done;
  declare_names(bounds, done);
  std::vector<std::string> result;
  for (const SummedLoop& loop : gemm_.loops) {
    if (loop.trips) {
      result.push_back(std::to_string(*loop.trips));
      continue;
    }
    result.push_back(names_.fresh(loop.counter + "_trips"));
    const std::string length = text_of(subtract(loop.limit, loop.first));
    lines_.line("const int {} = {} > 0 ? {} : 0;", result.back(), length, length);
  }
  return result;
}

void GatheredElements::define_element(const std::string& element, const std::string& type) {
  lines_.open("const auto {} = [](const {}* from, int is_wanted)", element, type);
  lines_.line("unsigned int bits;");
  lines_.line("asm volatile(\"{{ .reg .pred p; setp.ne.s32 p, %2, 0; mov.u32 %0, 0; \"");
  lines_.line("             \"@p ld.global.nc.u16 %0, [%1]; }}\"");
  lines_.line("             : \"=r\"(bits) : \"l\"(from), \"r\"(is_wanted));");
  lines_.line("return bits;");
  lines_.close("};");
}

}  // namespace regraph::rewrite
