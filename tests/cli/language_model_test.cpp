// The real program against a real server on loopback, whose answers stand in tests/llm/answers.
#include "cli/running_program.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <regex>
#include <set>
#include <thread>

namespace regraph {
namespace {

class LanguageModel : public test::RunningProgram {
 protected:
  // Starts the server with further arguments; returns its base URL.
  std::string serve(std::vector<std::string> arguments = {}) {
    const std::string port_file = path("port").string();
    std::filesystem::remove(port_file);
    arguments.insert(arguments.begin(),
                     {"python3", std::string(REGRAPH_SOURCE_DIR) + "/tests/llm/scripted_server.py",
                      "--port-file", port_file});
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string& argument : arguments)
      pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    pid_t child = -1;
    EXPECT_EQ(posix_spawnp(&child, "python3", &actions, nullptr, pointers.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    servers_.push_back(child);
    const auto end = Clock::now() + std::chrono::seconds(30);
    std::string port;
    while (Clock::now() < end) {
      std::ifstream file(port_file);
      std::getline(file, port);
      if (!port.empty() && !file.eof()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_FALSE(port.empty()) << "the server did not start";
    return "http://127.0.0.1:" + port + "/v1";
  }
  void stop_servers() {
    for (const pid_t server : servers_) {
      kill(server, SIGKILL);
      waitpid(server, nullptr, 0);
    }
    servers_.clear();
  }
  void TearDown() override { stop_servers(); }

  [[nodiscard]] static std::vector<std::string> search(const std::string& kernel,
                                                       const std::string& url,
                                                       std::vector<std::string> more,
                                                       const std::string& expander = "llm") {
    std::vector<std::string> all = {kernel,   "--device",  "h200",    "--llm-model",
                                    "hand",   "--llm-url", url,       "--expander",
                                    expander, "--json",    "--quiet", "--llm-no-store"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // What an answer is: paths, seconds and addresses differ from run to run.
  [[nodiscard]] static nlohmann::json answer(nlohmann::json result) {
    result.erase("search_seconds");
    result.erase("workers");
    result["best"].erase("path");
    result["best"].erase("manifest");
    result["language_model"].erase("from");
    result["language_model"].erase("waiting_seconds");
    return result;
  }
  static std::string row_sums() {
    return std::string(REGRAPH_SOURCE_DIR) + "/tests/llm/answers/row_sums/row_sums.cu";
  }

 private:
  std::vector<pid_t> servers_;
};

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

// Models that are of no use end a search well, and the result says what they did.
TEST_F(LanguageModel, OneThatDeclinesEverythingCostsNoEvaluation) {
  const std::string url = serve({"--character", "declining"});
  const auto alone =
      run(search(example("transpose"), url, {"--evaluations", "6", "--output", "alone"}));
  ASSERT_EQ(alone.exit_code, 3) << alone.error;
  const auto result = alone.json();
  EXPECT_EQ(result.at("stopped"), "exhausted");
  EXPECT_EQ(result.at("evaluations"), 0);
  EXPECT_EQ(result.at("language_model").at("declined"), 3);
  EXPECT_EQ(result.at("language_model").at("repairs"), 0);
  // The rewriter has its whole budget beside it.
  const auto both =
      run(search(example("transpose"), url, {"--evaluations", "6", "--output", "both"}, "both"));
  ASSERT_EQ(both.exit_code, 0) << both.error;
  EXPECT_EQ(both.json().at("evaluations"), 6);
  EXPECT_GT(both.json().at("language_model").at("declined"), 3);
}

TEST_F(LanguageModel, OneThatSeesNothingToGainIsNotAskedAgain) {
  const std::string url = serve({"--character", "satisfied"});
  const auto result =
      run(search(example("transpose"), url, {"--evaluations", "6", "--output", "a"})).json();
  EXPECT_EQ(result.at("stopped"), "exhausted");
  EXPECT_EQ(result.at("language_model").at("requests"), 1);
  EXPECT_EQ(result.at("language_model").at("empty_lists"), 1);
}

TEST_F(LanguageModel, StepsOfItsOwnAreTriedAndKept) {
  const std::string url = serve({"--character", "inventive"});
  const auto ended =
      run(search(example("transpose"), url, {"--evaluations", "6", "--output", "a"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.error;
  const auto result = ended.json();
  EXPECT_GT(result.at("speedup"), 2.0);
  ASSERT_GT(result.at("new_steps").size(), 0U);
  const auto& step = result.at("new_steps").at(0);
  EXPECT_EQ(step.at("verified"), 1);
  EXPECT_GT(step.at("best_speedup"), 2.0);
  EXPECT_NE(step.at("title").get<std::string>().find("trick"), std::string::npos);
  EXPECT_EQ(result.at("best").at("steps").at(0).at("step"), step.at("step"));
}

TEST_F(LanguageModel, OneThatGoesRoundInCirclesComesToAnEnd) {
  const std::string url = serve({"--character", "circling"});
  const auto result =
      run(search(example("transpose"), url, {"--evaluations", "6", "--output", "a"})).json();
  EXPECT_EQ(result.at("stopped"), "exhausted");
  EXPECT_LE(result.at("evaluations"), 2);
  EXPECT_LE(result.at("language_model").at("requests"), 6);
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

// What a strong model answered, given again to the same tasks: prompts that cannot get these tasks
// asked any more, a reader that refuses these answers, or a search that passes them by, fail here.
TEST_F(LanguageModel, AConversationWithARealModelStillLeadsSomewhere) {
  struct Case {
    const char* kernel;
    double least_speedup;
  };
  for (const Case& one : {Case{"block_dct", 30.0}, Case{"local_alignment", 20.0}}) {
    const std::filesystem::path root = REGRAPH_SOURCE_DIR;
    const std::string kernel = one.kernel;
    const std::filesystem::path file =
        (root / "tests/llm/conversations" / kernel).replace_extension("jsonl");
    const std::filesystem::path source =
        (root / "bench/partner" / kernel / kernel).replace_extension("cu");
    const std::string url = serve({"--conversation", file.string()});
    const auto ended = run(
        search(source.string(), url,
               {"--evaluations", "12", "--seed", "1", "--output", kernel, "--evaluator", "model"},
               "both"));
    stop_servers();
    ASSERT_EQ(ended.exit_code, 0) << ended.error;
    const auto result = ended.json();
    EXPECT_GT(result.at("speedup"), one.least_speedup) << result.at("language_model");
    const auto& use = result.at("language_model");
    EXPECT_GE(use.at("candidates"), 2);
    EXPECT_EQ(use.at("verdicts").size(), 1U) << use;  // every one of them was correct
    EXPECT_EQ(use.at("rejected").size(), 0U) << use;
  }
}

}  // namespace
}  // namespace regraph
