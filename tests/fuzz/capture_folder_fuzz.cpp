// Feeds damaged capture.json files to their reader, and what it still reads to the deriver of
// manifests. Whatever they hold, both come back.
#include "base/files.h"
#include "capture/problem/captured_kernel.h"
#include "capture/problem/derive_manifest.h"
#include "fuzz/mutate.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace {

using namespace regraph;  // NOLINT: a program of its own

constexpr std::string_view kWords[] = {
    "null", "-1", "4294967296", "18446744073709551615", "[]", "{}", "\"\"", "1e400", "\"ff\""};

capture::CapturedKernel sound_kernel() {
  capture::CapturedKernel kernel;
  kernel.symbol = "_Z1kPfS_i";
  kernel.command = {"./a.out"};
  kernel.slots = {{0, 8}, {8, 8}, {16, 4}};
  for (const std::uint8_t n : {200, 100}) {
    capture::KeptLaunch launch;
    launch.grid = {4, 1, 1};
    launch.block = {64, 1, 1};
    launch.parameters.resize(20);
    launch.parameters[16] = std::byte{n};
    launch.pointers = {{0, 0, 0, 0, 4ULL * n, ""}, {1, 0, 0, 8, 4ULL * n - 8, ""}};
    kernel.kept.push_back(launch);
  }
  return kernel;
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(fuzz::settings(argc, argv));
  const auto folder = TemporaryDirectory::create("regraph-capture-fuzz-", "/dev/shm");
  if (!folder.ok() || !capture::write_captured_kernel(folder->path(), sound_kernel()).ok())
    return 1;
  const auto file = folder->path() / capture::kCaptureFile;
  const auto sound = read_file(file, 1 << 20);
  const KernelSignature signature = {
      "k", {{"x", ScalarType::f32, true}, {"y", ScalarType::f32, true}, {"n", ScalarType::i32}}};
  if (!sound.ok() || !capture::derive_manifest(sound_kernel(), signature, folder->path()).ok())
    rounds.fail("what is sound cannot be read");
  return rounds.run([&](fuzz::Random& random) {
    std::string damaged = *sound;
    fuzz::damage(damaged, random, kWords);
    if (!write_file(file, damaged).ok()) return;
    const auto kernel = capture::read_captured_kernel(folder->path());
    if (!kernel.ok()) {
      if (kernel.error().message.find("capture.json") == std::string::npos)
        rounds.fail(kernel.error().message);
      return;
    }
    auto derived = capture::derive_manifest(*kernel, signature, folder->path());
    if (derived.ok()) (void)make_problem(derived->manifest, signature, "k.cu", "");
  });
}
