#include "base/shared_memory.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <utility>

namespace regraph {

SharedMemory::SharedMemory(SharedMemory&& other) noexcept {
  *this = std::move(other);
}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(address_, other.address_);
  std::swap(size_, other.size_);
  return *this;
}

SharedMemory::~SharedMemory() {
  unmap();
}

Result<SharedMemory> SharedMemory::create() {
  SharedMemory memory;
  memory.descriptor_ = FileDescriptor(::memfd_create("regraph", MFD_CLOEXEC));
  if (!memory.descriptor_.valid()) {
    return fail(ErrorCode::resource,
                fmt::format("cannot create shared memory: {}", std::strerror(errno)));
  }
  return memory;
}

Result<SharedMemory> SharedMemory::attach(FileDescriptor descriptor) {
  SharedMemory memory;
  memory.descriptor_ = std::move(descriptor);
  if (const Status status = memory.refresh(); !status.ok()) return status.error();
  return memory;
}

Status SharedMemory::grow(std::size_t bytes) {
  if (bytes <= size_) return {};
  // Reserved at once: memory that turns out to be missing later would be a bus error.
  if (const int code = ::posix_fallocate(descriptor_.get(), 0, static_cast<off_t>(bytes));
      code != 0) {
    return fail(ErrorCode::resource, fmt::format("no room for {} bytes of shared memory: {}", bytes,
                                                 std::strerror(code)));
  }
  return map(bytes);
}

Status SharedMemory::refresh() {
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0) {
    return fail(ErrorCode::io, fmt::format("not shared memory: {}", std::strerror(errno)));
  }
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes <= size_) return {};
  return map(bytes);
}

Status SharedMemory::map(std::size_t bytes) {
  void* const address =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.get(), 0);
  if (address == MAP_FAILED) {
    return fail(ErrorCode::resource,
                fmt::format("cannot map {} bytes: {}", bytes, std::strerror(errno)));
  }
  unmap();
  address_ = static_cast<std::byte*>(address);
  size_ = bytes;
  return {};
}

void SharedMemory::unmap() {
  if (address_ != nullptr) ::munmap(address_, size_);
  address_ = nullptr;
  size_ = 0;
}

}  // namespace regraph
