// Feeds damaged fat binaries to the readers of device code. Whatever they hold, the readers come
// back.
#include "capture/fat_binary.h"
#include "capture/fat_binary_builder.h"
#include "capture/kernel_image.h"
#include "fuzz/mutate.h"

#include <span>
#include <string>
#include <string_view>

namespace {

using namespace regraph;  // NOLINT: a program of its own
using capture::test::container;
using capture::test::entry_bytes;

constexpr std::string_view kWords[] = {
    "\x50\xed\x55\xba",
    std::string_view("\x01\x00\x10\x00", 4),
    std::string_view("\0\0\0\0\0\0\0\0", 8),
    "\xff\xff\xff\xff\xff\xff\xff\xff",
    "\177ELF",
    ".entry ",
    ".nv.info.k",
};

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(fuzz::settings(argc, argv));
  const std::string sound = container(entry_bytes({1, 90, ".entry k()\n{ ret; }\n", 0x8000}) +
                                      entry_bytes({2, 90, "\177ELF", 0})) +
                            container(entry_bytes({1, 80, ".entry k()\n{ ret; }\n", 0}));
  const auto read = [](const std::string& bytes) {
    return capture::read_fat_binaries(std::as_bytes(std::span(bytes.data(), bytes.size())));
  };
  if (!read(sound)) rounds.fail("what is sound cannot be read");
  return rounds.run([&](fuzz::Random& random) {
    std::string damaged = sound;
    fuzz::damage(damaged, random, kWords);
    const auto images = read(damaged);
    if (!images) {
      if (images.error().code != ErrorCode::parse) rounds.fail(images.error().message);
      return;
    }
    for (const capture::DeviceImage& image : *images) {
      if (!image.content.empty() && !image.not_read.empty()) rounds.fail("read and not read");
      (void)capture::kernels_of_cubin(image.content);
    }
  });
}
