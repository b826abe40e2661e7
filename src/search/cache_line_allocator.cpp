#include "search/state_graph_types.h"

#include <new>
#include <sys/mman.h>

namespace regraph {

namespace {

constexpr std::align_val_t kLinePair{128};
constexpr std::align_val_t kHugePage{std::size_t{2} << 20};

std::align_val_t alignment_for(std::size_t bytes) {
  return bytes >= static_cast<std::size_t>(kHugePage) ? kHugePage : kLinePair;
}

}  // namespace

void* allocate_lines(std::size_t bytes) {
  const std::align_val_t alignment = alignment_for(bytes);
  void* memory = ::operator new(bytes, alignment);
  // A hint; without it everything works, only slower.
  if (alignment == kHugePage) static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));
  return memory;
}

void free_lines(void* memory, std::size_t bytes) {
  ::operator delete(memory, alignment_for(bytes));
}

}  // namespace regraph
