#include "rewrite/transform/vector_code.h"

#include "source/build.h"

#include <algorithm>
#include <utility>

namespace regraph::rewrite {

namespace {

// Whether the elements are components of one of CUDA's vectors.
bool has_components(const VectorShape& shape) {
  return !vector_type(shape.scalar, shape.width).empty();
}

// What one access moves.
std::string carrier(const VectorShape& shape) {
  const int bytes = std::min(shape.bytes(), static_cast<int>(kWidestAccess));
  const int width = bytes / static_cast<int>(size_in_bytes(shape.scalar));
  const std::string own = vector_type(shape.scalar, width);
  if (!own.empty()) return own;
  switch (bytes) {
    case 2:
      return "unsigned short";
    case 4:
      return "unsigned int";
    case 8:
      return "uint2";
    default:
      return "uint4";
  }
}

// The element's neighbour `number` further on.
ExprPtr neighbour(const ExprPtr& element, int number) {
  if (number == 0) return element;
  const auto& access = source::to<Subscript>(element);
  return with_type(source::element(access.base, {source::add(access.index, integer(number))}),
                   element->type);
}

ExprPtr as_vector(const std::string& type, const ExprPtr& first, bool stores) {
  return source::element(cast((stores ? "" : "const ") + type + "*", source::address(first)),
                         {integer(0)});
}

// All accesses between two rows of elements.
Block copies(const VectorShape& shape, const ExprPtr& to, const ExprPtr& from) {
  const std::string type = carrier(shape);
  const int each = std::min(
      shape.width, static_cast<int>(kWidestAccess) / static_cast<int>(size_in_bytes(shape.scalar)));
  Block code;
  for (int number = 0; number < shape.width; number += each) {
    code.push_back(source::assign(as_vector(type, neighbour(to, number), true),
                                  as_vector(type, neighbour(from, number), false)));
  }
  return code;
}

ExprPtr first_of(const std::string& name, const VectorShape& shape) {
  return source::element(source::variable(name, shape.scalar), {integer(0)});
}

}  // namespace

Variable vector_variable(const std::string& name, const VectorShape& shape) {
  if (has_components(shape))
    return local_variable(name, vector_type(shape.scalar, shape.width), std::nullopt);
  return element_array(name, std::string(cuda_name(shape.scalar)), shape);
}

ExprPtr vector_component(const std::string& name, const VectorShape& shape, int number) {
  if (has_components(shape))
    return member(source::variable(name, std::nullopt), component_name(number), shape.scalar);
  return source::element(source::variable(name, shape.scalar), {integer(number)});
}

Block declare_vector(const std::string& name, const VectorShape& shape, const ExprPtr& first) {
  Variable variable = vector_variable(name, shape);
  if (has_components(shape))
    return {declare(std::move(variable), as_vector(carrier(shape), first, false))};
  Block code = {declare(std::move(variable), nullptr)};
  append(copies(shape, first_of(name, shape), first), code);
  return code;
}

Block declare_vector_where(const std::string& name, const VectorShape& shape, const ExprPtr& first,
                           const ExprPtr& condition) {
  Variable variable = vector_variable(name, shape);
  if (has_components(shape)) {
    const ExprPtr zero = source::zero_value(variable.type, std::nullopt);
    return {declare(std::move(variable),
                    source::conditional(condition, as_vector(carrier(shape), first, false), zero))};
  }
  Block zeros;
  for (int number = 0; number < shape.width; ++number)
    zeros.push_back(
        source::assign(vector_component(name, shape, number), source::zero_of(shape.scalar)));
  return {declare(std::move(variable), nullptr),
          source::branch(condition, copies(shape, first_of(name, shape), first), std::move(zeros))};
}

Block store_vector(const std::string& name, const VectorShape& shape, const ExprPtr& first) {
  if (!has_components(shape)) return copies(shape, first, first_of(name, shape));
  return {
      source::assign(as_vector(carrier(shape), first, true), source::variable(name, std::nullopt))};
}

Block add_vector(const std::string& name, const VectorShape& shape, int each,
                 const ExprPtr& first) {
  const std::string own = vector_type(shape.scalar, each);
  const std::string type = own.empty() ? std::string(cuda_name(shape.scalar)) + "2" : own;
  Block code;
  for (int number = 0; number < shape.width; number += each) {
    const ExprPtr value = has_components(shape)
                              ? source::variable(name, std::nullopt)
                              : as_vector(type, neighbour(first_of(name, shape), number), false);
    const ExprPtr target = cast(type + "*", source::address(neighbour(first, number)));
    code.push_back(evaluate(source::call("atomicAdd", {target, value})));
  }
  return code;
}

Variable element_array(const std::string& name, const std::string& type, const VectorShape& shape,
                       std::optional<int> outer) {
  std::vector<std::int64_t> extents = {shape.width};
  if (outer) extents.insert(extents.begin(), *outer);
  Variable variable = local_variable(name, type, shape.scalar, std::move(extents));
  if (!has_components(shape)) variable.alignment = shape.alignment();
  return variable;
}

Block load_elements(const ExprPtr& held, const VectorShape& shape, const ExprPtr& first,
                    const std::string& vector) {
  if (!has_components(shape)) return copies(shape, held, first);
  Variable variable = vector_variable(vector, shape);
  variable.is_const = true;
  Block code = {declare(std::move(variable), as_vector(carrier(shape), first, false))};
  for (int number = 0; number < shape.width; ++number)
    code.push_back(
        source::assign(neighbour(held, number), vector_component(vector, shape, number)));
  return code;
}

Block store_elements(const ExprPtr& held, const VectorShape& shape, const ExprPtr& first,
                     const std::string& vector) {
  if (!has_components(shape)) return copies(shape, first, held);
  Block code = {declare(vector_variable(vector, shape), nullptr)};
  for (int number = 0; number < shape.width; ++number)
    code.push_back(
        source::assign(vector_component(vector, shape, number), neighbour(held, number)));
  append(store_vector(vector, shape, first), code);
  return code;
}

}  // namespace regraph::rewrite
