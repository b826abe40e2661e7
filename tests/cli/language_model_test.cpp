// The real program against a real server on loopback, whose answers stand in tests/llm/answers.
#include "cli/language_model_case.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <regex>
#include <set>
#include <thread>

namespace regraph::language_model_test {
namespace {

class LanguageModel : public test::LanguageModelCase {};

TEST_F(LanguageModel, FindsAndReplaysTheSameSearch) {
  const std::string url = serve();
  const auto recorded = run(search(
      example("transpose"), url, {"--evaluations", "10", "--output", "a", "--llm-record", "talk"}));
  ASSERT_EQ(recorded.exit_code, 0) << recorded.error;
  const auto result = recorded.json();
  EXPECT_GT(result.at("speedup"), 4.0);
  const auto& use = result.at("language_model");
  EXPECT_GT(use.at("candidates"), 0);
  EXPECT_GT(use.at("verdicts").at("correct"), 0);
  EXPECT_GT(use.at("rejected").size(), 0U);
  EXPECT_EQ(use.at("answered"), use.at("requests"));
  EXPECT_TRUE(use.at("dollars").is_null());
  EXPECT_EQ(result.at("best").at("steps").at(0).at("parameters").at("by"), "model");
  stop_servers();
  for (const char* directory : {"b", "c"}) {
    const auto replayed =
        run({example("transpose"), "--device", "h200", "--llm-model", "hand", "--expander", "llm",
             "--json", "--quiet", "--evaluations", "10", "--output", directory, "--llm-replay",
             "talk", "--jobs", directory[0] == 'b' ? "1" : "4"});
    ASSERT_EQ(replayed.exit_code, 0) << replayed.error;
    EXPECT_EQ(answer(replayed.json()), answer(result));
  }
  // Another search has other requests.
  const auto other =
      run({example("transpose"), "--device", "h200", "--llm-model", "other", "--expander", "llm",
           "--quiet", "--evaluations", "5", "--output", "d", "--llm-replay", "talk"});
  EXPECT_EQ(other.exit_code, 6) << other.error;
  EXPECT_TRUE(other.complains_of("has no answer to this request")) << other.error;
}

TEST_F(LanguageModel, DoesWhatTheRewriterRefusesAndTheRewriterGoesOn) {
  const std::string url = serve();
  const auto both = run(search(row_sums(), url, {"--evaluations", "25", "--output", "a"}, "both"));
  ASSERT_EQ(both.exit_code, 0) << both.error;
  const auto steps = both.json().at("best").at("steps");
  std::string way;
  bool by_model = false;
  bool by_rewriter = false;
  for (const auto& step : steps) {
    way += step.dump();
    (step.at("parameters").contains("by") ? by_model : by_rewriter) = true;
  }
  EXPECT_TRUE(by_model && by_rewriter) << way;
  EXPECT_GT(both.json().at("speedup"), 3.0) << way;
}

TEST_F(LanguageModel, EndsWithSixWhenNobodyAnswers) {
  const auto refused = run(search(example("transpose"), "http://127.0.0.1:1/v1",
                                  {"--evaluations", "3", "--llm-timeout", "0.5", "--output", "a"}));
  EXPECT_EQ(refused.exit_code, 6) << refused.error;
  EXPECT_TRUE(refused.complains_of("the language model never answered")) << refused.error;
  EXPECT_EQ(refused.json().at("status"), "no_improvement");
  EXPECT_GT(refused.json().at("language_model").at("failures").at("unreachable"), 0);

  set_environment("OPENAI_API_KEY=sk-not-a-real-key-0123456789");
  const auto unauthorised = run(search(example("transpose"), serve({"--status", "401"}),
                                       {"--evaluations", "3", "--output", "b"}));
  EXPECT_EQ(unauthorised.exit_code, 6) << unauthorised.error;
  EXPECT_FALSE(unauthorised.complains_of("sk-not-a-real")) << unauthorised.error;
  EXPECT_GT(unauthorised.json().at("language_model").at("failures").at("unauthorised"), 0);
  // With the rewriter the search goes on and finds something.
  const auto both =
      run(search(example("transpose"), serve({"--status", "503"}),
                 {"--evaluations", "8", "--llm-timeout", "0.5", "--output", "c"}, "both"));
  EXPECT_EQ(both.exit_code, 0) << both.error;
}

TEST_F(LanguageModel, AServerThatFailsOftenOnlyCostsTime) {
  const auto searched = run(search(example("transpose"), serve({"--faults", "0.4"}),
                                   {"--evaluations", "12", "--llm-timeout", "3", "--output", "a"}));
  EXPECT_EQ(searched.exit_code, 0) << searched.error;
  const auto use = searched.json().at("language_model");
  EXPECT_GT(use.at("sent"), use.at("requests"));
  EXPECT_GT(searched.json().at("speedup"), 2.0);
  // What was evaluated is all in the run directory.
  const auto tuned = nlohmann::json::parse(content("a/results.t4.json"));
  EXPECT_EQ(tuned.at("results").size(), searched.json().at("evaluations").get<std::size_t>() + 1);
}

TEST_F(LanguageModel, TheKeyIsNowhere) {
  const std::string key = "sk-not-a-real-key-0123456789";
  set_environment("OPENAI_API_KEY=" + key);
  set_environment("REGRAPH_CACHE_DIR=" + path("cache").string());
  auto arguments = search(example("transpose"), serve({"--repeat-key"}),
                          {"--evaluations", "6", "--output", "a", "--llm-record", "talk"});
  std::erase(arguments, "--llm-no-store");
  const auto searched = run(arguments);
  EXPECT_EQ(searched.exit_code, 0) << searched.error;
  EXPECT_EQ(searched.output.find(key), std::string::npos);
  EXPECT_EQ(searched.error.find(key), std::string::npos);
  const auto config = run({"--print-config"});
  EXPECT_EQ(config.output.find(key), std::string::npos);
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path(""))) {
    if (!entry.is_regular_file()) continue;
    ++files;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(text.find(key), std::string::npos) << entry.path();
  }
  EXPECT_GT(files, 10);
  EXPECT_TRUE(std::filesystem::exists(path("cache/language-model.db")));
}

TEST_F(LanguageModel, PaysForNothingTwice) {
  set_environment("REGRAPH_CACHE_DIR=" + path("cache").string());
  const std::string log = path("requests").string();
  const std::string url = serve({"--log", log});
  auto arguments = search(example("transpose"), url, {"--evaluations", "6", "--output", "a"});
  std::erase(arguments, "--llm-no-store");
  const auto first = run(arguments);
  ASSERT_EQ(first.exit_code, 0) << first.error;
  arguments.back() = "b";
  const auto second = run(arguments);
  ASSERT_EQ(second.exit_code, 0) << second.error;
  const auto use = second.json().at("language_model");
  EXPECT_EQ(use.at("sent"), 0);
  EXPECT_EQ(use.at("from_store"), use.at("requests"));
  EXPECT_EQ(use.at("prompt_tokens"), 0);
  EXPECT_EQ(second.json().at("best").at("seconds"), first.json().at("best").at("seconds"));
  std::ifstream file(log);
  std::set<std::string> different;
  std::string line;
  int requests = 0;
  for (; std::getline(file, line); ++requests)
    different.insert(line);
  EXPECT_EQ(requests, first.json().at("language_model").at("requests"));
  EXPECT_EQ(different.size(), static_cast<std::size_t>(requests));
}

TEST_F(LanguageModel, GoesOnAfterAKill) {
  const std::string url = serve({"--delay", "0.05"});
  const auto reference =
      run(search(example("transpose"), url,
                 {"--evaluations", "10", "--llm-no-proposals", "--output", "whole"}));
  ASSERT_EQ(reference.exit_code, 0) << reference.error;
  auto arguments = search(example("transpose"), url,
                          {"--evaluations", "10", "--llm-no-proposals", "--output", "killed"});
  std::erase(arguments, "--quiet");
  arguments.emplace_back("--verbose");
  const pid_t child = start(arguments);
  ASSERT_TRUE(wait_until_error_holds("   3 ")) << content("error");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const auto resumed = run({"--resume", "killed", "--json", "--quiet"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.error;
  auto expected = answer(reference.json());
  auto got = answer(resumed.json());
  // The second sitting asked for less.
  EXPECT_LT(got.at("language_model").at("requests"), expected.at("language_model").at("requests"));
  expected.erase("language_model");
  got.erase("language_model");
  EXPECT_EQ(got, expected);
}

TEST_F(LanguageModel, BudgetsEndTheAsking) {
  const std::string url = serve();
  const auto tokens = run(search(example("transpose"), url,
                                 {"--evaluations", "30", "--output", "a", "--llm-tokens", "9000",
                                  "--llm-max-tokens", "1000"}));
  const auto use = tokens.json().at("language_model");
  EXPECT_EQ(use.at("budget_spent"), true);
  EXPECT_LE(use.at("prompt_tokens").get<int>() + use.at("completion_tokens").get<int>(), 9000);
  file("prices.yaml",
       "format: regraph-prices/1\nprices:\n  - {model: hand, prompt: 1000, completion: 1000}\n");
  const auto dollars = run(search(example("transpose"), url,
                                  {"--evaluations", "30", "--output", "b", "--llm-cost", "9",
                                   "--llm-prices", "prices.yaml", "--llm-max-tokens", "1000"}));
  const auto spent = dollars.json().at("language_model").at("dollars").get<double>();
  EXPECT_GT(spent, 1.0);
  EXPECT_LE(spent, 9.0);
}

TEST_F(LanguageModel, DryRunShowsPromptsAndCostAndAsksNobody) {
  file("prices.yaml",
       "format: regraph-prices/1\nprices:\n  - {model: hand, prompt: 1, completion: 2}\n");
  const auto text = run({example("transpose"), "--device", "h200", "--expander", "both",
                         "--llm-model", "hand", "--llm-prices", "prices.yaml", "--dry-run"});
  ASSERT_EQ(text.exit_code, 0) << text.error;
  for (const char* part : {"==== prompt: which steps", "out[x * height + y] = in[y * width + x];",
                           "==== cost of asking", "60 evaluations", "$"}) {
    EXPECT_NE(text.output.find(part), std::string::npos) << part << "\n" << text.output;
  }
  const auto json = run({example("transpose"), "--device", "h200", "--expander", "llm",
                         "--llm-model", "hand", "--dry-run", "--json"});
  EXPECT_EQ(json.json().at("prompts").size(), 2U);
}

TEST_F(LanguageModel, MistakesAreToldBeforeAnythingStarts) {
  const auto message = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {example("transpose"), "--device", "h200", "--expander",
                                          "llm"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto failed = run(arguments);
    EXPECT_EQ(failed.exit_code, 2) << failed.error;
    EXPECT_EQ(failed.output, "");
    EXPECT_FALSE(std::filesystem::exists(path("regraph-runs/transpose-1"))) << failed.error;
    return failed.error;
  };
  const auto holds = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(holds(message({}), "--llm-model NAME or OPENAI_MODEL"));
  EXPECT_TRUE(holds(message({"--llm-model", "m"}), "--llm-url"));
  EXPECT_TRUE(holds(message({"--llm-model", "m", "--llm-server", "nonesuch"}), "ollama"));
  EXPECT_TRUE(holds(message({"--llm-model", "m", "--llm-server", "openai"}), "OPENAI_API_KEY"));
  EXPECT_TRUE(holds(message({"--llm-model", "m", "--llm-url", "ftp://x"}), "http"));
  EXPECT_TRUE(holds(message({"--llm-model", "m", "--llm-server", "fleet"}), "--fleet nats://"));
  EXPECT_TRUE(holds(message({"--llm-model", "m", "--llm-url", "http://x", "--llm-cost", "1"}),
                    "the price of 'm' is not known"));
  EXPECT_TRUE(holds(message({"--llm-model", "m", "--llm-record", "a", "--llm-replay", "b"}),
                    "exclude each other"));
  EXPECT_TRUE(holds(message({"--llm-model", "m", "--llm-replay", "absent"}), "absent"));
  file("bad", "hello\n");
  EXPECT_TRUE(holds(message({"--llm-model", "m", "--llm-replay", "bad"}), "bad:1:"));
  EXPECT_TRUE(holds(message({"--llm-model", "m", "--llm-url", "http://x", "--llm-prompts", "no"}),
                    "--llm-prompts"));
  EXPECT_TRUE(holds(message({"--llm-model", "m", "--llm-url", "http://x", "--llm-key-file", "no"}),
                    "--llm-key-file"));
}

TEST_F(LanguageModel, TheUsualVariablesNameServerAndModel) {
  set_environment("OPENAI_BASE_URL=" + serve());
  set_environment("OPENAI_MODEL=hand");
  const auto found = run({example("transpose"), "--device", "h200", "--expander", "llm", "--json",
                          "--quiet", "--evaluations", "4", "--llm-no-store", "--output", "a"});
  EXPECT_EQ(found.exit_code, 0) << found.error;
  EXPECT_EQ(found.json().at("language_model").at("model"), "hand");
  EXPECT_NE(run({"--print-config"}).output.find("llm-model: hand  # OPENAI_MODEL"),
            std::string::npos);
}

// What an earlier sitting spent is spent.
TEST_F(LanguageModel, AResumedRunGoesOnWithItsBudget) {
  const std::string url = serve();
  const auto whole = run(search(
      example("transpose"), url,
      {"--evaluations", "10", "--output", "a", "--llm-max-tokens", "100", "--llm-tokens", "9000"}));
  const auto use = whole.json().at("language_model");
  EXPECT_TRUE(use.at("budget_spent")) << use;
  const std::int64_t spent =
      use.at("prompt_tokens").get<std::int64_t>() + use.at("completion_tokens").get<std::int64_t>();
  EXPECT_GT(spent, 4000);
  EXPECT_LE(spent, 9000);
  // Elsewhere its result is made anew, from what is kept.
  std::filesystem::rename(path("a"), path("b"));
  const auto resumed = run({"--resume", "b", "--json", "--quiet"});
  ASSERT_FALSE(resumed.output.empty()) << resumed.error;
  const auto later = resumed.json().at("language_model");
  EXPECT_EQ(later.at("prompt_tokens").get<std::int64_t>() +
                later.at("completion_tokens").get<std::int64_t>(),
            spent);
}

}  // namespace
}  // namespace regraph::language_model_test
