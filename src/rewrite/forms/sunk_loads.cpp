#include "rewrite/forms/sunk_loads.h"

#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <set>
#include <string>

namespace regraph::rewrite {

namespace {

// A scalar whose value may as well be computed later, or never.
bool is_quiet(const Stmt& stmt) {
  const auto* declaration = as<Declaration>(stmt);
  if (declaration == nullptr || !declaration->value || declaration->variable.is_pointer ||
      !declaration->variable.extents.empty() ||
      declaration->variable.storage != Storage::automatic) {
    return false;
  }
  return is_computation(declaration->value);
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
      if (guarded == nullptr || !guarded->otherwise.empty() || !is_computation(guarded->condition))
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
        variables_of(Block(block.begin() + static_cast<std::ptrdiff_t>(at) + 1, block.end()));
    elsewhere.merge(variables_of(guarded.condition));
    Block body = guarded.body;
    Block taken = body;
    std::size_t first = at;  // of the loads, and what is made of them
    for (std::size_t next = at; next > 0 && is_quiet(*block[next - 1]); --next) {
      const StmtPtr& stmt = block[next - 1];
      const std::string& name = to<Declaration>(*stmt).variable.name;
      if (elsewhere.contains(name) || mentions_of(name, taken) == 0) break;
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
