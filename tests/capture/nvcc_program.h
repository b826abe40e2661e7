// Builds CUDA programs for tests, where there is an nvcc.
#pragma once

#include "base/files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace regraph::capture::test {

class NvccTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(directory.ok()); }

  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return directory->path() / name;
  }
  // Builds path("main") of the source with those options; false where there is no nvcc.
  [[nodiscard]] bool build(const std::string& source, const std::string& options) const {
    if (std::string(REGRAPH_NVCC).empty()) return false;
    EXPECT_TRUE(write_file(path("main.cu"), source).ok());
    const std::string command = std::string(REGRAPH_NVCC) + " " + options + " -o '" +
                                path("main").string() + "' '" + path("main.cu").string() + "' > '" +
                                path("log").string() + "' 2>&1";
    const int status = std::system(command.c_str());
    const auto log = read_file(path("log"), 1 << 20);
    EXPECT_EQ(status, 0) << (log ? *log : "");
    return status == 0;
  }

  Result<TemporaryDirectory> directory = TemporaryDirectory::create("regraph-capture-");
};

}  // namespace regraph::capture::test
