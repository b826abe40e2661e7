#include "rewrite/forms/rolled_copies.h"

#include "rewrite/forms/common_code.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

constexpr std::size_t kFewestCopies = 3;
constexpr std::size_t kMostStatements = 4;  // of one copy

class CopyRoller final : public Mutator {
 public:
  explicit CopyRoller(const Kernel& kernel) : analysis_(kernel), taken_(used_names(kernel)) {}

  Block run(const Block& block) override {
    Block inner = Mutator::run(block);
    for (std::size_t at = 0; at + kFewestCopies <= inner.size(); ++at) {
      for (std::size_t size = 1; size <= kMostStatements; ++size) {
        if (roll(inner, at, size)) break;
      }
    }
    return inner;
  }
  using Mutator::run;

 private:
  using Mutator::mutate;

  // What loops repeat stays as it is.
  StmtPtr mutate(const StmtPtr& stmt, const ForLoop&) override { return stmt; }
  StmtPtr mutate(const StmtPtr& stmt, const WhileLoop&) override { return stmt; }

  // Rolls the copies of so many statements that begin at the position.
  bool roll(Block& block, std::size_t position, std::size_t size) {
    if (position + kFewestCopies * size > block.size()) return false;
    const auto copy = [&](std::size_t number) {
      const auto begin = block.begin() + static_cast<std::ptrdiff_t>(position + number * size);
      return Block(begin, begin + static_cast<std::ptrdiff_t>(size));
    };
    const Block first = copy(0);
    if (!does_something(first)) return false;
    const std::string counter = unused_name();
    Block common;
    std::size_t copies = 1;
    while (position + (copies + 1) * size <= block.size()) {
      const Block next = copy(copies);
      if (line_of_block(next) <= line_of_block(copy(copies - 1))) break;
      auto code = CommonCode(analysis_, counter, static_cast<std::int64_t>(copies)).of(first, next);
      if (!code || (copies > 1 && !equal(*code, common))) break;
      common = std::move(*code);
      ++copies;
    }
    if (copies < kFewestCopies || equal(common, first) || line_of_block(first) <= 0) return false;
    for (std::size_t number = 0; number < copies; ++number) {
      if (names_leave(block, position + number * size, size)) return false;
    }
    taken_.insert(counter);
    const auto begin = block.begin() + static_cast<std::ptrdiff_t>(position);
    block.erase(begin + 1, begin + static_cast<std::ptrdiff_t>(copies * size));
    block[position] =
        counted_loop(counter, integer(0), integer(static_cast<std::int64_t>(copies)), 1, common);
    return true;
  }

  // Besides declaring names.
  static bool does_something(const Block& block) {
    return std::any_of(block.begin(), block.end(), [](const StmtPtr& stmt) {
      return is<Branch>(stmt) || is<Assignment>(stmt) || is<source::Evaluation>(stmt) ||
             is<Scope>(stmt);
    });
  }

  // Where the block stands in the user's file: the last line that is known of its statements.
  static int line_of_block(const Block& block) {
    int line = 0;
    walk(block, [&](const Stmt& stmt) { line = std::max(line, stmt.line); });
    return line;
  }

  // Whether what a copy declares is asked for elsewhere in the block.
  static bool names_leave(const Block& block, std::size_t position, std::size_t size) {
    std::set<std::string> own;
    for (std::size_t at = position; at < position + size; ++at) {
      if (const auto* declaration = as<Declaration>(block[at]))
        own.insert(declaration->variable.name);
    }
    if (own.empty()) return false;
    Block rest(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(position));
    rest.insert(rest.end(), block.begin() + static_cast<std::ptrdiff_t>(position + size),
                block.end());
    return any_expression(rest, [&](const Expr& expr) {
      const auto* variable = as<VariableReference>(expr);
      return variable != nullptr && own.contains(variable->name);
    });
  }

  std::string unused_name() const {
    std::string name = "k";
    for (int number = 2; taken_.contains(name); ++number)
      name = "k_" + std::to_string(number);
    return name;
  }

  const Analysis analysis_;
  std::set<std::string> taken_;
};

}  // namespace

Block with_copies_rolled(const Kernel& kernel) {
  return CopyRoller(kernel).run(kernel.body);
}

}  // namespace regraph::rewrite
