// Runs the program on input that it cannot use, and looks at what it says.
#pragma once

#include "cli/search_program.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace regraph::test {

inline constexpr int kUsage = 2;
inline constexpr int kUnusableKernel = 4;
inline constexpr int kNoDevice = 5;
inline constexpr int kLeak = 7;

inline constexpr const char* kScale =
    R"cuda(__global__ void scale(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i];
}
)cuda";
// Nothing bounds the index into 'in'.
inline constexpr const char* kIndirect =
    R"cuda(__global__ void scale(const float* in, const int* at, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[at[i] - 20];
}
)cuda";
inline constexpr const char* kManifest = R"yaml(sizes: {n: 100000}
args:
  in: {shape: [n]}
  out: {dir: out, shape: [n]}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 300}]
)yaml";

class BadInput : public SearchProgram {
 protected:
  // A kernel file with its manifest beside it.
  std::string kernel(const std::string& source, const std::string& manifest = kManifest) const {
    file("scale.regraph.yaml", manifest);
    return file("scale.cu", source);
  }

  ProgramRun expect(int exit_code, const std::vector<std::string>& parts,
                    std::vector<std::string> arguments) const {
    ProgramRun done = run(std::move(arguments));
    EXPECT_EQ(done.exit_code, exit_code) << done.error;
    EXPECT_EQ(done.output, "");
    for (const std::string& part : parts) {
      EXPECT_TRUE(done.complains_of(part)) << "wanted: " << part << "\ngot: " << done.error;
    }
    EXPECT_EQ(done.error.rfind("internal error"), std::string::npos) << done.error;
    // Nothing is left behind by a run that did not start.
    EXPECT_FALSE(std::filesystem::exists(path("regraph-runs")));
    return done;
  }

  // As expect, for a problem in the kernel's file or its manifest.
  ProgramRun expect_for(int exit_code, const std::vector<std::string>& parts,
                        const std::string& source, const std::string& manifest = kManifest) const {
    return expect(exit_code, parts, {kernel(source, manifest), "--device", "h200"});
  }
};

}  // namespace regraph::test
