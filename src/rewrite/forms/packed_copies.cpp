#include "rewrite/forms/packed_copies.h"

#include "rewrite/forms/pointed_elements.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/view.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// The elements that a pack's bits are.
struct Elements {
  std::string type;
  ScalarType scalar{};
  std::int64_t count = 0;

  bool operator==(const Elements& other) const {
    return scalar == other.scalar && count == other.count;
  }
};

// One end of a copy: a variable as it is, or what lies at an index of a pointer.
struct End {
  std::string name;
  ExprPtr index;  // of a pointer's elements, the first; null: all of a variable
  bool is_view = false;
};

// What a statement copies as bits.
struct BitCopy {
  End to;
  End from;
  std::int64_t bytes = 0;
};

class PackFinder {
 public:
  explicit PackFinder(const Kernel& kernel) : kernel_(kernel), analysis_(kernel) {}

  // What the variables of vector types are, that only carry bits.
  const std::map<std::string, Elements>& find() {
    walk(kernel_.body, [&](const Stmt& stmt) {
      const auto* declared = as<Declaration>(stmt);
      if (declared == nullptr) return;
      const Variable& variable = declared->variable;
      const bool is_plain = variable.extents.empty() && !variable.is_pointer &&
                            variable.storage == Storage::automatic;
      if (is_plain && bytes_of_vector(variable.type) > 0) packs_.emplace(variable.name, Elements());
    });
    if (packs_.empty()) return packs_;
    std::map<std::string, int> copied;
    std::vector<BitCopy> copies;
    walk(kernel_.body, [&](const Stmt& stmt) {
      const auto copy = bit_copy(stmt);
      if (!copy) return;
      copies.push_back(*copy);
      // A declaration does not mention what it declares.
      if (!is<Declaration>(stmt)) ++copied[copy->to.name];
      ++copied[copy->from.name];
    });
    walk_expressions(kernel_.body, [&](const Expr& expr) {
      if (const auto* name = as<VariableReference>(expr)) --copied[name->name];
    });
    std::erase_if(packs_, [&](const auto& pack) { return copied[pack.first] != 0; });
    settle(copies);
    return packs_;
  }

  // The copy of bits that the statement is, where one end is a variable of a vector type.
  [[nodiscard]] std::optional<BitCopy> bit_copy(const Stmt& stmt) const {
    std::optional<BitCopy> copy;
    if (const auto* declared = as<Declaration>(stmt)) {
      if (declared->value)
        copy = plain_copy(End{declared->variable.name, nullptr, false}, declared->value);
    } else if (const auto* assigned = as<Assignment>(stmt)) {
      const auto to =
          assigned->op == AssignmentOperator::assign ? end_of(assigned->target) : std::nullopt;
      if (to) copy = plain_copy(*to, assigned->value);
    } else if (const auto* done = as<source::Evaluation>(stmt)) {
      copy = memory_copy(done->call());
    }
    const bool of_pack =
        copy && (packs_.contains(copy->to.name) || packs_.contains(copy->from.name));
    return of_pack ? copy : std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<BitCopy> plain_copy(const End& to, const ExprPtr& value) const {
    const auto from = end_of(value);
    if (!from) return std::nullopt;
    return BitCopy{to, *from, 0};
  }

  // memcpy(&a, &b, bytes)
  [[nodiscard]] static std::optional<BitCopy> memory_copy(const Call& call) {
    if (call.function != "memcpy" || call.arguments.size() != 3) return std::nullopt;
    const auto* bytes = as<IntegerLiteral>(call.arguments[2]);
    const auto whole = [](const ExprPtr& address) -> std::optional<End> {
      const ExprPtr place = addressed(*address);
      const auto* name = as<VariableReference>(place ? place : address);
      if (name == nullptr) return std::nullopt;
      return End{name->name, nullptr, false};
    };
    const auto to = whole(call.arguments[0]);
    const auto from = whole(call.arguments[1]);
    if (bytes == nullptr || !to || !from) return std::nullopt;
    return BitCopy{*to, *from, bytes->value};
  }

  // A variable, or a view as a vector.
  [[nodiscard]] std::optional<End> end_of(const ExprPtr& expr) const {
    if (const auto* name = as<VariableReference>(expr)) return End{name->name, nullptr, false};
    const auto* element = as<Subscript>(expr);
    const auto* cast = element != nullptr ? as<Cast>(element->base) : nullptr;
    if (cast == nullptr) return std::nullopt;
    const Subscript first(element->base, integer(0), std::nullopt);
    const auto view = view_of(first);
    if (!view || !view->first || view->width < 2) return std::nullopt;
    const auto elements = elements_of(view->array->name);
    const std::int64_t bytes = view->width * static_cast<std::int64_t>(size_in_bytes(view->scalar));
    if (!elements || bytes % elements_bytes(*elements) != 0) return std::nullopt;
    const std::int64_t count = bytes / elements_bytes(*elements);
    return End{view->array->name,
               source::add(view->first, multiply(element->index, integer(count))), true};
  }

  static std::int64_t elements_bytes(const Elements& elements) {
    return static_cast<std::int64_t>(size_in_bytes(elements.scalar));
  }

  // Of an array of the kernel's own, or behind a pointer; `count` is 0 there.
  [[nodiscard]] std::optional<Elements> elements_of(const std::string& name) const {
    if (const auto behind = element_behind(name, kernel_, analysis_))
      return Elements{behind->name, behind->scalar, 0};
    const Variable* local = analysis_.local(name);
    if (local == nullptr || !local->scalar || local->extents.size() != 1) return std::nullopt;
    return Elements{local->type, *local->scalar, local->extents.front()};
  }

  // Gives every pack the elements that it comes from or goes to; those where two do not agree, or
  // nothing says it, are no packs, and neither are those that go with them.
  void settle(const std::vector<BitCopy>& copies) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const BitCopy& copy : copies) {
        for (const auto& [one, other] :
             {std::pair(&copy.to, &copy.from), std::pair(&copy.from, &copy.to)}) {
          const auto pack = packs_.find(one->name);
          if (pack == packs_.end() || one->is_view) continue;
          const auto near = packs_.find(other->name);
          std::optional<Elements> elements = near != packs_.end() && !other->is_view
                                                 ? std::optional(near->second)
                                                 : elements_of(other->name);
          const std::int64_t bytes = bytes_of_vector(analysis_.local(pack->first)->type);
          const bool is_pack_too = near != packs_.end() && !other->is_view;
          if (is_pack_too && elements->count == 0) continue;  // not known yet
          bool fits = elements.has_value() && (copy.bytes == 0 || copy.bytes == bytes) &&
                      bytes % elements_bytes(*elements) == 0;
          if (fits && elements->count == 0) elements->count = bytes / elements_bytes(*elements);
          fits = fits && elements->count * elements_bytes(*elements) == bytes &&
                 (pack->second.count == 0 || pack->second == *elements);
          if (!fits) {
            packs_.erase(pack);
            changed = true;
          } else if (pack->second.count == 0) {
            pack->second = *elements;
            changed = true;
          }
        }
      }
    }
    std::erase_if(packs_, [](const auto& pack) { return pack.second.count == 0; });
    // One that is left goes with none that is not.
    for (bool changed = true; changed;) {
      changed = false;
      for (const BitCopy& copy : copies) {
        const auto is_other = [&](const End& end) {
          return !end.is_view && analysis_.local(end.name) != nullptr &&
                 bytes_of_vector(analysis_.local(end.name)->type) > 0 &&
                 analysis_.local(end.name)->extents.empty() && !packs_.contains(end.name);
        };
        if (is_other(copy.to)) changed = packs_.erase(copy.from.name) > 0 || changed;
        if (is_other(copy.from)) changed = packs_.erase(copy.to.name) > 0 || changed;
      }
    }
  }

  const Kernel& kernel_;
  const Analysis analysis_;
  std::map<std::string, Elements> packs_;
};

// Copies of packs, element by element.
class PackWriter {
 public:
  PackWriter(const Kernel& kernel, const PackFinder& finder,
             const std::map<std::string, Elements>& packs)
      : finder_(finder), packs_(packs), kernel_(kernel) {}

  Block run(const Block& block) {
    return rewrite_statements(block, [&](const StmtPtr& stmt) -> std::optional<Block> {
      Block out;
      const auto* declared = as<Declaration>(stmt);
      const auto pack = declared != nullptr ? packs_.find(declared->variable.name) : packs_.end();
      if (pack != packs_.end()) {
        const auto& [type, scalar, count] = pack->second;
        out.push_back(declare(local_variable(pack->first, type, scalar, {count}), nullptr));
        if (!declared->value) return out;
      }
      const auto copy = finder_.bit_copy(*stmt);
      const Elements* elements = copy ? elements_of(*copy) : nullptr;
      if (elements == nullptr) return pack != packs_.end() ? std::optional(out) : std::nullopt;
      const std::string counter = fresh_name(kernel_, "element_" + std::to_string(++loops_));
      const auto at = [&](const End& end) {
        const ExprPtr k = source::variable(counter, ScalarType::i32);
        return with_type(source::element(source::variable(end.name, std::nullopt),
                                         {end.index ? source::add(end.index, k) : k}),
                         elements->scalar);
      };
      out.push_back(counted_loop(counter, integer(0), integer(elements->count), 1,
                                 {source::assign(at(copy->to), at(copy->from))}, kUnrollFully));
      return out;
    });
  }

 private:
  [[nodiscard]] const Elements* elements_of(const BitCopy& copy) const {
    for (const End* end : {&copy.to, &copy.from}) {
      const auto pack = packs_.find(end->name);
      if (pack != packs_.end() && !end->is_view) return &pack->second;
    }
    return nullptr;
  }

  const PackFinder& finder_;
  const std::map<std::string, Elements>& packs_;
  const Kernel& kernel_;
  int loops_ = 0;
};

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
      const auto* counter = loop->declaration();
      const auto* set = loop->body.size() == 1 ? as<Assignment>(loop->body[0]) : nullptr;
      const auto* to = set != nullptr ? as<Subscript>(set->target) : nullptr;
      const auto* from = set != nullptr ? as<Subscript>(set->value) : nullptr;
      const auto* limit = as<Binary>(loop->condition);
      const auto* count = limit != nullptr ? as<IntegerLiteral>(limit->right) : nullptr;
      const bool is_copy =
          counter != nullptr && to != nullptr && from != nullptr && count != nullptr &&
          set->op == AssignmentOperator::assign && limit->op == BinaryOperator::less &&
          is_number(counter->value, 0) && is_named(limit->left, counter->variable.name) &&
          is_named(to->index, counter->variable.name) &&
          is_named(from->index, counter->variable.name) && is<VariableReference>(to->base) &&
          is<VariableReference>(from->base) && loop->advance() != nullptr &&
          is_number(loop->advance()->value, 1) && loop->advance()->op == AssignmentOperator::add;
      if (!is_copy) return std::nullopt;
      copy = ArrayCopy{source::to<VariableReference>(to->base).name,
                       source::to<VariableReference>(from->base).name};
      if (!is_array(analysis, copy->to) ||
          analysis.local(copy->to)->extents.front() != count->value)
        return std::nullopt;
    }
    if (!copy || copy->to == copy->from || !is_array(analysis, copy->from)) return std::nullopt;
    const Variable* one = analysis.local(copy->to);
    const Variable* other = analysis.local(copy->from);
    const bool fits = one->extents == other->extents && one->scalar == other->scalar && one->scalar;
    return fits ? copy : std::nullopt;
  }

  static bool mentions(const Block& block, std::size_t from, const std::string& name) {
    const Block rest(block.begin() + static_cast<std::ptrdiff_t>(from), block.end());
    return any_expression(rest, [&](const Expr& expr) { return is_named(expr, name); });
  }

  static int writes(const Block& block, std::size_t from, const std::string& name) {
    const Block rest(block.begin() + static_cast<std::ptrdiff_t>(from), block.end());
    int count = 0;
    walk(rest, [&](const Stmt& stmt) {
      const auto* base = target_of(stmt) ? base_variable(*target_of(stmt)) : nullptr;
      if (base != nullptr && base->name == name) ++count;
      walk_own_expressions(stmt, [&](const Expr& expr) {
        for_each_passed_place(expr, [&](const Expr& place) {
          const auto* passed = base_variable(place);
          if (passed != nullptr && passed->name == name) ++count;
        });
      });
    });
    return count;
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
    const int inside = is<Declaration>(*block[at]) ? 0 : 1;
    if (writes(block, 0, copy.to) - writes(block, at, copy.to) != 0) return false;
    const bool to_changes = writes(block, at, copy.to) > inside;
    const bool from_changes = writes(block, at + 1, copy.from) > 0;
    return (!to_changes && !from_changes) || !mentions(block, at + 1, copy.from);
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

Block with_packs_as_elements(const Kernel& kernel) {
  PackFinder finder(kernel);
  const std::map<std::string, Elements>& packs = finder.find();
  if (packs.empty()) return kernel.body;
  Kernel result = kernel;
  result.body = PackWriter(kernel, finder, packs).run(kernel.body);
  return ArrayCopies(result).run();
}

}  // namespace regraph::rewrite
