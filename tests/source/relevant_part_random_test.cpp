// Random files of declarations that use each other, and what is shown of them.
#include "source/clang_frontend.h"
#include "source/code_items.h"
#include "source/relevant_part.h"
#include "support/cuda.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace regraph::source::relevant_part_random_test {
namespace {

using Random = std::mt19937;

struct RandomFile {
  struct Piece {
    std::string text;
    std::string name;
    std::string use;             // an expression of type int
    std::set<std::size_t> uses;  // other pieces, all that are reached
    bool is_kernel = false;
  };
  std::vector<Piece> pieces;
  std::string text;

  void add(Piece piece) {
    text += piece.text;
    pieces.push_back(std::move(piece));
  }
};

std::string comment(Random& random, const std::string& name) {
  switch (random() % 6) {
    case 0:
      return fmt::format("// About {}.\n", name);
    case 1:
      return fmt::format("\n/* A section with {{ and \"quotes\n   */\n\n");
    case 2:
      return fmt::format("// Copyright of {}\n", name);
    case 3:
      return "\n";
    default:
      return "";
  }
}

// Declarations of all kinds, each using some of those before it; every third is a kernel.
RandomFile random_file(Random& random) {
  RandomFile file;
  file.text = random() % 2 == 0 ? "// SPDX-License-Identifier: MIT\n\n" : "";
  const std::size_t count = 3 + random() % 20;
  for (std::size_t at = 0; at < count; ++at) {
    RandomFile::Piece piece;
    std::string sum = std::to_string(random() % 100);
    for (std::size_t use = random() % 4; use > 0 && at > 0; --use) {
      const std::size_t other = random() % at;
      if (file.pieces[other].is_kernel) continue;
      sum += " + " + file.pieces[other].use;
      piece.uses.insert(other);
      piece.uses.insert(file.pieces[other].uses.begin(), file.pieces[other].uses.end());
    }
    piece.name = fmt::format("name{}", at);
    piece.use = piece.name;
    const std::string& name = piece.name;
    const std::string front = comment(random, name);
    switch (random() % 10) {
      case 0:
        piece.text = fmt::format("#define {} ({})\n", name, sum);
        break;
      case 1:
        piece.text = fmt::format("#define {}(x) \\\n  ((x) + {})\n", name, sum);
        piece.use = name + "(1)";
        break;
      case 2:
        piece.text = fmt::format(
            "struct {} {{\n  int v;\n  __device__ int get() const {{ return v + "
            "{}; }}  // of it\n}};\n",
            name, sum);
        piece.use = name + "{1}.get()";
        break;
      case 3:
        piece.text = fmt::format(
            "template <typename T, int N = (3 > 2)>\n__device__ T {}(T x) {{\n  "
            "return x + N + {};\n}}\n",
            name, sum);
        piece.use = name + "(2)";
        break;
      case 4:
        piece.text =
            fmt::format("namespace n{} {{\n__device__ int {}() {{ return {}; }}\n}}  // n\n",
                        at % 3, name, sum);
        piece.use = fmt::format("n{}::{}()", at % 3, name);
        break;
      case 5:
        piece.text = fmt::format(
            "#ifdef FLAG{0}\n__device__ int {1}() {{ return 1; }}\n#else\n"
            "__device__ int {1}() {{ return {2}; }}\n#endif\n",
            at, name, sum);
        piece.use = name + "()";
        break;
      case 6:
        piece.text = fmt::format("__constant__ int {}[2] = {{1, 2}}; /* \"{{\" */\n", name);
        piece.use = name + "[0]";
        piece.uses.clear();
        break;
      case 7:
        piece.text = fmt::format(
            "__device__ int {0}(int x);\n__device__ int {0}(int x) {{ const char "
            "c = '}}'; return c + x + {1}; }}\n",
            name, sum);
        piece.use = name + "(3)";
        break;
      default:
        piece.is_kernel = true;
        piece.text = fmt::format("{}__global__ void {}(int* o) {{\n  // In it.\n  o[0] = {};\n}}\n",
                                 random() % 2 == 0 ? "extern \"C\" " : "", name, sum);
        break;
    }
    piece.text = front + piece.text;
    file.add(std::move(piece));
  }
  return file;
}

// Whether nothing is used in front of what declares it first.
bool is_in_order(std::string_view text) {
  const auto items = code_items(text);
  if (!items) return false;
  std::map<std::string_view, std::size_t> first;
  for (std::size_t at = 0; at < items->size(); ++at) {
    for (const std::string_view name : (*items)[at].names)
      first.emplace(name, at);
  }
  for (std::size_t at = 0; at < items->size(); ++at) {
    for (const std::string_view word : (*items)[at].words) {
      const auto found = first.find(word);
      if (found != first.end() && found->second > at) return false;
    }
  }
  return true;
}

std::size_t kernel_of(const RandomFile& file) {
  const auto found = std::ranges::find_if(file.pieces, &RandomFile::Piece::is_kernel);
  return static_cast<std::size_t>(found - file.pieces.begin());
}

TEST(RelevantPartOfRandomFiles, HoldsWhatIsReachedAndNothingElse) {
  Random random(11);
  int parts = 0;
  for (int round = 0; round < 600; ++round) {
    const RandomFile file = random_file(random);
    const std::size_t kernel = kernel_of(file);
    if (kernel == file.pieces.size()) continue;
    const std::vector<std::string> wanted = {file.pieces[kernel].name};
    const RelevantPart part = relevant_part(file.text, wanted);
    SCOPED_TRACE(file.text + "\n==== shown\n" + part.shown);
    const std::string tokens = " " + joined_tokens(part.shown);
    for (std::size_t at = 0; at < file.pieces.size(); ++at) {
      const bool is_wanted = at == kernel || file.pieces[kernel].uses.contains(at);
      ASSERT_EQ(tokens.find(" " + file.pieces[at].name + " ") != std::string::npos, is_wanted)
          << at;
    }
    ASSERT_EQ(part.shown.find("Copyright"), std::string::npos);
    ASSERT_TRUE(is_in_order(part.shown));
    ASSERT_EQ(put_back(part, part.shown), file.text);
    parts += part.is_whole() ? 0 : 1;
  }
  EXPECT_GT(parts, 300);
}

TEST(RelevantPartOfRandomFiles, IsPutBackInAnOrderThatCompiles) {
  Random random(12);
  int put = 0;
  for (int round = 0; round < 600; ++round) {
    const RandomFile file = random_file(random);
    const std::size_t kernel = kernel_of(file);
    if (kernel == file.pieces.size()) continue;
    const std::vector<std::string> wanted = {file.pieces[kernel].name};
    const RelevantPart part = relevant_part(file.text, wanted);
    std::string answer = "#define ANSWERED 5\n" + part.shown;
    const std::string body = "  // In it.\n";
    answer.replace(answer.find(body), body.size(), "  if (ANSWERED > 5) return;\n");
    const auto whole = put_back(part, answer);
    SCOPED_TRACE(file.text + "\n==== answer\n" + answer);
    ASSERT_TRUE(whole);
    ASSERT_TRUE(is_in_order(*whole)) << *whole;
    for (const RandomFile::Piece& piece : file.pieces)
      ASSERT_NE(whole->find(piece.name), std::string::npos) << piece.name;
    put += part.left_out.empty() ? 0 : 1;
    // An answer that takes a name which was left out is on its own.
    for (std::size_t at = 0; at < file.pieces.size(); ++at) {
      if (at == kernel || file.pieces[kernel].uses.contains(at)) continue;
      ASSERT_FALSE(put_back(part, answer + "__device__ int " + file.pieces[at].name + "(long);\n"));
    }
  }
  EXPECT_GT(put, 300);
}

TEST(RelevantPartOfRandomFiles, ClangTakesWhatIsShownAndWhatIsPutBack) {
  const auto configuration = default_front_end(test::cuda_root(), "sm_90");
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto complaint = [&](const std::string& text, const std::string& kernel) -> std::string {
    const auto parsed = parse_kernel(text, "kernel.cu", kernel, *configuration);
    if (!parsed) return parsed.error().message;
    return parsed->opaque_reason.find("error") == std::string::npos ? "" : parsed->opaque_reason;
  };
  EXPECT_NE(complaint("__global__ void k(int* o) { o[0] = missing(); }\n", "k"), "");
  Random random(13);
  for (int round = 0; round < 6; ++round) {
    const RandomFile file = random_file(random);
    const std::size_t kernel = kernel_of(file);
    if (kernel == file.pieces.size()) continue;
    const std::string& name = file.pieces[kernel].name;
    const std::vector<std::string> wanted = {name};
    const RelevantPart part = relevant_part(file.text, wanted);
    EXPECT_EQ(complaint(part.shown, name), "") << part.shown;
    const auto whole = put_back(part, "#define ANSWERED 5\n" + part.shown);
    ASSERT_TRUE(whole);
    EXPECT_EQ(complaint(*whole, name), "") << *whole;
  }
}

}  // namespace
}  // namespace regraph::source::relevant_part_random_test
