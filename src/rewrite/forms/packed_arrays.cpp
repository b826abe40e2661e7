#include "rewrite/forms/packed_arrays.h"

#include "rewrite/forms/pointed_elements.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/view.h"
#include "source/walk.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

constexpr std::int64_t kBytesOfComponent = 4;

struct VectorArray {
  std::int64_t vectors = 0;
  std::int64_t bytes = 0;  // of a vector
  std::string type;        // of the elements that it is used as; empty while that is not known
  std::optional<ScalarType> scalar;

  [[nodiscard]] std::int64_t elements_of_vector() const {
    return bytes / static_cast<std::int64_t>(size_in_bytes(*scalar));
  }
};

// A vector in memory, or of an array of them.
struct VectorPlace {
  std::string name;
  ExprPtr base;   // elements in front of the vectors, where it is memory; else null
  ExprPtr index;  // in vectors
};

// *(half2*)&array[index].component = make_half2(first, second)
struct PairStore {
  std::string name;
  ExprPtr index;
  std::int64_t component = 0;
  ExprPtr first;
  ExprPtr second;
};

class VectorArrays {
 public:
  explicit VectorArrays(const Kernel& kernel) : kernel_(kernel), analysis_(kernel) {}

  Block run() {
    find_candidates();
    if (arrays_.empty()) return kernel_.body;
    find_types();
    drop_those_used_otherwise();
    return arrays_.empty() ? kernel_.body : rewritten();
  }

 private:
  void find_candidates() {
    walk(kernel_.body, [&](const Stmt& stmt) {
      const auto* declared = as<Declaration>(stmt);
      if (declared == nullptr || declared->value) return;
      const Variable& variable = declared->variable;
      VectorArray array;
      array.bytes = bytes_of_vector(variable.type);
      const bool is_array = variable.extents.size() == 1 && !variable.is_pointer &&
                            array.bytes > 0 && variable.storage == Storage::automatic;
      if (!is_array) return;
      array.vectors = variable.extents.front();
      arrays_.emplace(variable.name, array);
    });
  }

  // ((half*)array)[k]: the array, the type and k.
  [[nodiscard]] std::optional<View> element(const Expr& expr) const {
    auto view = view_of(expr);
    const bool is_element =
        view && view->width == 1 && view->first && arrays_.contains(view->array->name) &&
        is<VariableReference>(source::to<Cast>(source::to<Subscript>(expr).base).operand);
    return is_element ? std::move(view) : std::nullopt;
  }

  // array[index], or ((int4*)(x + base))[index] of as many bytes as `bytes`, which 0 leaves open.
  [[nodiscard]] std::optional<VectorPlace> vector_at(const ExprPtr& expr) const {
    const auto* access = as<Subscript>(expr);
    if (access == nullptr) return std::nullopt;
    if (const auto* name = as<VariableReference>(access->base)) {
      if (!arrays_.contains(name->name)) return std::nullopt;
      return VectorPlace{name->name, nullptr, access->index};
    }
    const auto view = view_of(Subscript(access->base, integer(0), std::nullopt));
    if (!view || !view->first || view->width < 2 || !pointee(view->array->name))
      return std::nullopt;
    return VectorPlace{view->array->name, view->first, access->index};
  }

  [[nodiscard]] std::optional<ElementType> pointee(const std::string& name) const {
    return element_behind(name, kernel_, analysis_);
  }

  // A copy of one vector with an array at one end at least.
  [[nodiscard]] std::optional<std::pair<VectorPlace, VectorPlace>> copy_of(const Stmt& stmt) const {
    const auto* set = as<Assignment>(stmt);
    if (set == nullptr || set->op != AssignmentOperator::assign) return std::nullopt;
    auto to = vector_at(set->target);
    auto from = vector_at(set->value);
    if (!to || !from || (to->base && from->base)) return std::nullopt;
    return std::pair(std::move(*to), std::move(*from));
  }

  [[nodiscard]] std::optional<PairStore> pair_store(const Stmt& stmt) const {
    const auto* set = as<Assignment>(stmt);
    const auto* access = set != nullptr ? as<Subscript>(set->target) : nullptr;
    const auto* cast = access != nullptr ? as<Cast>(access->base) : nullptr;
    const auto* made = set != nullptr ? as<Call>(set->value) : nullptr;
    if (cast == nullptr || made == nullptr || set->op != AssignmentOperator::assign ||
        !is_number(access->index, 0) || made->arguments.size() != 2) {
      return std::nullopt;
    }
    static const std::set<std::string> kPairs = {"half2 *", "__half2 *", "__nv_bfloat162 *"};
    static const std::set<std::string> kMakers = {"make_half2", "__halves2half2", "make_bfloat162",
                                                  "__halves2bfloat162"};
    if (!kPairs.contains(cast->target) || !kMakers.contains(made->function)) return std::nullopt;
    const ExprPtr place = addressed(*cast->operand);
    const auto* component = place ? as<Member>(place) : nullptr;
    const auto vector = component != nullptr ? vector_at(component->object) : std::nullopt;
    constexpr std::string_view kComponents = "xyzw";
    const std::size_t at = component != nullptr && component->name.size() == 1
                               ? kComponents.find(component->name)
                               : std::string_view::npos;
    if (!vector || vector->base || at == std::string_view::npos) return std::nullopt;
    // The second number would be read behind the first store.
    for (const ExprPtr& value : made->arguments)
      if (variables_of(value).contains(vector->name)) return std::nullopt;
    return PairStore{vector->name, vector->index, static_cast<std::int64_t>(at), made->arguments[0],
                     made->arguments[1]};
  }

  void take_type(const std::string& name, const std::string& type, ScalarType scalar) {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) return;
    VectorArray& array = found->second;
    if (array.scalar && *array.scalar != scalar) mixed_.insert(name);
    array.scalar = scalar;
    array.type = type;
  }

  void find_types() {
    walk_expressions(kernel_.body, [&](const Expr& expr) {
      if (const auto view = element(expr)) take_type(view->array->name, view->vector, view->scalar);
    });
    walk(kernel_.body, [&](const Stmt& stmt) {
      const auto copy = copy_of(stmt);
      if (!copy) return;
      for (const auto& [array, memory] :
           {std::pair(&copy->first, &copy->second), std::pair(&copy->second, &copy->first)}) {
        if (!memory->base) continue;
        const auto type = pointee(memory->name);
        take_type(array->name, type->name, type->scalar);
      }
    });
  }

  // What goes with one that is dropped is then used otherwise itself.
  void drop_those_used_otherwise() {
    for (std::size_t before = arrays_.size() + 1; before != arrays_.size();) {
      before = arrays_.size();
      std::map<std::string, int> known;
      walk_expressions(kernel_.body, [&](const Expr& expr) {
        if (const auto view = element(expr)) ++known[view->array->name];
        if (const auto* name = as<VariableReference>(expr)) --known[name->name];
      });
      walk(kernel_.body, [&](const Stmt& stmt) {
        if (const auto pair = pair_store(stmt)) ++known[pair->name];
        const auto copy = copy_of(stmt);
        if (!copy || !fits(*copy)) return;
        for (const VectorPlace* place : {&copy->first, &copy->second})
          if (!place->base) ++known[place->name];
      });
      std::erase_if(arrays_, [&](const auto& one) {
        const VectorArray& array = one.second;
        return known[one.first] != 0 || mixed_.contains(one.first) || !array.scalar ||
               static_cast<std::int64_t>(size_in_bytes(*array.scalar)) > kBytesOfComponent;
      });
    }
  }

  [[nodiscard]] bool fits(const std::pair<VectorPlace, VectorPlace>& copy) const {
    std::optional<ScalarType> scalar;
    for (const VectorPlace* place : {&copy.first, &copy.second}) {
      std::optional<ScalarType> own;
      if (place->base) {
        own = pointee(place->name)->scalar;
      } else if (const auto found = arrays_.find(place->name); found != arrays_.end()) {
        own = found->second.scalar;
      }
      if (!own || (scalar && *scalar != *own)) return false;
      scalar = own;
    }
    return true;
  }

  [[nodiscard]] Block rewritten() {
    const Block copied =
        rewrite_statements(kernel_.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          const auto* declared = as<Declaration>(stmt);
          const auto array =
              declared != nullptr ? arrays_.find(declared->variable.name) : arrays_.end();
          if (array != arrays_.end()) {
            const VectorArray& one = array->second;
            return Block{declare(local_variable(array->first, one.type, one.scalar,
                                                {one.vectors * one.elements_of_vector()}),
                                 nullptr)};
          }
          if (const auto pair = pair_store(*stmt)) return stored(*pair);
          if (const auto copy = copy_of(*stmt)) return Block{loop_of(*copy)};
          return std::nullopt;
        });
    return rewrite_expressions(copied, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      const auto view = element(*expr);
      if (!view) return std::nullopt;
      const ExprPtr index = rewritten_index(source::to<Subscript>(*expr).index);
      return at(view->array->name, index, view->scalar);
    });
  }

  // An index may hold elements of arrays itself.
  [[nodiscard]] ExprPtr rewritten_index(const ExprPtr& index) const {
    return rewrite_expr(index, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      const auto view = element(*expr);
      if (!view) return std::nullopt;
      return at(view->array->name, rewritten_index(source::to<Subscript>(*expr).index),
                view->scalar);
    });
  }

  [[nodiscard]] static ExprPtr at(const std::string& name, ExprPtr index, ScalarType scalar) {
    return with_type(source::element(source::variable(name, std::nullopt), {std::move(index)}),
                     scalar);
  }

  [[nodiscard]] Block stored(const PairStore& pair) const {
    const VectorArray& array = arrays_.at(pair.name);
    const std::int64_t first = pair.component * kBytesOfComponent /
                               static_cast<std::int64_t>(size_in_bytes(*array.scalar));
    const auto place = [&](std::int64_t offset) {
      return at(
          pair.name,
          add(multiply(pair.index, integer(array.elements_of_vector())), integer(first + offset)),
          *array.scalar);
    };
    return {source::assign(place(0), pair.first), source::assign(place(1), pair.second)};
  }

  [[nodiscard]] StmtPtr loop_of(const std::pair<VectorPlace, VectorPlace>& copy) {
    const VectorPlace& array = copy.first.base ? copy.second : copy.first;
    const VectorArray& shape = arrays_.at(array.name);
    const std::string counter = fresh_name(kernel_, "packed_" + std::to_string(++loops_));
    const auto place = [&](const VectorPlace& one) {
      ExprPtr index = add(multiply(one.index, integer(shape.elements_of_vector())),
                          source::variable(counter, ScalarType::i32));
      if (one.base) index = add(one.base, index);
      return at(one.name, index, *shape.scalar);
    };
    return counted_loop(counter, integer(0), integer(shape.elements_of_vector()), 1,
                        {source::assign(place(copy.first), place(copy.second))}, kUnrollFully);
  }

  const Kernel& kernel_;
  const Analysis analysis_;
  std::map<std::string, VectorArray> arrays_;
  std::set<std::string> mixed_;  // used as elements of several types
  int loops_ = 0;
};

}  // namespace

Block with_vector_arrays_as_elements(const Kernel& kernel) {
  return VectorArrays(kernel).run();
}

}  // namespace regraph::rewrite
