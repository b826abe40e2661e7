#include "rewrite/forms/array_copies.h"

#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/counted_loop.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace regraph::rewrite {

namespace {

// T x[8] = {y[0], ..., y[7]}, or a loop that copies all of y to x.
struct ArrayCopy {
  std::string to;
  std::string from;
};

class ArrayCopies {
 public:
  explicit ArrayCopies(const Kernel& kernel) : kernel_(kernel) {}

  Block run() {
    for (bool changed = true; changed;) {
      changed = false;
      const Analysis analysis(kernel_);
      std::optional<ArrayCopy> found;
      const Stmt* place = nullptr;
      find_in(kernel_.body, analysis, found, place);
      if (!found) break;
      replace(*found, *place);
      changed = true;
    }
    return kernel_.body;
  }

 private:
  void find_in(const Block& block, const Analysis& analysis, std::optional<ArrayCopy>& found,
               const Stmt*& place) const {
    for (std::size_t at = 0; at < block.size() && !found; ++at) {
      const auto copy = copy_of(*block[at], analysis);
      if (copy && may_go(*copy, block, at)) {
        found = copy;
        place = block[at].get();
        return;
      }
      find_in(body_of(*block[at]), analysis, found, place);
      find_in(otherwise_of(*block[at]), analysis, found, place);
    }
  }

  static bool is_array(const Analysis& analysis, const std::string& name) {
    const Variable* local = analysis.local(name);
    return local != nullptr && local->extents.size() == 1 && !local->is_pointer &&
           local->storage == Storage::automatic;
  }

  static std::optional<ArrayCopy> copy_of(const Stmt& stmt, const Analysis& analysis) {
    std::optional<ArrayCopy> copy;
    if (const auto* declared = as<Declaration>(stmt)) {
      const auto* list = as<InitializerList>(declared->value);
      if (list == nullptr || list->values.empty()) return std::nullopt;
      copy = ArrayCopy{declared->variable.name, ""};
      for (std::size_t at = 0; at < list->values.size(); ++at) {
        const auto* element = as<Subscript>(list->values[at]);
        const auto* base = element != nullptr ? as<VariableReference>(element->base) : nullptr;
        if (base == nullptr || !is_number(element->index, static_cast<std::int64_t>(at)) ||
            (at > 0 && base->name != copy->from))
          return std::nullopt;
        copy->from = base->name;
      }
      if (!is_array(analysis, copy->to) || analysis.local(copy->to)->extents.front() !=
                                               static_cast<std::int64_t>(list->values.size()))
        return std::nullopt;
    } else if (const auto* loop = as<ForLoop>(stmt)) {
      const auto counted = counted_loop_of(*loop);
      const auto* set = loop->body.size() == 1 ? as<Assignment>(loop->body[0]) : nullptr;
      const auto* to = set != nullptr ? as<Subscript>(set->target) : nullptr;
      const auto* from = set != nullptr ? as<Subscript>(set->value) : nullptr;
      const bool is_copy =
          counted && counted->stride == 1 && counted->starts_at_zero() && to != nullptr &&
          from != nullptr && set->op == AssignmentOperator::assign &&
          is_named(to->index, counted->name) && is_named(from->index, counted->name) &&
          is<VariableReference>(to->base) && is<VariableReference>(from->base);
      if (!is_copy) return std::nullopt;
      copy = ArrayCopy{source::to<VariableReference>(to->base).name,
                       source::to<VariableReference>(from->base).name};
      if (!is_array(analysis, copy->to) ||
          analysis.local(copy->to)->extents.front() != counted->trip_count())
        return std::nullopt;
    }
    if (!copy || copy->to == copy->from || !is_array(analysis, copy->from)) return std::nullopt;
    const Variable* one = analysis.local(copy->to);
    const Variable* other = analysis.local(copy->from);
    const bool fits = one->extents == other->extents && one->scalar == other->scalar && one->scalar;
    return fits ? copy : std::nullopt;
  }

  // Both are declared in this block or around it alike, so that nothing comes back to them.
  bool may_go(const ArrayCopy& copy, const Block& block, std::size_t at) const {
    const auto declared_before = [&](const std::string& name) {
      return std::any_of(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                         [&](const StmtPtr& stmt) {
                           const auto* one = as<Declaration>(stmt);
                           return one != nullptr && one->variable.name == name;
                         });
    };
    if (!declared_before(copy.to) || !declared_before(copy.from)) return false;
    const auto here = block.begin() + static_cast<std::ptrdiff_t>(at);
    if (changes_of(copy.to, Block(block.begin(), here)) > 0) return false;
    const Block behind(here + 1, block.end());
    const bool is_changed = changes_of(copy.to, behind) + changes_of(copy.from, behind) > 0;
    return !is_changed || mentions_of(copy.from, behind) == 0;
  }

  void replace(const ArrayCopy& copy, const Stmt& place) {
    kernel_.body =
        rewrite_statements(kernel_.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          const auto* declared = as<Declaration>(stmt);
          const bool goes =
              stmt.get() == &place || (declared != nullptr && declared->variable.name == copy.to);
          return goes ? std::optional(Block()) : std::nullopt;
        });
    kernel_.body = rewrite_expressions(
        kernel_.body, replace_variable(copy.to, source::variable(copy.from, std::nullopt)));
  }

  Kernel kernel_;
};

}  // namespace

Block without_array_copies(const Kernel& kernel) {
  return ArrayCopies(kernel).run();
}

}  // namespace regraph::rewrite
