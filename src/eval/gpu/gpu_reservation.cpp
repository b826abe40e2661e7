#include "eval/gpu/gpu_reservation.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>

namespace regraph::gpu {
namespace {

// flock() cannot be interrupted by a Cancellation, so it is asked again and again. A turn on a GPU
// takes tenths of a second.
constexpr auto kAskAgain = std::chrono::milliseconds(2);
constexpr mode_t kForEveryUser = 0444;

// Where others own the file, the kernel may refuse to open it with O_CREAT (protected_regular).
FileDescriptor open_or_make(const std::filesystem::path& file) {
  FileDescriptor there(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (there.valid() || errno != ENOENT) return there;
  return FileDescriptor(
      ::open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kForEveryUser));
}

// Whether it was taken before a cancellation.
bool lock(const FileDescriptor& file, const Cancellation& cancellation) {
  while (file.valid()) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return true;
    if ((errno != EWOULDBLOCK && errno != EINTR) || cancellation.requested()) return false;
    std::this_thread::sleep_for(kAskAgain);
  }
  return false;
}

}  // namespace

std::filesystem::path GpuReservation::file_of(const std::string& bus_id) {
  std::string name = "regraph-gpu-" + bus_id;
  std::ranges::replace_if(
      name, [](unsigned char letter) { return std::isalnum(letter) == 0; }, '-');
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  return (error ? std::filesystem::path("/tmp") : folder) / name;
}

GpuReservation GpuReservation::wait(const std::filesystem::path& file,
                                    const Cancellation& cancellation) {
  FileDescriptor next = open_or_make(file.string() + ".next");
  FileDescriptor opened = open_or_make(file);
  if (!lock(next, cancellation) || !lock(opened, cancellation)) opened.reset();
  return GpuReservation(std::move(opened));
}

}  // namespace regraph::gpu
