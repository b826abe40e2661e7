#include "rewrite/forms/sunk_loads.h"

#include "source/build.h"
#include "source/known_functions.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <set>
#include <string>

namespace regraph::rewrite {

namespace {

std::set<std::string> names_in(const Block& block) {
  std::set<std::string> names;
  walk_expressions(block, [&](const Expr& expr) {
    if (const auto* variable = as<VariableReference>(expr)) names.insert(variable->name);
  });
  return names;
}

// Whether evaluating it changes nothing.
bool is_quiet(const ExprPtr& value) {
  return all_expressions(value, [&](const Expr& expr) {
    const auto* call = as<Call>(expr);
    return (call == nullptr || is_pure(*call)) && !is<OpaqueExpression>(expr);
  });
}

// A scalar whose value may as well be computed later, or never.
bool is_quiet(const Stmt& stmt) {
  const auto* declaration = as<Declaration>(stmt);
  if (declaration == nullptr || !declaration->value || declaration->variable.is_pointer ||
      !declaration->variable.extents.empty() ||
      declaration->variable.storage != Storage::automatic) {
    return false;
  }
  return is_quiet(declaration->value);
}

bool reads_memory(const Stmt& stmt) {
  return any_expression(to<Declaration>(stmt).value,
                        [&](const Expr& expr) { return is<Subscript>(expr); });
}

class LoadSinker final : public Mutator {
 public:
  Block run(const Block& block) override {
    Block result = Mutator::run(block);
    for (std::size_t at = result.size(); at-- > 1;) {
      const auto* guarded = as<Branch>(*result[at]);
      if (guarded == nullptr || !guarded->otherwise.empty() || !is_quiet(guarded->condition))
        continue;
      at = sink(result, at);
    }
    return result;
  }
  using Mutator::run;

 private:
  // Moves what stands in front of the branch; where the branch is afterwards.
  static std::size_t sink(Block& block, std::size_t at) {
    const auto& guarded = to<Branch>(*block[at]);
    std::set<std::string> elsewhere =
        names_in(Block(block.begin() + static_cast<std::ptrdiff_t>(at) + 1, block.end()));
    walk(guarded.condition, [&](const Expr& expr) {
      if (const auto* variable = as<VariableReference>(expr)) elsewhere.insert(variable->name);
    });
    Block body = guarded.body;
    Block taken = body;
    std::size_t first = at;  // of the loads, and what is made of them
    for (std::size_t next = at; next > 0 && is_quiet(*block[next - 1]); --next) {
      const StmtPtr& stmt = block[next - 1];
      const std::string& name = to<Declaration>(*stmt).variable.name;
      if (elsewhere.contains(name) || !names_in(taken).contains(name)) break;
      taken.insert(taken.begin(), stmt);
      if (!reads_memory(*stmt)) continue;
      first = next - 1;
      body = taken;
    }
    if (first == at) return at;
    const StmtPtr sunk = branch(guarded.condition, std::move(body), {}, guarded.line);
    block.erase(block.begin() + static_cast<std::ptrdiff_t>(first),
                block.begin() + static_cast<std::ptrdiff_t>(at));
    block[first] = sunk;
    return first;
  }
};

}  // namespace

Block with_sunk_loads(const Kernel& kernel) {
  return LoadSinker().run(kernel.body);
}

}  // namespace regraph::rewrite
