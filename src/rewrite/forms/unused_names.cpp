#include "rewrite/forms/unused_names.h"

#include "rewrite/forms/uses.h"
#include "source/walk.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

Block without_unused(Block block, const std::function<bool(const Declaration&)>& may_go) {
  for (;;) {
    const std::set<std::string> mentioned = variables_of(block);
    Block rest = rewrite_statements(block, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto* declared = as<Declaration>(stmt);
      const bool goes =
          declared != nullptr && !mentioned.contains(declared->variable.name) && may_go(*declared);
      return goes ? std::optional(Block()) : std::nullopt;
    });
    if (rest == block) return block;
    block = std::move(rest);
  }
}

Block without_unused_names(const Kernel& kernel) {
  return without_unused(kernel.body,
                        [](const Declaration& declared) { return is_computation(declared.value); });
}

}  // namespace regraph::rewrite
