#include "base/frame_stream.h"

#include "base/service_process.h"

#include <cerrno>
#include <cstddef>
#include <unistd.h>

namespace regraph {
namespace {

bool read_exactly(int descriptor, char* target, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t count = ::read(descriptor, target + done, bytes - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::string> read_frame(int descriptor) {
  unsigned char length[4];
  if (!read_exactly(descriptor, reinterpret_cast<char*>(length), sizeof(length)))
    return std::nullopt;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < sizeof(length); ++i)
    bytes |= std::size_t{length[i]} << (8 * i);
  if (bytes > ServiceProcess::kLargestMessage) return std::nullopt;
  std::string message(bytes, '\0');
  if (!read_exactly(descriptor, message.data(), bytes)) return std::nullopt;
  return message;
}

bool write_frame(int descriptor, std::string_view message) {
  const std::string framed = frame(message);
  std::size_t done = 0;
  while (done < framed.size()) {
    const ssize_t count = ::write(descriptor, framed.data() + done, framed.size() - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count < 0 && errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace regraph
