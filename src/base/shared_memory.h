// Memory that this process shares with a child: bulk data need not pass through pipes.
#pragma once

#include "base/file_descriptor.h"
#include "base/result.h"

#include <cstddef>
#include <span>

namespace regraph {

// Not thread-safe. What a child wrote there is foreign data.
class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  // Creates an empty one that children get by its descriptor. Error: resource.
  [[nodiscard]] static Result<SharedMemory> create();
  // The same memory as the descriptor's creator has; takes the descriptor over. Error: io.
  [[nodiscard]] static Result<SharedMemory> attach(FileDescriptor descriptor);

  // Makes it at least that large, keeping what it holds; earlier views become invalid. The other
  // side sees the new size with `refresh`. Error: resource.
  [[nodiscard]] Status grow(std::size_t bytes);
  // Maps what the other side has added. Error: io.
  [[nodiscard]] Status refresh();

  [[nodiscard]] std::span<std::byte> bytes() const { return {address_, size_}; }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

 private:
  [[nodiscard]] Status map(std::size_t bytes);
  void unmap();

  FileDescriptor descriptor_;
  std::byte* address_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace regraph
