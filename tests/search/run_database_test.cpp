#include "search/run_database.h"

#include "base/files.h"
#include "search/driver.h"
#include "search/landscape.h"

#include <gtest/gtest.h>

#include <random>

namespace regraph::run_database_test {
namespace {

using landscape::Shape;
using landscape::World;

class RunDatabaseTest : public ::testing::Test {
 protected:
  RunDatabaseTest() : directory_(*TemporaryDirectory::create("regraph-database-")) {}

  [[nodiscard]] std::filesystem::path directory(const char* name = "run") const {
    const std::filesystem::path path = directory_.path() / name;
    std::filesystem::create_directory(path);
    return path;
  }
  static RunDescription description() {
    RunDescription result;
    result.tool_version = "1.2.3";
    result.kernel = "ns::scale<float>";
    result.source_path = "a dir/scale.cu";
    result.source = "__global__ void scale() {}\n";
    result.manifest = "sizes: {n: 1}\n";
    result.graph = "format: regraph/1\nsteps: []\n";
    result.notes = {"one", "two \"quoted\" \xc3\xa9"};
    result.config.searcher = "beam";
    result.config.seed = 0xFFFFFFFFFFFFFFFF;
    result.config.device = "h200";
    result.config.budget = {17, 0.1};
    result.config.selection.value_range = {{-0.1, 1.0 / 3.0}};
    result.config.selection.regrapht.epsilon = 0.123456789012345;
    result.config.expansions_first = false;
    result.jobs_chosen = true;
    return result;
  }
  // A finished search over a landscape in `directory()`; what its database file holds.
  std::string finished_database() const {
    const World world(3, Shape{});
    auto database = RunDatabase::create(directory(), description());
    EXPECT_TRUE(database);
    const landscape::WorldExpander expander(world);
    landscape::WorldEvaluator evaluator(world);
    const Cancellation cancellation;
    const auto outcome = run_search(World::candidate(0), expander, evaluator, world.graph(),
                                    description().config, nullptr, cancellation, database->get());
    EXPECT_TRUE(outcome) << outcome.error().message;
    EXPECT_TRUE((*database)->record_finished({3, "run", "text", "json"}));
    database->reset();
    return *read_file(directory() / RunDatabase::kFileName, 10 << 20);
  }
  // Opens and continues a run whose database has this content. Whatever it is, the result is that
  // of the run or an error.
  static Result<SearchOutcome> resume(const std::filesystem::path& path) {
    const auto database = RunDatabase::open(path);
    if (!database) return database.error();
    const auto finished = (*database)->finished();
    if (!finished) return finished.error();
    const World world(3, Shape{});
    const landscape::WorldExpander expander(world);
    landscape::WorldEvaluator evaluator(world);
    const Cancellation cancellation;
    return run_search(World::candidate(0), expander, evaluator, world.graph(), description().config,
                      nullptr, cancellation, database->get());
  }

  TemporaryDirectory directory_;
};

TEST_F(RunDatabaseTest, KeepsWhatTheRunWasStartedWith) {
  { ASSERT_TRUE(RunDatabase::create(directory(), description())); }
  const auto database = RunDatabase::open(directory());
  ASSERT_TRUE(database) << database.error().message;
  const RunDescription& read = (*database)->description();
  const RunDescription written = description();
  EXPECT_EQ(read.tool_version, written.tool_version);
  EXPECT_EQ(read.kernel, written.kernel);
  EXPECT_EQ(read.source_path, written.source_path);
  EXPECT_EQ(read.source, written.source);
  EXPECT_EQ(read.manifest, written.manifest);
  EXPECT_EQ(read.graph, written.graph);
  EXPECT_EQ(read.notes, written.notes);
  EXPECT_EQ(config_text(read.config), config_text(written.config));
  EXPECT_EQ(read.config.seed, written.config.seed);
  EXPECT_EQ(read.config.selection.value_range, written.config.selection.value_range);
  EXPECT_TRUE(read.jobs_chosen);
  EXPECT_EQ(*(*database)->measurements(), 0);
  EXPECT_FALSE(*(*database)->finished());
  EXPECT_FALSE((*database)->progress().end);
}

TEST_F(RunDatabaseTest, ConfigurationsOfOthersAreNotRead) {
  const std::string text = config_text(SearchConfig{});
  EXPECT_TRUE(read_config(text));
  EXPECT_EQ(config_text(*read_config(text)), text);
  EXPECT_FALSE(read_config(""));
  EXPECT_FALSE(read_config("[]"));
  EXPECT_FALSE(read_config("{}"));
  EXPECT_FALSE(read_config(text.substr(0, text.size() - 1) + ",\"more\":1}"));
  std::string other = text;
  other.replace(other.find("\"mcgs\""), 6, "7");
  EXPECT_FALSE(read_config(other));
}

TEST_F(RunDatabaseTest, OneRunADirectoryAndOneProcessARun) {
  const auto first = RunDatabase::create(directory(), description());
  ASSERT_TRUE(first);
  const auto in_use = RunDatabase::open(directory());
  ASSERT_FALSE(in_use);
  EXPECT_EQ(in_use.error().code, ErrorCode::resource);
  EXPECT_FALSE(RunDatabase::create(directory(), description()));
}

TEST_F(RunDatabaseTest, ASecondRunInADirectoryIsRefused) {
  { ASSERT_TRUE(RunDatabase::create(directory(), description())); }
  const auto second = RunDatabase::create(directory(), description());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(second.error().message.find("--resume"), std::string::npos);
  RunDatabase::remove(directory());
  EXPECT_TRUE(std::filesystem::is_empty(directory()));
  EXPECT_TRUE(RunDatabase::create(directory(), description()));
}

// Property: wherever the file is cut or changed, there is an error or the result is the same.
TEST_F(RunDatabaseTest, DamagedFilesNeverGiveAnotherResult) {
  const std::string whole = finished_database();
  const auto reference = resume(directory());
  ASSERT_TRUE(reference) << reference.error().message;
  const std::filesystem::path broken = directory("broken");
  std::mt19937_64 random(4);
  int refused = 0;
  constexpr int kRounds = 150;
  for (int round = 0; round < kRounds; ++round) {
    std::string content = whole;
    if (round % 3 == 0) {
      content.resize(random() % whole.size());
    } else {
      const int changes = 1 << (random() % 6);
      for (int change = 0; change < changes; ++change)
        content[random() % content.size()] = static_cast<char>(random());
    }
    RunDatabase::remove(broken);
    ASSERT_TRUE(write_file(broken / RunDatabase::kFileName, content));
    const auto resumed = resume(broken);
    if (!resumed) {
      ++refused;
      EXPECT_NE(resumed.error().code, ErrorCode::internal) << resumed.error().message;
      continue;
    }
    EXPECT_EQ(resumed->best.source, reference->best.source);
    EXPECT_EQ(resumed->log_speedup, reference->log_speedup);
    EXPECT_EQ(resumed->states.size(), reference->states.size());
  }
  EXPECT_GT(refused, kRounds / 3);
}

}  // namespace
}  // namespace regraph::run_database_test
