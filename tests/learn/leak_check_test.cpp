#include "learn/leak_check.h"

#include "learn/checked_corpus.h"
#include "learn/leak_report.h"
#include "learn/source_shingles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace regraph::learn::leak_check_test {
namespace {

using examples::CheckedCorpus;
using Families = std::vector<std::string>;

std::vector<Families> leaking(const LeakCheck& check) {
  std::vector<Families> result;
  for (const Leak& leak : check.leaks)
    result.push_back({leak.one, leak.other});
  return result;
}

// Statements that no other `kind` has.
std::string statements(const std::string& kind, std::size_t count) {
  std::string text;
  for (std::size_t at = 0; at < count; ++at)
    text += kind + std::to_string(at) + "(1);\n";
  return text;
}
std::string kernel_of(const std::string& body) {
  return "__global__ void f() {\n" + body + "}\n";
}

TEST(LeakCheck, CopiesUnderOtherNamesAreFound) {
  CheckedCorpus corpus;
  corpus.add("map", "a", examples::kScaling);
  corpus.add("rows", "a", examples::kRowSums);
  corpus.add("stretch", "b", examples::kScalingRenamed);
  corpus.add("turn", "a", examples::kTransposition);
  const LeakCheck check = corpus.check();
  ASSERT_EQ(leaking(check), (std::vector<Families>{{"map", "stretch"}}));
  const Leak& leak = check.leaks[0];
  EXPECT_EQ(leak.pairs, 1U);
  EXPECT_TRUE(leak.kinship_mends);
  ASSERT_EQ(leak.chain.size(), 1U);
  EXPECT_EQ(leak.chain[0].one.name, "map/a");
  EXPECT_EQ(leak.chain[0].other.name, "stretch/b");
  EXPECT_EQ(leak.chain[0].similarity, 1.0);
  EXPECT_FALSE(leak.chain[0].shared_state);
  EXPECT_EQ(check.joined, (std::vector<Families>{{"map", "stretch"}}));
  ASSERT_TRUE(check.nearest);
  EXPECT_EQ(check.nearest->similarity, 1.0);
}

TEST(LeakCheck, DifferentKernelsAreNone) {
  CheckedCorpus corpus;
  corpus.add("map", "a", examples::kScaling);
  corpus.add("rows", "a", examples::kRowSums);
  corpus.add("turn", "a", examples::kTransposition);
  const LeakCheck check = corpus.check();
  EXPECT_TRUE(check.leaks.empty());
  EXPECT_TRUE(check.joined.empty());
  EXPECT_TRUE(check.repetitions.empty());
  ASSERT_TRUE(check.nearest);
  EXPECT_EQ(check.nearest->one.family, "map");
  EXPECT_EQ(check.nearest->other.family, "rows");
  EXPECT_EQ(check.nearest->similarity,
            similarity(source_shingles(examples::kScaling), source_shingles(examples::kRowSums)));
}

TEST(LeakCheck, SixTenthsIsALeakAndLessIsNone) {
  const auto check_of = [](const std::string& one, const std::string& other) {
    CheckedCorpus corpus;
    corpus.add("one", "a", kernel_of(one));
    corpus.add("other", "a", kernel_of(other));
    return corpus.check();
  };
  // More and less in common, more and more that only one of them has.
  double least_leak = 1.0;
  double most_without = 0.0;
  std::string words;
  for (const char* word : {"int", "long", "short", "char", "bool"}) {
    words += std::string(word) + " ";
    for (std::size_t own = 0; own <= 80; ++own) {
      const std::string both = words + statements("both", 9);
      const LeakCheck check =
          check_of(both + statements("first", own % 9), both + statements("second", own / 9));
      ASSERT_TRUE(check.nearest);
      const double similarity = check.nearest->similarity;
      if (check.leaks.empty()) {
        most_without = std::max(most_without, similarity);
      } else {
        least_leak = std::min(least_leak, similarity);
      }
    }
  }
  EXPECT_EQ(least_leak, 0.6);
  EXPECT_LT(most_without, 0.6);
  EXPECT_GT(most_without, 0.55);
}

TEST(LeakCheck, ASharedStateJoins) {
  CheckedCorpus corpus;
  corpus.add("map", "a", examples::kScaling,
             {{"m0", {}}, {"both", {"tile", "unroll", "pad"}}, {"both", {"tile", "pad"}}});
  corpus.add("rows", "a", examples::kRowSums,
             {{"r0", {}}, {"far", {"swap", "tile"}}, {"both", {"swap"}}});
  corpus.add("turn", "a", examples::kTransposition, {{"t0", {}}, {"far", {"pad", "pad", "pad"}}});
  corpus.kernels[2].kernel.family = "rows";  // two pairs of map and rows at most
  corpus.kernels[2].kernel.name = "rows/b";
  const LeakCheck check = corpus.check();
  ASSERT_EQ(leaking(check), (std::vector<Families>{{"map", "rows"}}));
  EXPECT_EQ(check.leaks[0].pairs, 1U);
  const KernelPair& pair = check.leaks[0].chain.at(0);
  EXPECT_EQ(pair.other.name, "rows/a");
  ASSERT_TRUE(pair.shared_state);
  EXPECT_EQ(pair.shared_state->first, (std::vector<std::string>{"tile", "pad"}));
  EXPECT_EQ(pair.shared_state->second, std::vector<std::string>{"swap"});
  // A state of two styles is no repetition, only the same original is.
  EXPECT_TRUE(check.repetitions.empty());
}

TEST(LeakCheck, OfSeveralPairsTheNearestIsTold) {
  CheckedCorpus corpus;
  corpus.add("map", "a", examples::kScaling);
  corpus.add("map", "b", examples::kRowSums, {{"shared", {"tile"}}});
  corpus.add("other", "a", examples::kScalingRenamed);
  corpus.add("other", "b", examples::kTransposition, {{"shared", {}}});
  const LeakCheck check = corpus.check();
  ASSERT_EQ(check.leaks.size(), 1U);
  EXPECT_EQ(check.leaks[0].pairs, 2U);
  ASSERT_EQ(check.leaks[0].chain.size(), 1U);
  EXPECT_EQ(check.leaks[0].chain[0].one.name, "map/b");
  EXPECT_NE(leak_text(check).find("and 1 more pair\n"), std::string::npos) << leak_text(check);
}

TEST(LeakCheck, FamiliesAreJoinedOverOthers) {
  CheckedCorpus corpus;
  corpus.add("a", "k", examples::kScaling, {{"ab", {}}});
  corpus.add("b", "k", examples::kRowSums, {{"ab", {}}, {"bc", {}}});
  corpus.add("c", "k", examples::kTransposition, {{"bc", {}}});
  corpus.add("d", "k", kernel_of(statements("both", 4)));
  const LeakCheck check = corpus.check();
  EXPECT_EQ(leaking(check), (std::vector<Families>{{"a", "b"}, {"a", "c"}, {"b", "c"}}));
  EXPECT_EQ(check.joined, (std::vector<Families>{{"a", "b", "c"}}));
  const Leak& over = check.leaks[1];
  EXPECT_EQ(over.pairs, 0U);
  ASSERT_EQ(over.chain.size(), 2U);
  EXPECT_EQ(over.chain[0].other.name, "b/k");
  EXPECT_EQ(over.chain[1].other.name, "c/k");
  EXPECT_NE(leak_text(check).find("leak: a and c, over others\n"), std::string::npos);

  // Two kernels of the family between that have nothing to do with each other join nothing.
  corpus.kernels[1].states = {{"ab", {}}};
  corpus.add("b", "l", kernel_of(statements("first", 4)), {{"bc", {}}});
  const LeakCheck apart = corpus.check();
  EXPECT_EQ(leaking(apart), (std::vector<Families>{{"a", "b"}, {"b", "c"}}));
  EXPECT_EQ(apart.joined, (std::vector<Families>{{"a", "b"}, {"b", "c"}}));
}

TEST(LeakCheck, KinMayBeJoined) {
  CheckedCorpus corpus;
  corpus.add("a", "k", examples::kScaling);
  corpus.add("b", "k", examples::kScalingRenamed);
  corpus.add("c", "k", examples::kScaling);
  corpus.add("d", "k", examples::kRowSums);
  corpus.corpus.kin = {{"a", "b"}};
  EXPECT_EQ(leaking(corpus.check()), (std::vector<Families>{{"a", "c"}, {"b", "c"}}));
  corpus.corpus.kin = {{"a", "b"}, {"c", "b"}};
  const LeakCheck check = corpus.check();
  EXPECT_TRUE(check.leaks.empty());
  EXPECT_EQ(check.joined, (std::vector<Families>{{"a", "b", "c"}}));
  ASSERT_TRUE(check.nearest);  // kin aside
  EXPECT_EQ(check.nearest->other.family, "d");
  EXPECT_LT(check.nearest->similarity, kAlike);
}

TEST(LeakCheck, NothingOpenMayBeJoinedWithASealedFamily) {
  CheckedCorpus corpus;
  corpus.add("open", "k", examples::kScaling);
  corpus.add("secret", "k", examples::kScalingRenamed).kernel.sealed = true;
  corpus.corpus.kin = {{"open", "secret"}};
  const LeakCheck check = corpus.check();
  ASSERT_EQ(leaking(check), (std::vector<Families>{{"open", "secret"}}));
  EXPECT_FALSE(check.leaks[0].kinship_mends);
  ASSERT_EQ(check.kin_of_sealed.size(), 1U);
  EXPECT_EQ(check.kin_of_sealed[0], (std::pair<std::string, std::string>{"open", "secret"}));
  const std::string text = leak_text(check);
  EXPECT_NE(text.find("leak: open and secret (sealed)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("make the kernels differ: to declare them kin"), std::string::npos) << text;
  EXPECT_NE(text.find("warning: open is trained on and is kin of secret, which is sealed\n"),
            std::string::npos)
      << text;

  // Sealed kin are tested together.
  corpus.kernels[0].kernel.sealed = true;
  EXPECT_TRUE(corpus.check().leaks.empty());
  EXPECT_TRUE(corpus.check().kin_of_sealed.empty());
  corpus.corpus.kin = {};
  EXPECT_EQ(corpus.check().leaks.size(), 1U);
}

TEST(LeakCheck, OpenFamiliesAreJoinedOverASealedOne) {
  CheckedCorpus corpus;
  corpus.add("a", "k", examples::kScaling, {{"one", {}}});
  corpus.add("b", "k", examples::kRowSums, {{"two", {}}});
  corpus.add("secret", "k", examples::kTransposition, {{"one", {"tile"}}, {"two", {"pad"}}})
      .kernel.sealed = true;
  const LeakCheck check = corpus.check();
  EXPECT_EQ(leaking(check), (std::vector<Families>{{"a", "b"}, {"a", "secret"}, {"b", "secret"}}));
  EXPECT_EQ(check.joined, (std::vector<Families>{{"a", "b", "secret"}}));
}

TEST(LeakCheck, ControlsAreTrainedOnWhateverTheirKin) {
  CheckedCorpus corpus;
  corpus.add("a", "k", examples::kScaling);
  corpus.add("control", "k", examples::kScaling).kernel.control = true;
  corpus.corpus.kin = {{"a", "control"}};
  const LeakCheck check = corpus.check();
  ASSERT_EQ(check.leaks.size(), 1U);
  EXPECT_FALSE(check.leaks[0].kinship_mends);
  EXPECT_NE(leak_text(check).find("leak: a and control (control)\n"), std::string::npos);
}

TEST(LeakCheck, StylesThatAddNothingAreNamed) {
  CheckedCorpus corpus;
  corpus.add("map", "a", examples::kScaling, {{"s", {}}});
  corpus.add("map", "b", examples::kScalingRenamed);
  corpus.add("map", "c", examples::kRowSums, {{"s", {}}});
  corpus.add("map", "d", examples::kTransposition, {{"s", {"tile"}}});
  const LeakCheck check = corpus.check();
  EXPECT_TRUE(check.leaks.empty());
  EXPECT_FALSE(check.nearest);
  ASSERT_EQ(check.repetitions.size(), 2U);
  EXPECT_EQ(check.repetitions[0].other.name, "map/b");
  EXPECT_EQ(check.repetitions[1].other.name, "map/c");
  EXPECT_EQ(leak_text(check).find("no leak\nstyles of which one adds nothing:\n"), 0U)
      << leak_text(check);
}

TEST(LeakCheck, SaysWhyAndWhatToDo) {
  CheckedCorpus corpus;
  corpus.add("map", "a", examples::kScaling, {{"m", {}}});
  corpus.add("rows", "a", examples::kScalingRenamed, {{"m", {"swap", "tile"}}});
  EXPECT_EQ(leak_text(corpus.check()),
            "leak: map and rows\n"
            "  corpus/map/a.cu\n"
            "  corpus/rows/a.cu\n"
            "    the same kernel and launch: of the first the original, of the second after swap, "
            "tile; sources alike to 1.00\n"
            "  declare the families kin in corpus.yaml, or make the kernels differ\n"
            "\n"
            "1 leak\n"
            "nearest families that must differ, 1.00 alike (0.60 is a leak):\n"
            "  corpus/map/a.cu\n"
            "  corpus/rows/a.cu\n");
  EXPECT_EQ(leak_text(CheckedCorpus().check()), "no leak\n");
}

TEST(LeakCheck, TheShippedCorpusHasNone) {
  const CheckedCorpus shipped = examples::shipped_corpus();
  ASSERT_GT(shipped.kernels.size(), 100U);
  const LeakCheck check = shipped.check();
  EXPECT_TRUE(check.leaks.empty()) << leak_text(check);
  EXPECT_TRUE(check.kin_of_sealed.empty());
  // A copy of one of its kernels would be found.
  CheckedCorpus with_copy = shipped;
  with_copy.kernels[0].kernel.family = "copy";
  with_copy.kernels[0].source = shipped.kernels.back().source;
  EXPECT_FALSE(with_copy.check().leaks.empty());
}

}  // namespace
}  // namespace regraph::learn::leak_check_test
