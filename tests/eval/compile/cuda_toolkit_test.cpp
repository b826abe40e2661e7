#include "base/files.h"
#include "eval/compile/compiler.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdlib.h>
#include <string>

namespace regraph::cuda_toolkit_test {
namespace {

// Sets an environment variable for the time of a test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = ::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() {
    if (old_) {
      ::setenv(name_, old_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

void make_toolkit(const std::filesystem::path& root, const std::string& library) {
  for (const char* header : {"cuda_runtime.h", "nvrtc.h"}) {
    ASSERT_TRUE(write_file(root / "include" / header, "").ok());
  }
  ASSERT_TRUE(write_file(root / library, "").ok());
}

TEST(CudaToolkit, FindsTheRealOne) {
  const auto toolkit = find_cuda_toolkit();
  ASSERT_TRUE(toolkit.ok()) << toolkit.error().message;
  EXPECT_TRUE(std::filesystem::exists(toolkit->include / "cuda_fp16.h"));
  EXPECT_TRUE(std::filesystem::exists(toolkit->nvrtc_library));
}

TEST(CudaToolkit, LooksInTheDocumentedOrder) {
  const auto directory = TemporaryDirectory::create("regraph-toolkit-");
  ASSERT_TRUE(directory.ok());
  const std::filesystem::path home = directory->path() / "home";
  const std::filesystem::path path = directory->path() / "path";
  const std::filesystem::path wheels = directory->path() / "wheels";
  make_toolkit(home, "lib64/libnvrtc.so.13");
  make_toolkit(path, "targets/x86_64-linux/lib/libnvrtc.so.12");
  make_toolkit(wheels, "lib/libnvrtc.so.13");
  const ScopedVariable w("REGRAPH_CUDA_WHEELS", wheels.string());
  const ScopedVariable hide("REGRAPH_HIDE_CUDA", "0");
  {
    const ScopedVariable h("CUDA_HOME", home.string());
    const ScopedVariable p("CUDA_PATH", path.string());
    EXPECT_EQ(find_cuda_toolkit()->how_found, "CUDA_HOME");
    EXPECT_EQ(find_cuda_toolkit()->nvrtc_library.filename(), "libnvrtc.so.13");
    const ScopedVariable broken("CUDA_HOME", "/nonexistent");
    EXPECT_EQ(find_cuda_toolkit()->how_found, "CUDA_PATH");
    const ScopedVariable hidden("REGRAPH_HIDE_CUDA", "1");
    const auto found = find_cuda_toolkit();
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->how_found, "project wheels");
    const ScopedVariable none("REGRAPH_CUDA_WHEELS", "/nonexistent");
    const auto missing = find_cuda_toolkit();
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().code, ErrorCode::not_found);
    EXPECT_NE(missing.error().message.find("tools/setup"), std::string::npos);
    EXPECT_NE(missing.error().message.find("/nonexistent"), std::string::npos);
  }
}

TEST(CudaToolkit, FollowsTheNvccOnPath) {
  const auto directory = TemporaryDirectory::create("regraph-toolkit-");
  ASSERT_TRUE(directory.ok());
  const std::filesystem::path root = std::filesystem::canonical(directory->path()) / "cuda";
  make_toolkit(root, "lib64/libnvrtc.so.13");
  ASSERT_TRUE(write_file(root / "bin" / "nvcc", "#!/bin/sh\n").ok());
  std::filesystem::permissions(root / "bin" / "nvcc", std::filesystem::perms::owner_all);
  const ScopedVariable h("CUDA_HOME", "");
  const ScopedVariable p("CUDA_PATH", "");
  const ScopedVariable hide("REGRAPH_HIDE_CUDA", "0");
  const ScopedVariable path("PATH", "/nonexistent:" + (root / "bin").string());
  const auto found = find_cuda_toolkit();
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->how_found, "PATH");
  EXPECT_EQ(found->root, root);
}

TEST(CudaToolkit, AnOldOneIsNamedAndPassedOver) {
  const auto directory = TemporaryDirectory::create("regraph-toolkit-");
  ASSERT_TRUE(directory.ok());
  make_toolkit(directory->path(), "lib64/libnvrtc.so.11");
  const ScopedVariable hide("REGRAPH_HIDE_CUDA", "1");
  const ScopedVariable wheels("REGRAPH_CUDA_WHEELS", directory->path().string());
  const auto found = find_cuda_toolkit();
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find("too old"), std::string::npos) << found.error().message;
}

}  // namespace
}  // namespace regraph::cuda_toolkit_test
