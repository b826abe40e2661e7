#include "rewrite/transform/early_choice.h"

#include "rewrite/analysis/loop_choice.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// The choice that ends the body and asks for nothing that an iteration makes; null: there is none.
const Branch* choice_of(const ForLoop& loop) {
  const Branch* choice = loop.body.empty() ? nullptr : as<Branch>(loop.body.back());
  if (choice == nullptr || choice->otherwise.empty()) return nullptr;
  const bool declares = std::all_of(loop.body.begin(), std::prev(loop.body.end()),
                                    [](const StmtPtr& stmt) { return is<Declaration>(*stmt); });
  const std::set<std::string> asked = variables_of(choice->condition);
  const auto made = declared_names(loop.body);
  const auto* counter = loop.declaration();
  const bool is_same = counter != nullptr && !asked.contains(counter->variable.name) &&
                       std::none_of(made.begin(), made.end(),
                                    [&](const std::string& name) { return asked.contains(name); });
  return declares && is_same ? choice : nullptr;
}

StmtPtr with_side(const ForLoop& loop, const Block& side, int unroll) {
  Block body(loop.body.begin(), std::prev(loop.body.end()));
  body.insert(body.end(), side.begin(), side.end());
  return source::loop(loop.init, loop.condition, loop.step, std::move(body), unroll);
}

}  // namespace

Block with_early_choice(Block block, Names& names) {
  const auto* loop = block.size() == 1 ? as<ForLoop>(block.front()) : nullptr;
  const Branch* choice = loop != nullptr ? choice_of(*loop) : nullptr;
  if (choice == nullptr) return block;
  return {branch(choice->condition, {with_side(*loop, choice->body, loop->unroll)},
                 names.renamed({with_side(*loop, choice->otherwise, kNeverUnroll)}))};
}

}  // namespace regraph::rewrite
