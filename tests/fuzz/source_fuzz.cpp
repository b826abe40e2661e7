// Feeds damaged CUDA sources with host code to what cuts kernels out, finds their launches and
// parses them. Whatever people write, it comes back with an answer.
#include "fuzz/mutate.h"
#include "infer/infer_manifest.h"
#include "source/choose_launch.h"
#include "source/clang_frontend.h"
#include "source/extract.h"
#include "support/cuda.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

using namespace regraph;  // NOLINT: a program of its own

constexpr std::string_view kWords[] = {
    "__global__ ",
    "template <typename T, int N = 4> ",
    "<<<",
    ">>>(",
    "<<<grid, block, bytes>>>(a, b, n);",
    "dim3 grid((n + 255) / 256, ceil(m / 16.0));",
    "extern \"C\" {",
    "namespace {",
    "operator+",
    "#line 7 \"other.h\"\n",
    "#define N 1024\n",
    "#if 0\n",
    "#endif\n",
    "static_cast<float*>(",
    "struct { float x; } ",
    "auto f = [](float v) { return v; };",
    "const int n = n + 1;",
    "/*",
    "R\"(",
    "\\\n",
    "\xef\xbb\xbf",
    "blockIdx.x * blockDim.x + threadIdx.x",
    "<",
    ">",
    "extern __shared__ float s[];\n",
    "__shared__ float t[8];\n",
    "#define K(n, ...) __global__ void n##_k(float* a) { a[0] = 1; }\nK(x)\nK(y, K(z))\n",
    "c10::BFloat16",
    "at::acc_type<scalar_t, true>",
    "AT_DISPATCH_FLOATING_TYPES(",
    "using namespace at;\n",
};
// Clang takes a hundred times as long as all else.
constexpr std::uint64_t kParsedRounds = 32;

std::vector<std::string> corpus() {
  std::vector<std::string> texts;
  for (const auto& entry :
       std::filesystem::directory_iterator(REGRAPH_SOURCE_DIR "/tests/cli/styles")) {
    if (entry.path().extension() != ".cu") continue;
    std::ifstream file(entry.path());
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(fuzz::settings(argc, argv));
  const std::vector<std::string> sound = corpus();
  if (sound.size() < 30) rounds.fail("the corpus is not there");
  const auto front_end = source::default_front_end(test::cuda_root(), "sm_90");
  const KernelSignature signature = {"k",
                                     {{.name = "a", .type = ScalarType::f32, .is_pointer = true},
                                      {.name = "n", .type = ScalarType::i32}}};
  return rounds.run([&](fuzz::Random& random) {
    std::string damaged = sound[random() % sound.size()];
    fuzz::damage(damaged, random, kWords);
    source::ExtractionRequest request;
    request.file_name = "file.cu";
    if (random() % 2 == 0) request.undefined = {"half", "cube", "use", "scale", "Pair"};
    const auto code = source::extract_device_code(damaged, request);
    const auto again = source::extract_device_code(damaged, request);
    if (code.ok() != again.ok() || (code.ok() && code->text != again->text))
      rounds.fail("two answers to one question");
    if (!code.ok() && code.error().message.empty()) rounds.fail("an error without a word");
    (void)source::choose_launch(damaged, signature, {"float", "4"}, static_cast<int>(random() % 9));
    if (!code.ok() || !front_end.ok() || random() % kParsedRounds != 0) return;
    const auto parsed =
        source::parse_kernel(code->text, "file.cu", code->kernels.front(), *front_end);
    if (!parsed.ok()) return;
    const auto host = source::find_host_launch(damaged, parsed->signature);
    const auto inferred = infer::infer_manifest({}, parsed->signature, parsed->unit, host);
    if (!inferred.manifest.launch && inferred.unknown.empty())
      rounds.fail("no launch, and no word");
  });
}
