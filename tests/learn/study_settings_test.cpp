#include "learn/study_settings.h"

#include "learn/studied_example.h"
#include "policy/policy_file.h"
#include "regraph/regraph_yaml.h"
#include "session/load_graph.h"

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <set>

namespace regraph::learn::study_settings_test {
namespace {

// One that corrects nothing by more than `bias`.
std::string policy_with(float bias) {
  policy::PolicyModel model;
  model.steps = {"loop_unroll", "smem_tile"};
  model.inputs = {"history.depth"};
  model.means = {0.0F};
  model.scales = {1.0F};
  model.networks.emplace_back(1, 1, policy::kOpinionSize);
  model.networks.back().second_biases[0] = bias;
  return policy::policy_bytes(model);
}

class StudySettingsTest : public StudiedExample {
 protected:
  [[nodiscard]] StudyRequest request() const {
    StudyRequest request;
    request.kernel = path("columns.cu");
    request.device = "h200";
    request.output = path("work");
    request.replace = true;
    request.searches = {search()};
    return request;
  }
  [[nodiscard]] static StudySearch search() {
    StudySearch search;
    search.label = "mcgs-published";
    search.graph = kPublishedGraph;
    search.evaluations = 2;
    return search;
  }
  [[nodiscard]] std::string text(const StudyRequest& request, const StudySearch& search,
                                 const std::string& policy = "") const {
    const auto graph = search.graph == kFlatGraph ? Result<StepGraph>(StepGraph())
                                                  : load_graph(search.graph, installation);
    const auto settings = StudySettings::of(request);
    if (!graph || !settings) return "?";
    return settings->text(search, *graph, policy);
  }
  // How many of the searches were done.
  [[nodiscard]] int study(const StudyRequest& request) const {
    int searches = 0;
    const auto done =
        study_kernel(request, installation, "1", never, [&](const std::string&) { ++searches; });
    EXPECT_TRUE(done) << done.error().message;
    return searches;
  }
  [[nodiscard]] RunDigest digest() const {
    const auto file = digest_path(path("work"), "mcgs-published");
    const auto written = read_file(file, 1 << 24);
    auto digest = read_digest(written ? *written : std::string(), "digest");
    EXPECT_TRUE(digest);
    return digest ? *digest : RunDigest();
  }
  void keep(const RunDigest& digest) const {
    write("work/mcgs-published.json", digest_text(digest));
  }
};

TEST_F(StudySettingsTest, TellSearchesApartByWhatDecidesThem) {
  const std::string usual = text(request(), search());
  std::set<std::string> texts = {usual};
  const auto differs = [&](const std::string& other) { return texts.insert(other).second; };
  for (const auto& change : std::initializer_list<void (*)(StudySearch&)>{
           [](StudySearch& one) { one.searcher = "greedy"; },
           [](StudySearch& one) { one.graph = kFlatGraph; },
           [](StudySearch& one) { one.learn = true; },
           [](StudySearch& one) { one.evaluations = 3; },
           [](StudySearch& one) { one.seed = 2; },
           [](StudySearch& one) { one.changes.exploration = 0.75; },
           [](StudySearch& one) { one.changes.greedy_every = 5; },
           [](StudySearch& one) { one.changes.max_share = 0.5; },
           [](StudySearch& one) { one.changes.first_play_reduction = 0.2; },
           [](StudySearch& one) { one.changes.widening = 2.0; },
       }) {
    StudySearch other = search();
    change(other);
    EXPECT_TRUE(differs(text(request(), other)));
  }
  EXPECT_TRUE(differs(text(request(), search(), policy_with(0.5F))));
  EXPECT_TRUE(differs(text(request(), search(), policy_with(0.25F))));
  for (const auto& change : std::initializer_list<void (*)(StudyRequest&)>{
           [](StudyRequest& one) { one.device = "a100"; },
           [](StudyRequest& one) { one.evaluator = "gpu"; },
           [](StudyRequest& one) { one.any_build = true; },
       }) {
    StudyRequest other = request();
    change(other);
    EXPECT_TRUE(differs(text(other, search())));
  }
  write("columns.cu", std::string(kColumns) + "\n// changed\n");
  EXPECT_TRUE(differs(text(request(), search())));
  write("columns.cu", kColumns);
  write("columns.regraph.yaml", std::string(kColumnsManifest) + "# changed\n");
  EXPECT_TRUE(differs(text(request(), search())));
  write("columns.regraph.yaml", kColumnsManifest);
  EXPECT_EQ(text(request(), search()), usual);
}

TEST_F(StudySettingsTest, FilesCountByWhatIsInThem) {
  const auto graph = load_graph(kPublishedGraph, installation);
  ASSERT_TRUE(graph) << graph.error().message;
  write("one.yaml", regraph_text(*graph));
  StudySearch other = search();
  other.label = "of another name";
  other.graph = path("one.yaml").string();
  EXPECT_EQ(text(request(), other), text(request(), search()));
  StepGraph changed = *graph;
  changed.set_learned_from("a table");
  write("one.yaml", regraph_text(changed));
  EXPECT_NE(text(request(), other), text(request(), search()));

  write("own.yaml", "one");
  StudyRequest owned = request();
  owned.device = path("own.yaml").string();
  const std::string before = text(owned, search());
  write("own.yaml", "another");
  EXPECT_NE(text(owned, search()), before);

  write("own.cuh", "#define TWICE 2.0f\n");
  write("columns.cu", "#include \"own.cuh\"\n" + std::string(kColumns));
  const std::string with = text(request(), search());
  write("own.cuh", "#define TWICE 2.5f\n");
  EXPECT_NE(text(request(), search()), with);
}

TEST_F(StudySettingsTest, HoldTheConstantsOfTheSearch) {
  const std::string usual = text(request(), search());
  const SelectionConfig defaults;
  const auto config = nlohmann::json::parse(usual).at("config");
  EXPECT_EQ(config.at("exploration_first"), defaults.exploration_first);
  EXPECT_EQ(config.at("widening_factor"), defaults.widening_factor);
  EXPECT_EQ(config.at("regrapht_penalty"), defaults.regrapht.penalty);
}

TEST_F(StudySettingsTest, OfAKeptDigestSayWhetherItStands) {
  const StudyRequest wanted = request();
  EXPECT_EQ(study(wanted), 1);
  const RunDigest first = digest();
  EXPECT_EQ(first.settings, text(wanted, search()));
  EXPECT_EQ(study(wanted), 0);

  // As a program with another default would have written it.
  RunDigest other = first;
  auto settings = nlohmann::ordered_json::parse(first.settings);
  settings["config"]["widening_factor"] = 1.5;
  other.settings = settings.dump();
  keep(other);
  EXPECT_EQ(study(wanted), 1);
  EXPECT_EQ(digest_text(digest()), digest_text(first));

  // By a program that did not say; where nobody asks, that is no matter.
  const std::filesystem::path file = digest_path(wanted.output, "mcgs-published");
  EXPECT_TRUE(made_with(file, first.settings));
  other.settings.clear();
  keep(other);
  EXPECT_FALSE(made_with(file, first.settings));
  StudyRequest whatever = wanted;
  whatever.replace = false;
  EXPECT_EQ(study(whatever), 0);
  write("work/mcgs-published.json", "{");
  EXPECT_FALSE(made_with(file, first.settings));
  EXPECT_FALSE(made_with(path("nowhere.json"), first.settings));
}

TEST_F(StudySettingsTest, AChangedPolicyIsAnotherSearch) {
  StudyRequest wanted = request();
  wanted.searches.front().policy = path("p.regraph-policy").string();
  write("p.regraph-policy", policy_with(0.5F));
  EXPECT_EQ(study(wanted), 1);
  EXPECT_EQ(study(wanted), 0);
  write("p.regraph-policy", policy_with(0.25F));
  EXPECT_EQ(study(wanted), 1);
}

}  // namespace
}  // namespace regraph::learn::study_settings_test
