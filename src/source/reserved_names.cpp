#include "source/reserved_names.h"

#include <algorithm>
#include <array>

namespace regraph::source {

bool is_reserved_name(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"alignas",  "asm",      "auto",      "bool",     "break",   "case",      "char",
       "class",    "const",    "constexpr", "continue", "default", "delete",    "do",
       "double",   "else",     "enum",      "extern",   "false",   "float",     "for",
       "goto",     "if",       "inline",    "int",      "long",    "namespace", "new",
       "operator", "return",   "short",     "signed",   "sizeof",  "static",    "struct",
       "switch",   "template", "this",      "true",     "typedef", "typename",  "union",
       "unsigned", "using",    "void",      "volatile", "while",   "threadIdx", "blockIdx",
       "blockDim", "gridDim",  "warpSize"});
  const bool reserved =
      name.size() > 1 && name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
  return reserved || std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace regraph::source
