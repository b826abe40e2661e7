#include "source/local_includes.h"

#include "base/files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <sys/stat.h>

namespace regraph::source::local_includes_test {
namespace {

class LocalIncludes : public ::testing::Test {
 protected:
  LocalIncludes() : directory_(*TemporaryDirectory::create("regraph-includes-")) {}

  void file(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file(directory_.path() / name, text).ok());
  }
  [[nodiscard]] Result<std::string> inlined(
      const std::string& text, const std::vector<std::filesystem::path>& folders = {}) const {
    return inline_local_includes(text, directory_.path() / "own" / "kernel.cu", folders);
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return directory_.path() / name;
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(LocalIncludes, PutsHeadersInOnce) {
  file("own/a.h", "#pragma once\n#include \"b.h\"\nint a;\n");
  file("own/b.h", "int b;\n");
  const auto text = inlined("// top\n#include \"a.h\"\n#include \"b.h\"\nint c;\n");
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(*text,
            "// top\n#line 1 \"a.h\"\n#pragma once\n#line 1 \"b.h\"\nint b;\n\n#line 3 \"a.h\"\n"
            "int a;\n\n#line 3 \"kernel.cu\"\n\nint c;\n");
}

TEST_F(LocalIncludes, LeavesByteOrderMarksOut) {
  file("own/a.h", "\xEF\xBB\xBFint a;\n");
  const auto text = inlined("\xEF\xBB\xBF#include \"a.h\"\n");
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(text->find('\xEF'), std::string::npos);
}

TEST_F(LocalIncludes, LeavesOthersAlone) {
  file("own/kernel.cu", "");
  const std::string text = "#include <cmath>\n#include \"missing.h\"\n";
  const auto result = inlined(text);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(*result, text);
}

TEST_F(LocalIncludes, AngleBracketsAreLookedForWhereTheBuildDoes) {
  file("own/shared.h", "int own;\n");
  file("common/shared.h", "int shared;\n");
  const std::string text = "#include <cstdio>\n#include <shared.h>\n";
  const auto plain = inlined(text);
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  EXPECT_EQ(*plain, text);
  const std::vector<std::filesystem::path> named = {path("common")};
  const auto found = inline_local_includes(text, path("own/kernel.cu"), {}, named);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(*found,
            "#include <cstdio>\n#line 1 \"shared.h\"\nint shared;\n\n#line 3 \"kernel.cu\"\n");
}

TEST_F(LocalIncludes, PytorchsHeadersStay) {
  file("own/kernel.cu", "");
  file("torch/include/torch/extension.h", "int host;\n");
  const std::string text = "#include <torch/extension.h>\n#include <c10/util/Half.h>\n";
  const std::vector<std::filesystem::path> named = {path("torch/include")};
  const auto result = inline_local_includes(text, path("own/kernel.cu"), named, named);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(*result, text);
}

TEST_F(LocalIncludes, StaysInItsFolders) {
  file("own/kernel.cu", "");
  file("secret.h", "a secret");
  for (const std::string& name :
       {std::string("../secret.h"), path("secret.h").string(), std::string("/etc/passwd")}) {
    const auto result = inlined("\n#include \"" + name + "\"\n");
    ASSERT_FALSE(result.ok()) << name;
    EXPECT_EQ(result.error().message.find("kernel.cu:2: #include \"" + name + "\""), 0u)
        << result.error().message;
    EXPECT_EQ(result.error().message.find("a secret"), std::string::npos);
  }
  EXPECT_TRUE(inlined("#include \"secret.h\"\n", {path("")}).ok());
}

TEST_F(LocalIncludes, ASymbolicLinkOutOfTheFolderIsRefused) {
  file("own/kernel.cu", "");
  file("secret.h", "a secret");
  std::filesystem::create_symlink("../secret.h", path("own/link.h"));
  EXPECT_FALSE(inlined("#include \"link.h\"\n").ok());
}

TEST_F(LocalIncludes, DoesNotWaitForAFifo) {
  file("own/kernel.cu", "");
  ASSERT_EQ(mkfifo(path("own/fifo.h").c_str(), 0600), 0);
  const auto result = inlined("#include \"fifo.h\"\n");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("not a regular file"), std::string::npos);
}

TEST_F(LocalIncludes, HasLimits) {
  file("own/big.h", std::string(2 << 20, ' '));
  EXPECT_FALSE(inlined("#include \"big.h\"\n").ok());
}

}  // namespace
}  // namespace regraph::source::local_includes_test
