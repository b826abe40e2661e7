#include "rewrite/forms/packed_elements.h"

#include "rewrite/forms/array_copies.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/view.h"
#include "source/walk.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace regraph::rewrite {

namespace {

constexpr std::int64_t kBytesOfComponent = 4;

// The elements that vectors are used as.
struct ElementType {
  std::string name;  // without const
  ScalarType scalar{};

  [[nodiscard]] std::int64_t bytes() const {
    return static_cast<std::int64_t>(size_in_bytes(scalar));
  }
};

// A variable or an array of a vector type.
struct VectorObject {
  bool is_array = false;
  std::int64_t vectors = 1;
  std::int64_t bytes = 0;               // of a vector
  std::optional<ElementType> elements;  // nothing while that is not known
};

// A vector in memory, of an array of vectors, or a whole variable or array of elements.
struct PackedPlace {
  std::string name;
  ExprPtr base;   // elements in front of the vectors, where it is memory; else null
  ExprPtr index;  // in vectors
};

struct PackedCopy {
  PackedPlace to;
  PackedPlace from;
};

// *(half2*)&array[index].component = make_half2(first, second)
struct PairStore {
  std::string name;
  ExprPtr index;
  std::int64_t component = 0;
  ExprPtr first;
  ExprPtr second;
};

// The bytes of "int4" and its like; 0 for other types.
std::int64_t bytes_of_vector(const std::string& type) {
  const auto view = view_of(Subscript(cast(type + " *", variable("x")), integer(0), std::nullopt));
  return view && view->width > 1
             ? view->width * static_cast<std::int64_t>(size_in_bytes(view->scalar))
             : 0;
}

class PackedElements {
 public:
  explicit PackedElements(const Kernel& kernel) : kernel_(kernel), analysis_(kernel) {}

  Block run() {
    find_candidates();
    if (objects_.empty()) return kernel_.body;
    find_types();
    drop_those_used_otherwise();
    if (objects_.empty()) return kernel_.body;
    Kernel result = kernel_;
    result.body = rewritten();
    for (const auto& [name, object] : objects_)
      if (!object.is_array) return without_array_copies(result);
    return result.body;
  }

 private:
  void find_candidates() {
    walk(kernel_.body, [&](const Stmt& stmt) {
      const auto* declared = as<Declaration>(stmt);
      if (declared == nullptr) return;
      const Variable& variable = declared->variable;
      VectorObject object;
      object.bytes = bytes_of_vector(variable.type);
      object.is_array = !variable.extents.empty();
      const bool is_object = variable.extents.size() <= 1 && !variable.is_pointer &&
                             object.bytes > 0 && variable.storage == Storage::automatic &&
                             (!object.is_array || !declared->value);
      if (!is_object) return;
      if (object.is_array) object.vectors = variable.extents.front();
      objects_.emplace(variable.name, object);
    });
  }

  // ((half*)array)[k]: the array, the type and k.
  [[nodiscard]] std::optional<View> element(const Expr& expr) const {
    auto view = view_of(expr);
    const bool is_element =
        view && view->width == 1 && view->first && is_array(view->array->name) &&
        is<VariableReference>(source::to<Cast>(source::to<Subscript>(expr).base).operand);
    return is_element ? std::move(view) : std::nullopt;
  }

  [[nodiscard]] bool is_array(const std::string& name) const {
    const auto object = objects_.find(name);
    return object != objects_.end() && object->second.is_array;
  }

  // A vector variable, array[index], or ((int4*)(x + base))[index].
  [[nodiscard]] std::optional<PackedPlace> vector_at(const ExprPtr& expr) const {
    if (const auto* name = as<VariableReference>(expr)) {
      const bool is_variable = objects_.contains(name->name) && !is_array(name->name);
      return is_variable ? std::optional(PackedPlace{name->name, nullptr, integer(0)})
                         : std::nullopt;
    }
    const auto* access = as<Subscript>(expr);
    if (access == nullptr) return std::nullopt;
    if (const auto* name = as<VariableReference>(access->base)) {
      if (!is_array(name->name)) return std::nullopt;
      return PackedPlace{name->name, nullptr, access->index};
    }
    const auto view = view_of(Subscript(access->base, integer(0), std::nullopt));
    if (!view || !view->first || view->width < 2 || !elements_behind(view->array->name))
      return std::nullopt;
    return PackedPlace{view->array->name, view->first, access->index};
  }

  [[nodiscard]] bool is_pointer(const std::string& name) const {
    const Variable* local = analysis_.local(name);
    return local != nullptr ? local->is_pointer : analysis_.is_global_pointer(name);
  }

  // Of what a pointer leads to, a parameter or one of the kernel's own, or of an own array.
  [[nodiscard]] std::optional<ElementType> elements_behind(const std::string& name) const {
    std::string type;
    std::optional<ScalarType> scalar;
    const Variable* local = analysis_.local(name);
    if (local != nullptr && (is_pointer(name) || local->extents.size() == 1)) {
      type = local->type;
      scalar = local->scalar;
    } else if (is_pointer(name)) {
      type = kernel_.parameter(name)->type;
      scalar = kernel_.parameter(name)->scalar;
    }
    if (!scalar) return std::nullopt;
    constexpr std::string_view kConst = "const ";
    if (type.starts_with(kConst)) type = type.substr(kConst.size());
    return ElementType{type, *scalar};
  }

  [[nodiscard]] std::optional<ElementType> elements_of(const PackedPlace& place) const {
    const auto object = objects_.find(place.name);
    return object != objects_.end() ? object->second.elements : elements_behind(place.name);
  }

  // A copy of one vector with a variable or an array of vectors at one end at least.
  [[nodiscard]] std::optional<PackedCopy> copy_of(const Stmt& stmt) const {
    std::optional<PackedPlace> to;
    std::optional<PackedPlace> from;
    if (const auto* declared = as<Declaration>(stmt)) {
      to = vector_at(source::variable(declared->variable.name));
      from = declared->value ? vector_at(declared->value) : std::nullopt;
    } else if (const auto* set = as<Assignment>(stmt)) {
      if (set->op != AssignmentOperator::assign) return std::nullopt;
      to = vector_at(set->target);
      from = vector_at(set->value);
    } else if (const auto* done = as<source::Evaluation>(stmt)) {
      return memory_copy(done->call());
    }
    if (!to || !from || (to->base && from->base)) return std::nullopt;
    return PackedCopy{std::move(*to), std::move(*from)};
  }

  // memcpy(&a, &b, bytes) of vector variables, one of which may be an array of as many elements, or
  // a pointer to them.
  [[nodiscard]] std::optional<PackedCopy> memory_copy(const Call& call) const {
    if (call.function != "memcpy" || call.arguments.size() != 3) return std::nullopt;
    const auto* bytes = as<IntegerLiteral>(call.arguments[2]);
    bool has_variable = false;
    const auto whole = [&](const ExprPtr& address) -> std::optional<PackedPlace> {
      const ExprPtr place = addressed(*address);
      const auto* name = as<VariableReference>(place ? place : address);
      if (name == nullptr || bytes == nullptr) return std::nullopt;
      const auto object = objects_.find(name->name);
      const Variable* local = analysis_.local(name->name);
      bool fits = !place && is_pointer(name->name);
      if (object != objects_.end()) {
        fits = !object->second.is_array && object->second.bytes == bytes->value;
        has_variable = has_variable || fits;
      } else if (local != nullptr && local->scalar && local->extents.size() == 1) {
        fits = local->extents.front() * static_cast<std::int64_t>(size_in_bytes(*local->scalar)) ==
               bytes->value;
      }
      return fits ? std::optional(PackedPlace{name->name, nullptr, integer(0)}) : std::nullopt;
    };
    auto to = whole(call.arguments[0]);
    auto from = whole(call.arguments[1]);
    if (!to || !from || !has_variable) return std::nullopt;
    return PackedCopy{std::move(*to), std::move(*from)};
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

  // Whether that is news.
  bool take_type(const std::string& name, const ElementType& elements) {
    const auto found = objects_.find(name);
    if (found == objects_.end()) return false;
    std::optional<ElementType>& own = found->second.elements;
    if (own && own->scalar != elements.scalar) mixed_.insert(name);
    if (own) return false;
    own = elements;
    return true;
  }

  void find_types() {
    walk_expressions(kernel_.body, [&](const Expr& expr) {
      if (const auto view = element(expr))
        take_type(view->array->name, {view->vector, view->scalar});
    });
    for (bool changed = true; changed;) {
      changed = false;
      walk(kernel_.body, [&](const Stmt& stmt) {
        const auto copy = copy_of(stmt);
        if (!copy) return;
        for (const auto& [one, other] :
             {std::pair(&copy->to, &copy->from), std::pair(&copy->from, &copy->to)}) {
          const auto elements = elements_of(*other);
          if (elements && take_type(one->name, *elements)) changed = true;
        }
      });
    }
  }

  // What goes with one that is dropped is then used otherwise itself.
  void drop_those_used_otherwise() {
    for (std::size_t before = objects_.size() + 1; before != objects_.size();) {
      before = objects_.size();
      std::map<std::string, int> known;
      walk_expressions(kernel_.body, [&](const Expr& expr) {
        if (const auto view = element(expr)) ++known[view->array->name];
        if (const auto* name = as<VariableReference>(expr)) --known[name->name];
      });
      walk(kernel_.body, [&](const Stmt& stmt) {
        const auto pair = pair_store(stmt);
        if (pair && holds_pairs(objects_.at(pair->name))) ++known[pair->name];
        const auto copy = copy_of(stmt);
        const bool is_known = copy && fits(*copy);
        // A declaration does not mention what it declares.
        const auto* declared = as<Declaration>(stmt);
        if (declared != nullptr && declared->value && !is_known) --known[declared->variable.name];
        if (!is_known) return;
        if (!copy->to.base && declared == nullptr) ++known[copy->to.name];
        if (!copy->from.base) ++known[copy->from.name];
      });
      std::erase_if(objects_, [&](const auto& one) {
        const auto& [name, object] = one;
        return known[name] != 0 || mixed_.contains(name) || !object.elements ||
               object.bytes % object.elements->bytes() != 0 ||
               (object.is_array && object.elements->bytes() > kBytesOfComponent);
      });
    }
  }

  // Whether each component of the vectors is two of the elements.
  [[nodiscard]] static bool holds_pairs(const VectorObject& object) {
    return object.elements && 2 * object.elements->bytes() == kBytesOfComponent;
  }

  [[nodiscard]] bool fits(const PackedCopy& copy) const {
    const auto to = elements_of(copy.to);
    const auto from = elements_of(copy.from);
    return to && from && to->scalar == from->scalar;
  }

  [[nodiscard]] static std::int64_t elements_of_vector(const VectorObject& object) {
    return object.bytes / object.elements->bytes();
  }

  [[nodiscard]] Block rewritten() {
    const Block copied =
        rewrite_statements(kernel_.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          if (const auto pair = pair_store(*stmt)) return stored(*pair);
          const auto copy = copy_of(*stmt);
          const auto* declared = as<Declaration>(stmt);
          const auto object =
              declared != nullptr ? objects_.find(declared->variable.name) : objects_.end();
          if (object == objects_.end() && !copy) return std::nullopt;
          Block out;
          if (object != objects_.end()) {
            const auto& [name, vectors] = *object;
            out.push_back(
                declare(local_variable(name, vectors.elements->name, vectors.elements->scalar,
                                       {vectors.vectors * elements_of_vector(vectors)}),
                        nullptr));
          }
          if (copy) out.push_back(loop_of(*copy));
          return out;
        });
    return rewrite_expressions(copied, element_writer());
  }

  // An index may hold elements of arrays itself.
  [[nodiscard]] ExprRewrite element_writer() const {
    return [this](const ExprPtr& expr) -> std::optional<ExprPtr> {
      const auto view = element(*expr);
      if (!view) return std::nullopt;
      const ExprPtr& index = source::to<Subscript>(*expr).index;
      return at(view->array->name, rewrite_expr(index, element_writer()), view->scalar);
    };
  }

  [[nodiscard]] static ExprPtr at(const std::string& name, ExprPtr index, ScalarType scalar) {
    return with_type(source::element(source::variable(name, std::nullopt), {std::move(index)}),
                     scalar);
  }

  [[nodiscard]] Block stored(const PairStore& pair) const {
    const VectorObject& array = objects_.at(pair.name);
    const std::int64_t first = pair.component * kBytesOfComponent / array.elements->bytes();
    const auto place = [&](std::int64_t offset) {
      return at(
          pair.name,
          add(multiply(pair.index, integer(elements_of_vector(array))), integer(first + offset)),
          array.elements->scalar);
    };
    return {source::assign(place(0), pair.first), source::assign(place(1), pair.second)};
  }

  [[nodiscard]] StmtPtr loop_of(const PackedCopy& copy) {
    const bool is_of_array = is_array(copy.to.name) || is_array(copy.from.name);
    const PackedPlace& own = objects_.contains(copy.to.name) ? copy.to : copy.from;
    const VectorObject& object = objects_.at(own.name);
    const std::int64_t elements = elements_of_vector(object);
    const std::string stem = is_of_array ? "packed_" : "element_";
    const std::string counter = fresh_name(kernel_, stem + std::to_string(++loops_[stem]));
    const auto place = [&](const PackedPlace& one) {
      ExprPtr index = multiply(one.index, integer(elements));
      if (one.base) index = add(one.base, index);
      return at(one.name, add(index, source::variable(counter, ScalarType::i32)),
                object.elements->scalar);
    };
    return counted_loop(counter, integer(0), integer(elements), 1,
                        {source::assign(place(copy.to), place(copy.from))}, kUnrollFully);
  }

  const Kernel& kernel_;
  const Analysis analysis_;
  std::map<std::string, VectorObject> objects_;
  std::set<std::string> mixed_;       // used as elements of several types
  std::map<std::string, int> loops_;  // by the stem of their counters
};

}  // namespace

Block with_packed_elements(const Kernel& kernel) {
  return PackedElements(kernel).run();
}

}  // namespace regraph::rewrite
