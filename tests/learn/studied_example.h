// A kernel in a folder of its own, of which is known what pays: its neighbours in x walk down
// columns, so coalesce_swap does, and restrict_ldg does not.
#pragma once

#include "base/files.h"
#include "learn/columns_kernel.h"
#include "learn/kernel_variation.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::learn {

class StudiedExample : public ::testing::Test {
 protected:
  StudiedExample() : directory_(*TemporaryDirectory::create("regraph-learn-")) {
    installation.cache_directory = directory_.path() / "cache";
    write("columns.cu", kColumns);
    write("columns.regraph.yaml", kColumnsManifest);
  }

  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file(directory_.path() / name, text));
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return directory_.path() / name;
  }
  [[nodiscard]] StudyPlace place(const std::string& kernel = "columns.cu") const {
    return {path(kernel), "h200", "model", path("work"), false};
  }

  const Cancellation never;
  Installation installation = Installation::of_program(REGRAPH_PROGRAMS);

 private:
  TemporaryDirectory directory_;
};

}  // namespace regraph::learn
