#include "rewrite/transform/attention_copies.h"

#include "rewrite/transform/tensor_tile.h"
#include "source/build.h"
#include "source/printer.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph::rewrite {

std::int64_t AttentionCopies::key_elements() const {
  return std::int64_t{AttentionTile::panels(pattern_.query.elements)} * AttentionTile::kPanel *
         tile_.keys;
}
std::int64_t AttentionCopies::value_elements() const {
  return std::int64_t{AttentionTile::panels(pattern_.values.elements)} * AttentionTile::kPanel *
         tile_.keys;
}

void AttentionCopies::declare_shared() {
  const std::string type(cuda_name(pattern_.element));
  const int rows = std::max(AttentionTile::panels(pattern_.query.elements),
                            AttentionTile::panels(pattern_.values.elements));
  text_.line("extern __shared__ __align__(128) {} {}[];", type, names_.tiles);
  text_.line("{}* const {} = {};", type, names_.query, names_.tiles);
  text_.line("{}* const {} = {} + {};", type, names_.keys, names_.query,
             rows * AttentionTile::kPanel * tile_.queries);
  text_.line("{}* const {} = {} + {};", type, names_.values, names_.keys,
             tile_.stages * key_elements());
}

// Whether rows of the array may be copied by vectors: a condition; empty where they never are.
std::string AttentionCopies::is_whole(const AttentionRows& rows) const {
  if (!rows.divisible) return "";
  std::string condition;
  for (const std::string& parameter : *rows.divisible)
    condition += fmt::format("{}{} % {} == 0", condition.empty() ? "" : " && ", parameter,
                             AttentionTile::kVector);
  return condition.empty() ? "true" : condition;
}

// Copies `lines` rows to `to`, those of which `inside` says so, zeros for the others. The symbol
// of the rows is `number`, which is `start` at the first.
void AttentionCopies::copy_rows(const AttentionRows& rows, const std::string& symbol,
                                const std::string& start, const std::string& inside,
                                const std::string& to, int lines) {
  const std::string type(cuda_name(pattern_.element));
  const int vectors = rows.elements / AttentionTile::kVector;
  const int copies = lines * vectors;
  text_.unroll();
  text_.open("for (int {0} = 0; {0} < {1}; {0} += {2})", names_.step, copies, tile_.threads());
  if (copies % tile_.threads() != 0)
    text_.line("if ({} + {} >= {}) break;", names_.step, names_.thread, copies);
  if (tile_.threads() % vectors == 0) {
    // Lines are evenly apart, and a thread's places in them are the same: addresses are one and
    // numbers.
    text_.line("const unsigned int {} = (unsigned int){} / {} + {} / {};", names_.line,
               names_.thread, vectors, names_.step, vectors);
    text_.line("const unsigned int {} = (unsigned int){} % {} * {};", names_.offset, names_.thread,
               vectors, AttentionTile::kVector);
  } else {
    text_.line("const unsigned int {} = (unsigned int)({} + {}) / {};", names_.line, names_.thread,
               names_.step, vectors);
    text_.line("const unsigned int {} = (unsigned int)({} + {}) % {} * {};", names_.offset,
               names_.thread, names_.step, vectors, AttentionTile::kVector);
  }
  text_.line("const int {} = {} + (int){};", symbol, start, names_.line);
  text_.line("const bool {} = {};", names_.inside, inside);
  // Nothing is read where the row is not inside.
  text_.line("const {}* const {} = {} + ({} + {});", type, names_.from, rows.array,
             print(to_expression(rows.index, true)), names_.offset);
  text_.line("{}* const {} = {} + ({});", type, names_.to, to,
             place_in_panels(names_.line, names_.offset, lines, AttentionTile::kVector));
  const std::string whole = is_whole(rows);
  if (!whole.empty() && whole != "true") text_.open("if ({})", whole);
  if (!whole.empty()) {
    text_.line("asm volatile(\"cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\" ::");
    text_.line("             \"r\"((unsigned int)__cvta_generic_to_shared({})), \"l\"({}),",
               names_.to, names_.from);
    text_.line("             \"r\"({} ? 16 : 0) : \"memory\");", names_.inside);
  }
  if (whole != "true") {
    if (!whole.empty()) text_.reopen("} else {");
    text_.unroll();
    text_.line("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3} ? {4}[{0}] : {5};", names_.e,
               AttentionTile::kVector, names_.to, names_.inside, names_.from,
               print(zero_of(pattern_.element)));
    if (!whole.empty()) text_.close();
  }
  text_.close();
}

void AttentionCopies::define_fill() {
  text_.open("const auto {} = [&](int {}, int {})", names_.fill, names_.into, names_.next);
  std::string inside = fmt::format("{} < {}", pattern_.key, names_.end);
  for (const TileGuard& guard : pattern_.others)
    inside += " && " + print(guard.expression(false));
  copy_rows(pattern_.keys, pattern_.key, names_.next, inside,
            fmt::format("{} + {} * {}", names_.keys, names_.into, key_elements()), tile_.keys);
  copy_rows(pattern_.values, pattern_.key, names_.next, inside,
            fmt::format("{} + {} * {}", names_.values, names_.into, value_elements()), tile_.keys);
  text_.close("};");
}

void AttentionCopies::fill_query() {
  copy_rows(pattern_.query, pattern_.axis.coordinate, names_.first,
            fmt::format("{} <= {}", pattern_.axis.coordinate, names_.last), names_.query,
            tile_.queries);
}

}  // namespace regraph::rewrite
