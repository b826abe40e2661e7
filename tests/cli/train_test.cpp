// regraph-train from a folder of kernels to a graph, a policy and a search with both.
#include "cli/train_program.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace regraph::test::train_test {
namespace {

TEST_F(Train, AFolderOfKernelsBecomesAGraphThatSearchesUse) {
  const ProgramRun done = train_graph();
  ASSERT_EQ(done.exit_code, 0) << done.error;
  EXPECT_NE(done.output.find("2 kernels of 2 families"), std::string::npos) << done.output;
  EXPECT_NE(content("own.yaml").find("learned_from"), std::string::npos);
  const std::string graph = content("own.yaml");
  const std::string table = content("own.observations");
  EXPECT_NE(table.find("coalesce_swap"), std::string::npos);
  const std::string examples = content("own.examples");
  EXPECT_NE(examples.find("coalesce_swap"), std::string::npos) << examples;

  // What was searched is not searched again, and what is known is not counted twice.
  const ProgramRun again = train_graph();
  ASSERT_EQ(again.exit_code, 0) << again.error;
  EXPECT_EQ(content("own.yaml"), graph);
  EXPECT_EQ(content("own.observations"), table);
  EXPECT_EQ(content("own.examples"), examples);

  const ProgramRun found = run({"kernels/adding/columns.cu", "--device", "h200", "--graph",
                                "own.yaml", "--evaluations", "3", "--json"});
  EXPECT_EQ(found.exit_code, 0) << found.error;
}

TEST_F(Train, TablesMergeInAnyOrder) {
  const auto train_without = [&](const std::string& family, const std::string& table) {
    ASSERT_EQ(train_graph({"--without", family}).exit_code, 0);
    for (const char* ending : {".observations", ".examples"})
      std::filesystem::rename(path("own" + std::string(ending)), path(table + ending));
  };
  train_without("adding", "a");
  train_without("scaling", "b");
  const auto merged = [&](const std::string& output, const std::vector<std::string>& tables) {
    std::vector<std::string> arguments = {"graph", "--output", output + ".yaml"};
    for (const std::string& table : tables) {
      arguments.push_back(table + ".observations");
      arguments.push_back(table + ".examples");
    }
    EXPECT_EQ(train(arguments).exit_code, 0);
    return content(output + ".yaml") + content(output + ".observations") +
           content(output + ".examples");
  };
  const std::string one = merged("one", {"a", "b"});
  EXPECT_NE(one.find("regraph-examples/1\n{"), std::string::npos);
  EXPECT_EQ(merged("two", {"b", "a"}), one);
  EXPECT_EQ(merged("three", {"b", "a", "b"}), one);
}

TEST_F(Train, AGraphShowsLanguageModelsWhatPaidOnOtherKernels) {
  ASSERT_EQ(train_graph().exit_code, 0);
  // The graph is enough.
  std::filesystem::remove(path("own.examples"));
  std::filesystem::remove(path("own.observations"));
  std::string other = kColumns;
  for (const auto& [what, with] : {std::pair("add", "less"), std::pair("] + b", "] - b")})
    other.replace(other.find(what), std::string(what).size(), with);
  file("other.cu", other);
  file("other.regraph.yaml", kColumnsManifest);
  const auto prompts = [&](const std::string& kernel) {
    const ProgramRun done = run({kernel, "--device", "h200", "--graph", "own.yaml", "--expander",
                                 "llm", "--llm-model", "nobody", "--dry-run"});
    EXPECT_EQ(done.exit_code, 0) << done.error;
    return done.output;
  };
  const std::string shown = prompts("other.cu");
  EXPECT_NE(shown.find("after init, verified, "), std::string::npos) << shown;
  EXPECT_NE(shown.find("on kernel add"), std::string::npos) << shown;
  // Nobody is shown what was found on himself.
  const std::string own = prompts("kernels/adding/columns.cu");
  EXPECT_EQ(own.find("after init, verified, "), std::string::npos) << own;
}

TEST_F(Train, SealedKernelsAreNotShown) {
  file("kernels/corpus.yaml", "sealed: [adding]\n");
  ASSERT_EQ(train_graph({"--sealed"}).exit_code, 0);
  EXPECT_NE(content("own.observations").find("\tadding\t"), std::string::npos);
  EXPECT_EQ(content("own.examples").find("adding"), std::string::npos) << content("own.examples");
  EXPECT_EQ(content("own.yaml").find("family: \"adding\""), std::string::npos);
}

TEST_F(Train, AFinishedRunTeaches) {
  ASSERT_EQ(run({"kernels/adding/columns.cu", "--device", "h200", "--evaluations", "4", "--output",
                 "run"})
                .exit_code,
            0);
  const ProgramRun done = train({"graph", "run", "--output", "own.yaml"});
  EXPECT_EQ(done.exit_code, 0) << done.error;
  EXPECT_NE(done.output.find("1 kernels of 1 families"), std::string::npos) << done.output;
  const std::string table = content("own.observations");
  EXPECT_EQ(std::ranges::count(table, '\n'), 1 + 4) << table;
  EXPECT_NE(content("own.examples").find("coalesce_swap"), std::string::npos);
}

TEST_F(Train, WhatCannotBeLearnedFromIsLeftOut) {
  file("kernels/broken/syntax.cu", "__global__ void broken(float* x) { x[0] = ; }\n");
  file("kernels/broken/syntax.regraph.yaml", kManifest);
  file("kernels/unsafe/beyond.cu",
       "__global__ void scale(const float* in, float* out, int n) {\n"
       "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  out[i] = in[i + 1];\n}\n");
  file("kernels/unsafe/beyond.regraph.yaml", kManifest);
  const ProgramRun done = train_graph();
  EXPECT_EQ(done.exit_code, 0) << done.error;
  EXPECT_NE(done.output.find("2 kernels of 2 families"), std::string::npos) << done.output;
  const ProgramRun aloud = train({"graph", "kernels/unsafe", "--output", "none.yaml", "--work",
                                  "other", "--evaluations", "3"});
  EXPECT_EQ(aloud.exit_code, kUnusableKernel);
  EXPECT_TRUE(aloud.complains_of("left out")) << aloud.error;
  EXPECT_TRUE(aloud.complains_of("nothing to learn from")) << aloud.error;
  EXPECT_FALSE(std::filesystem::exists(path("none.yaml")));
}

TEST_F(Train, BadInputIsRefused) {
  const auto refuses = [&](std::vector<std::string> arguments, const std::string& part) {
    const ProgramRun done = train(std::move(arguments));
    EXPECT_EQ(done.exit_code, kUsage) << done.error;
    EXPECT_TRUE(done.complains_of(part)) << done.error;
  };
  refuses({"graph", "nowhere", "--output", "x.yaml"}, "nowhere");
  file("broken.observations", "regraph-observations/1\nnonsense\n");
  refuses({"graph", "broken.observations", "--output", "x.yaml"}, "broken.observations:2");
  file("broken.examples", "regraph-examples/1\nnonsense\n");
  refuses({"graph", "broken.examples", "--output", "x.yaml"}, "broken.examples:2");
  file("kernels/corpus.yaml", "sealed: 3\n");
  refuses({"graph", "kernels", "--output", "x.yaml"}, "corpus.yaml:1");
}

TEST_F(Train, PoliciesAreTrainedAndForeignOnesRefused) {
  ASSERT_EQ(train_graph().exit_code, 0);
  const ProgramRun made =
      train({"model", "kernels", "--work", "work", "--graph", "own.yaml", "--output",
             "own.regraph-policy", "--epochs", "3", "--networks", "1"});
  ASSERT_EQ(made.exit_code, 0) << made.error;
  const std::vector<std::string> search = {
      "kernels/adding/columns.cu", "--device", "h200", "--evaluations", "3", "--json"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), search.begin(), search.end());
    return run(more);
  };
  const ProgramRun found =
      with({"--graph", "own.yaml", "--policy", "own.regraph-policy", "--output", "run"});
  ASSERT_EQ(found.exit_code, 0) << found.error;
  EXPECT_NE(found.json().at("policy").get<std::string>().find("own.regraph-policy"),
            std::string::npos);
  // A run knows its policy where the file is gone.
  std::filesystem::remove(path("own.regraph-policy"));
  const ProgramRun resumed = run({"--resume", "run", "--json"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_EQ(resumed.json().at("policy"), found.json().at("policy"));
  // Searched again from its records, with the policy that they hold.
  const ProgramRun taught = train({"graph", "run", "--output", "again.yaml"});
  EXPECT_EQ(taught.exit_code, 0) << taught.error;

  file("foreign.regraph-policy", "nothing of the kind");
  const ProgramRun refused = with({"--policy", "foreign.regraph-policy"});
  EXPECT_EQ(refused.exit_code, kUsage);
  EXPECT_TRUE(refused.complains_of("foreign.regraph-policy: not a policy")) << refused.error;
  EXPECT_EQ(with({"--policy", "nowhere"}).exit_code, kUsage);
}

TEST_F(Train, ACopyInAnotherFamilyIsALeak) {
  EXPECT_EQ(train({"check", "kernels"}).exit_code, 0);
  // Renamed and laid out anew.
  file("kernels/copy/other.cu",
       "__global__ void twice(float const* from, float* __restrict__ to, const int count) {\n"
       "  const int at = blockIdx.x*blockDim.x + threadIdx.x; // one a thread\n"
       "  if (at < count) { to[at] = 3.0f*from[at]; }\n}\n");
  const ProgramRun leak = train({"check", "kernels"});
  EXPECT_EQ(leak.exit_code, kLeak);
  EXPECT_NE(leak.output.find("3 kernels of 3 families, 0 of them sealed; 0 kernels with searches "
                             "in regraph-training\n"),
            std::string::npos)
      << leak.output;
  EXPECT_NE(leak.output.find("leak: copy and scaling\n  kernels/copy/other.cu\n"
                             "  kernels/scaling/plain.cu\n    sources alike to 1.00\n"),
            std::string::npos)
      << leak.output;
  file("kernels/corpus.yaml", "kin: [[copy, scaling]]\n");
  EXPECT_EQ(train({"check", "kernels"}).exit_code, 0);

  const ProgramRun nowhere = train({"check", "nowhere"});
  EXPECT_EQ(nowhere.exit_code, kUsage);
  EXPECT_TRUE(nowhere.complains_of("nowhere: no such folder of kernels")) << nowhere.error;
  file("empty/README.md", "no kernel\n");
  const ProgramRun empty = train({"check", "empty"});
  EXPECT_EQ(empty.exit_code, kUsage);
  EXPECT_TRUE(empty.complains_of("there is no .cu file in this folder")) << empty.error;
}

TEST_F(Train, StatesThatSearchesFoundAreComparedToo) {
  ASSERT_EQ(train_graph().exit_code, 0);
  file("kernels/adding/other.cu", kIndirect);
  file("kernels/moving/other.cu", "__global__ void nothing() {}\n");
  std::filesystem::create_directory(path("work/moving"));
  std::filesystem::copy(path("work/adding/columns"), path("work/moving/other"),
                        std::filesystem::copy_options::recursive);
  std::filesystem::copy(path("work/scaling/plain"), path("work/adding/other"),
                        std::filesystem::copy_options::recursive);
  file("work/adding/columns/wide.json", "{\"format\": \"regraph-digest/1\"}");
  file("kernels/corpus.yaml", "kin: [[adding, scaling]]\n");
  const ProgramRun done = train({"check", "kernels", "--work", "work"});
  EXPECT_EQ(done.exit_code, kLeak) << done.error;
  EXPECT_TRUE(done.complains_of("left out: work/adding/columns/wide.json: not a digest"))
      << done.error;
  EXPECT_NE(done.output.find("4 kernels with searches in work"), std::string::npos) << done.output;
  EXPECT_NE(done.output.find("leak: adding and moving\n  kernels/adding/columns.cu\n"
                             "  kernels/moving/other.cu\n    the same kernel and launch: of the "
                             "first the original, of the second the original;"),
            std::string::npos)
      << done.output;
  EXPECT_NE(done.output.find("inputs that give a family away"), std::string::npos) << done.output;
}

TEST_F(Train, SlowVariantsAreKernelsToLearnFrom) {
  file("kernels/corpus.yaml", "sealed: [scaling]\nkin: [[adding, scaling]]\n");
  ASSERT_EQ(train_graph().exit_code, 0);
  const auto slow = [&](const std::string& output) {
    return train({"slow", "kernels", "--work", "work", "--output", output, "--jobs", "2"});
  };
  const ProgramRun done = slow("slow");
  ASSERT_EQ(done.exit_code, 0) << done.error;
  EXPECT_TRUE(done.complains_of("adding/columns: ")) << done.error;
  // Sealed kernels are left alone.
  EXPECT_FALSE(done.complains_of("scaling")) << done.error;
  const std::string description = content("slow/corpus.yaml");
  EXPECT_NE(description.find("derived: true"), std::string::npos);
  EXPECT_NE(description.find("[adding, scaling]"), std::string::npos);
  std::vector<std::string> variants;
  for (const auto& entry : std::filesystem::directory_iterator(path("slow/adding"))) {
    if (entry.path().extension() == ".cu") variants.push_back(entry.path().stem().string());
  }
  ASSERT_FALSE(variants.empty());
  const std::string text = content("slow/adding/" + variants[0] + ".cu");
  EXPECT_TRUE(text.starts_with("// A slow variant of adding/columns")) << text;
  // Nothing is judged twice, and the same comes out.
  std::filesystem::remove(path("work/adding/columns/evaluations.db"));
  const ProgramRun again = slow("slow");
  EXPECT_EQ(again.output, done.output);
  EXPECT_EQ(content("slow/adding/" + variants[0] + ".cu"), text);
  EXPECT_FALSE(std::filesystem::exists(path("work/adding/columns/evaluations.db")));

  // One of them is enough to learn from.
  file("few/corpus.yaml", description);
  for (const char* ending : {".cu", ".regraph.yaml"}) {
    const std::string name = "adding/" + variants[0] + ending;
    file("few/" + name, content("slow/" + name));
  }
  const ProgramRun learned = train({"graph", "kernels", "few", "--output", "both.yaml", "--work",
                                    "work", "--jobs", "2", "-q", "--evaluations", "2"});
  ASSERT_EQ(learned.exit_code, 0) << learned.error;
  EXPECT_NE(learned.output.find("2 kernels of 1 families"), std::string::npos) << learned.output;
  const auto digest = nlohmann::json::parse(content("work/adding/" + variants[0] + "/wide.json"));
  EXPECT_TRUE(digest.at("derived").get<bool>());
  EXPECT_FALSE(nlohmann::json::parse(content("work/adding/columns/wide.json")).contains("derived"));

  for (const char* folder : {"kernels", "kernels/slow"}) {
    const ProgramRun refused = slow(folder);
    EXPECT_EQ(refused.exit_code, kUsage);
    EXPECT_TRUE(refused.complains_of("lies in the corpus")) << refused.error;
  }
}

TEST_F(Train, AKernelThatCannotBeVariedIsLeftOut) {
  file("kernels/broken/syntax.cu", "__global__ void broken(float* x) { x[0] = ; }\n");
  file("kernels/broken/syntax.regraph.yaml", kManifest);
  const ProgramRun done = train({"slow", "kernels", "--work", "work", "--output", "slow"});
  EXPECT_EQ(done.exit_code, 0) << done.error;
  EXPECT_TRUE(done.complains_of("syntax.cu: left out: ")) << done.error;
  EXPECT_TRUE(done.complains_of("only the kernels themselves")) << done.error;
  EXPECT_NE(done.output.find("1 kernels left out"), std::string::npos) << done.output;
  const ProgramRun none = train({"slow", "kernels/broken", "--work", "work", "--output", "none"});
  EXPECT_EQ(none.exit_code, kUnusableKernel);
  EXPECT_FALSE(std::filesystem::exists(path("none")));
}

}  // namespace
}  // namespace regraph::test::train_test
