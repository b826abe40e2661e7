#include "rewrite/analysis/shared_memory.h"

#include "source/walk.h"

namespace regraph::rewrite {

std::int64_t bytes_of(const source::Variable& variable) {
  // The widest vector types for those that are no scalars.
  constexpr std::int64_t kVectorBytes = 16;
  std::int64_t bytes =
      variable.scalar ? static_cast<std::int64_t>(size_in_bytes(*variable.scalar)) : kVectorBytes;
  for (const std::int64_t count : variable.extents)
    bytes *= count;
  return bytes;
}

std::int64_t shared_bytes(const source::Kernel& kernel) {
  std::int64_t bytes = 0;
  source::walk(kernel.body, [&](const source::Stmt& stmt) {
    const auto* declaration = source::as<source::Declaration>(stmt);
    if (declaration != nullptr && declaration->variable.storage == source::Storage::shared)
      bytes += bytes_of(declaration->variable);
  });
  return bytes;
}

}  // namespace regraph::rewrite
