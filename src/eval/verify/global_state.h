// What in a PTX module can carry something from one launch to the next.
#pragma once

#include "ptx/parse/module.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph::verify {

struct StatefulVariable {
  std::string_view name;  // of the module
  std::string what;       // "is written", "has its address stored"
  int source_line = 0;    // where, by .loc; 0: unknown
};

// Variables in global memory that an instruction writes, or whose address leaves the registers that
// can be followed, flow-insensitively: then anything may write them. Tables that are only read are
// none of them, and neither are strings handed to functions named in `harmless` (sorted; they only
// read). Local memory that is not the compiler's own stack counts too: it keeps what an earlier
// launch left.
[[nodiscard]] std::vector<StatefulVariable> stateful_variables(
    const ptx::Module& module, const std::vector<std::string>& harmless);

// Whether nothing follows from the special register ("%smid") but where tensor maps lie, which no
// result tells.
[[nodiscard]] bool chooses_places_of_maps(const ptx::Function& function, std::string_view special);

}  // namespace regraph::verify
