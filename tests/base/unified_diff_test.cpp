#include "base/unified_diff.h"

#include "base/child_process.h"
#include "base/edit_script.h"
#include "base/files.h"
#include "base/random.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace regraph::unified_diff_test {
namespace {

// The original text after GNU patch applied the diff.
std::string patched(const std::string& before, const std::string& diff) {
  const auto directory = TemporaryDirectory::create("regraph-diff-");
  if (!directory.ok()) {
    ADD_FAILURE() << directory.error().message;
    return {};
  }
  const std::filesystem::path file = directory->path() / "text";
  EXPECT_TRUE(write_file(file, before).ok());
  ChildRequest request;
  request.program = "/usr/bin/patch";
  request.arguments = {"--quiet",     "--binary", "--fuzz=0", "--no-backup-if-mismatch",
                       file.string(), "-"};
  request.environment = {"PATH=/usr/bin", "POSIXLY_CORRECT=1"};  // keep files that become empty
  request.input = diff;
  const Cancellation never;
  const auto outcome = run_child(request, never);
  if (!outcome.ok() || !outcome->succeeded()) {
    ADD_FAILURE() << (outcome.ok() ? outcome->output + outcome->error : outcome.error().message)
                  << "\n"
                  << diff;
    return {};
  }
  const auto after = read_file(file, 1 << 20);
  EXPECT_TRUE(after.ok());
  return after.ok() ? *after : "";
}

bool have_patch() {
  return std::filesystem::exists("/usr/bin/patch");
}

TEST(UnifiedDiff, EqualTextsGiveNothing) {
  EXPECT_EQ(unified_diff("", "", "a", "b"), "");
  EXPECT_EQ(unified_diff("x\ny", "x\ny", "a", "b"), "");
}

TEST(UnifiedDiff, PrintsAsDiffDoes) {
  EXPECT_EQ(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "a/k.cu",
                         "b/k.cu"),
            "--- a/k.cu\n+++ b/k.cu\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, NamesEmptyRangesByTheLineBefore) {
  EXPECT_EQ(unified_diff("", "x\n", "a", "b"), "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n");
  EXPECT_EQ(unified_diff("x\n", "", "a", "b"), "--- a\n+++ b\n@@ -1,1 +0,0 @@\n-x\n");
}

TEST(UnifiedDiff, ShowsAMissingLastLineBreak) {
  EXPECT_EQ(unified_diff("x", "x\n", "a", "b"),
            "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+x\n");
  EXPECT_EQ(unified_diff("x\ny", "y", "a", "b"),
            "--- a\n+++ b\n@@ -1,2 +1,1 @@\n-x\n y\n\\ No newline at end of file\n");
}

TEST(UnifiedDiff, KeepsDistantChangesApartAndJoinsNearOnes) {
  std::string before;
  for (int i = 0; i < 40; ++i)
    before += std::to_string(i) + "\n";
  const auto with = [&](std::vector<int> changed) {
    std::string after;
    for (int i = 0; i < 40; ++i) {
      const bool hit = std::find(changed.begin(), changed.end(), i) != changed.end();
      after += (hit ? "changed" : std::to_string(i)) + "\n";
    }
    const std::string diff = unified_diff(before, after, "a", "b");
    std::size_t hunks = 0;
    for (std::size_t at = diff.find("\n@@ "); at != std::string::npos;
         at = diff.find("\n@@ ", at + 1)) {
      ++hunks;
    }
    return hunks;
  };
  EXPECT_EQ(with({10, 17}), 1u);  // six unchanged lines between
  EXPECT_EQ(with({10, 18}), 2u);
}

// Random edits of random texts over few distinct lines, where ambiguity is greatest.
TEST(UnifiedDiff, PatchTurnsTheOldTextIntoTheNew) {
  if (!have_patch()) GTEST_SKIP() << "no patch program";
  const auto text = [](std::uint64_t seed) {
    std::string result;
    const std::uint64_t lines = random_bits(seed, 0) % 30;
    for (std::uint64_t i = 1; i <= lines; ++i) {
      static const char* const kLines[] = {"a", "b", "", " x", "-y", "+z", "\\ q", "c\r"};
      result += kLines[random_bits(seed, i) % std::size(kLines)];
      if (i < lines || random_bits(seed, 99) % 3 != 0) result += '\n';
    }
    return result;
  };
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const std::string before = text(2 * seed);
    const std::string after = text(2 * seed + 1);
    if (before == after) continue;
    EXPECT_EQ(patched(before, unified_diff(before, after, "text", "text")), after) << seed;
  }
}

TEST(EditScript, IsMinimalAndRebuildsTheNewText) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    static const std::string_view kLines[] = {"a", "b", "c"};
    std::vector<std::string_view> before(random_bits(seed, 1) % 12);
    std::vector<std::string_view> after(random_bits(seed, 2) % 12);
    for (std::size_t i = 0; i < before.size(); ++i)
      before[i] = kLines[random_bits(seed, 3, i) % 3];
    for (std::size_t i = 0; i < after.size(); ++i)
      after[i] = kLines[random_bits(seed, 4, i) % 3];

    // Longest common subsequence, the slow way.
    std::vector<std::vector<std::size_t>> common(before.size() + 1,
                                                 std::vector<std::size_t>(after.size() + 1, 0));
    for (std::size_t i = before.size(); i-- > 0;) {
      for (std::size_t j = after.size(); j-- > 0;) {
        common[i][j] = before[i] == after[j] ? common[i + 1][j + 1] + 1
                                             : std::max(common[i + 1][j], common[i][j + 1]);
      }
    }
    std::vector<std::string_view> rebuilt;
    std::size_t old_line = 0;
    std::size_t kept = 0;
    for (const Edit& edit : edit_script(before, after)) {
      if (edit.kind == Edit::Kind::insert) {
        EXPECT_EQ(edit.line, rebuilt.size());
        rebuilt.push_back(after.at(edit.line));
        continue;
      }
      EXPECT_EQ(edit.line, old_line++);
      if (edit.kind == Edit::Kind::remove) continue;
      ++kept;
      rebuilt.push_back(before.at(edit.line));
    }
    EXPECT_EQ(old_line, before.size());
    EXPECT_EQ(rebuilt, after) << seed;
    EXPECT_EQ(kept, common[0][0]) << seed;
  }
}

TEST(EditScript, GivesUpOnTextsWithNothingInCommon) {
  std::vector<std::string> storage;
  for (int i = 0; i < 6000; ++i)
    storage.push_back("line " + std::to_string(i));
  std::vector<std::string_view> before = {"same"};
  std::vector<std::string_view> after = {"same"};
  for (std::size_t i = 0; i < 3000; ++i) {
    before.push_back(storage[i]);
    after.push_back(storage[i + 3000]);
  }
  const std::vector<Edit> script = edit_script(before, after);
  ASSERT_EQ(script.size(), 6001u);
  EXPECT_EQ(script.front().kind, Edit::Kind::keep);
  EXPECT_EQ(script[1].kind, Edit::Kind::remove);
  EXPECT_EQ(script.back().kind, Edit::Kind::insert);
}

}  // namespace
}  // namespace regraph::unified_diff_test
