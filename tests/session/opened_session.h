// A session of a kernel written to a folder of its own, judged by the model.
#pragma once

#include "base/files.h"
#include "session/session.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace regraph::test {

// A whole row by each thread: there is something to gain.
inline constexpr const char* kRowSums = R"(// kernel: row_sums
__global__ void row_sums(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < columns; ++i) sum += in[row * columns + i];
  out[row] = sum;
}
)";

inline constexpr const char* kRowSumsManifest = R"yaml(sizes: {rows: 4096, columns: 1024}
args:
  in: {dir: in, shape: [rows, columns]}
  out: {dir: out, shape: [rows]}
launch: {block: 128, grid: "cdiv(rows, bx)"
}
tests:
  - {rows: 70, columns: 33}
  - {rows: 128, columns: 64}
assume: {reassociate: true}
)yaml";

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() : directory_(*TemporaryDirectory::create("regraph-session-")) {
    installation.cache_directory = cache();
  }

  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file(directory_.path() / name, text).ok());
  }
  void write_row_sums() const {
    write("k.cu", kRowSums);
    write("k.regraph.yaml", kRowSumsManifest);
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (directory_.path() / name).string();
  }
  [[nodiscard]] SessionOptions options() const {
    SessionOptions options;
    options.problem.kernel_file = path("k.cu");
    options.device = "h200";
    options.evaluator = "model";
    return options;
  }
  [[nodiscard]] Result<std::unique_ptr<Session>, SessionError> open() const {
    return Session::open(options(), installation, never);
  }

  const Cancellation never;
  Installation installation = Installation::of_program(REGRAPH_PROGRAMS);

 private:
  // Compiled kernels are shared by all tests of the program.
  static std::filesystem::path cache() {
    static const TemporaryDirectory kCache = *TemporaryDirectory::create("regraph-session-cache-");
    return kCache.path();
  }

  TemporaryDirectory directory_;
};

}  // namespace regraph::test
