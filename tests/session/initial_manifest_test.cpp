// What is proposed for a kernel is a manifest that the kernel can be opened with.
#include "session/initial_manifest.h"

#include "session/opened_problem.h"
#include "session/opened_session.h"

namespace regraph::initial_manifest_test {
namespace {

class InitialManifestTest : public test::SessionTest {
 protected:
  // Proposes a manifest for `kernel`, opens again with nothing else, and returns what was proposed.
  std::string proposed(const std::string& kernel) const {
    SessionOptions first = options();
    first.problem.kernel = kernel;
    const auto session = Session::open(first, installation, never);
    EXPECT_TRUE(session) << session.error().message;
    if (!session) return "";
    const std::string manifest = initial_manifest((*session)->opened());
    write("k.regraph.yaml", manifest);
    const auto again = open();
    EXPECT_TRUE(again) << again.error().message << '\n' << manifest;
    return manifest;
  }
};

TEST_F(InitialManifestTest, NamesATemplatesInstance) {
  write("k.cu",
        "template <bool R>\n"
        "__global__ void k(const float* in, float* out, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) out[i] = R ? fmaxf(in[i], 0.0f) : in[i];\n}\n"
        "void run(const float* in, float* out, int n, bool r) {\n"
        "  if (r) k<true><<<(n + 255) / 256, 256>>>(in, out, n);\n"
        "  else k<false><<<(n + 255) / 256, 256>>>(in, out, n);\n}\n");
  EXPECT_NE(proposed("k<true>").find("kernel: \"k<true>\"\n"), std::string::npos);
  EXPECT_NE(proposed("k<false>").find("kernel: \"k<false>\"\n"), std::string::npos);
}

TEST_F(InitialManifestTest, AConstPointerMayLeadIntoTheOutput) {
  write("k.cu",
        "__global__ void k(const float* in, float* out, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) out[i] = in[i] + 1.0f;\n}\n"
        "void run(float* x, int n) { k<<<(n + 255) / 256, 256>>>(x, x, n); }\n");
  const std::string manifest = proposed("");
  EXPECT_NE(manifest.find("in: {dir: inout"), std::string::npos) << manifest;
  EXPECT_NE(manifest.find("overlap: [in, 0]"), std::string::npos) << manifest;
}

}  // namespace
}  // namespace regraph::initial_manifest_test
