// Hands a winner back into damaged files. Where that works, nothing but the kernel and its launches
// has changed.
#include "fuzz/mutate.h"
#include "handback/handback_support.h"

#include <string>
#include <string_view>

namespace {

using namespace regraph;  // NOLINT: a program of its own

constexpr std::string_view kWords[] = {
    "sums<<<grid, block>>>(a, b, m, n);",
    "<<<",
    ">>>",
    "__global__ void sums(const float* in, float* out, int rows, int columns);",
    "#define sums other\n",
    "#if 1\n",
    "#endif\n",
    "namespace mine {",
    "}",
    "{",
    "block(64)",
    "dim3 block(128), grid((m + 127) / 128);",
    "sums",
    "twice<<<grid, block>>>(b, m);",
    "/*",
    "*/",
    "\"",
    "\r\n",
    "const ",
    "m + 1",
};

const std::string kOther =
    "// Doubles.\n__global__ void twice(float* x, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) x[i] *= 2.0f;  // sums\n}\n";
const std::string kHost =
    "\n// Launches.\nvoid run(float* a, float* b, int m, int n) {\n"
    "  dim3 block(128), grid((m + 127) / 128);\n  sums<<<grid, block>>>(a, b, m, n);\n"
    "  twice<<<grid, block>>>(b, m);\n}\n\nint main() { run(nullptr, nullptr, 4, 5); }\n";

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
    ++count;
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(fuzz::settings(argc, argv));
  const std::string sound = kOther + test::kSums + kHost;
  test::SearchedSums same_launch(sound);
  same_launch.win();
  test::SearchedSums other_launch(sound);
  other_launch.win_with_launch();
  if (!same_launch.into(sound) || !other_launch.into(sound))
    rounds.fail("what is sound is refused");
  return rounds.run([&](fuzz::Random& random) {
    // The kernel itself as it was searched, most of the time; else hand_back refuses it at once.
    std::string front = kOther;
    std::string back = kHost;
    std::string kernel = test::kSums;
    if (random() % 2 == 0) fuzz::damage(front, random, kWords);
    fuzz::damage(back, random, kWords);
    if (random() % 16 == 0) fuzz::damage(kernel, random, kWords);
    const std::string file = front + kernel + back;
    const auto& searched = random() % 2 == 0 ? same_launch : other_launch;
    const auto handed = searched.into(file);
    if (!handed.ok()) {
      if (handed.error().message.empty()) rounds.fail("an error without a word");
      return;
    }
    const std::string& text = handed->texts.front();
    if (count_of(text, kOther) != count_of(file, kOther)) rounds.fail("another kernel has changed");
    if (text.find("fast();") == std::string::npos) rounds.fail("the winner is not there");
    // Without a changed launch all in front of the kernel and behind it is what it was; but where
    // half a declaration in front has become a part of it.
    if (handed->launches.empty() && front == kOther && text.size() > front.size() + back.size()) {
      if (!text.starts_with(front) || !text.ends_with(back))
        rounds.fail("more than the kernel has changed:\n" + file + "\nbecame\n" + text);
    }
  });
}
