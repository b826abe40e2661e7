#include "score/server/reward_service.h"

#include "fake_service.h"

#include <cmath>
#include <utility>
#include <vector>

namespace regraph::score::reward_service_test {
namespace {

using nlohmann::json;
using test::comes_true;
using test::kPatience;

class Service : public test::FakeService {
 protected:
  Refusal refusal(const std::string& body) {
    const auto batch = service->admit(body);
    EXPECT_FALSE(batch.ok()) << body.substr(0, 200);
    return batch.ok() ? Refusal{} : batch.error();
  }
  Refusal query_refusal(const json& body) {
    const auto batch = service->admit_queries(body.dump());
    if (!batch.ok()) return batch.error();
    EXPECT_TRUE((*batch)->wait(kPatience));
    const auto results = (*batch)->plain_results();
    EXPECT_FALSE(results.ok());
    return results.ok() ? Refusal{} : results.error();
  }
};

TEST_F(Service, SaysAllOfEachItem) {
  serve(2);
  const json answer = results(body_of(items({{"a", "2"}, {"a", "wrong"}, {"b", "unreadable"}})));
  EXPECT_EQ(answer["reward"], "regraph");
  EXPECT_EQ(answer["version"], "1.2.3");
  ASSERT_EQ(answer["results"].size(), 3U);
  EXPECT_EQ(answer.size(), 3U);
  const json& fast = answer["results"][0];
  EXPECT_EQ(fast["id"], "0");
  EXPECT_NEAR(fast["reward"].get<double>(), 0.6, 1e-12);
  EXPECT_EQ(fast["outcome"], "correct");
  EXPECT_EQ(fast["verdict"], "correct");
  EXPECT_DOUBLE_EQ(fast["seconds"].get<double>(), 0.5e-3);
  EXPECT_DOUBLE_EQ(fast["interval"][0].get<double>(), 0.45e-3);
  EXPECT_DOUBLE_EQ(fast["interval"][1].get<double>(), 0.55e-3);
  EXPECT_DOUBLE_EQ(fast["parent_seconds"].get<double>(), 1e-3);
  EXPECT_DOUBLE_EQ(fast["speedup"].get<double>(), 2.0);
  EXPECT_TRUE(fast["same_as_rewriter"].is_null());
  EXPECT_EQ(fast["cached"], false);
  const json& wrong = answer["results"][1];
  EXPECT_EQ(wrong["reward"], -0.5);
  EXPECT_EQ(wrong["verdict"], "wrong_result");
  EXPECT_EQ(wrong["message"], "it is wrong");
  for (const char* key : {"seconds", "interval", "speedup"})
    EXPECT_TRUE(wrong[key].is_null()) << key;
  EXPECT_EQ(wrong.size(), 11U);
  EXPECT_EQ(answer["results"][2]["reward"], -1.0);
}

TEST_F(Service, KeepsTheOrder) {
  serve(3);
  std::vector<std::pair<std::string, std::string>> wanted;
  wanted.reserve(300);
  for (int i = 0; i < 300; ++i)
    wanted.emplace_back(std::string(1, static_cast<char>('a' + i % 7)), std::to_string(1 + i));
  const json answer = results(body_of(items(wanted), "toronto_mid_end"));
  ASSERT_EQ(answer["results"].size(), wanted.size());
  for (int i = 0; i < 300; ++i) {
    const json& result = answer["results"][static_cast<std::size_t>(i)];
    EXPECT_EQ(result["id"], std::to_string(i));
    EXPECT_NEAR(result["reward"].get<double>(), 2.0 + i, 1e-9);
  }
}

TEST_F(Service, JudgesEqualAnswersOnce) {
  serve(2);
  const std::string body = body_of(items({{"a", "1"}, {"a", "1"}, {"a", "2"}, {"a", "1"}}));
  const json first = results(body);
  EXPECT_EQ(asked().size(), 2U);
  std::vector<bool> cached;
  for (const json& result : first["results"])
    cached.push_back(result["cached"].get<bool>());
  EXPECT_EQ(cached, (std::vector<bool>{false, true, false, true}));
  // Whatever the formula, it is known now.
  const json second = results(body_of(items({{"a", "2"}, {"a", "1"}}), "log_speedup"));
  EXPECT_EQ(asked().size(), 2U);
  EXPECT_TRUE(second["results"][0]["cached"].get<bool>());
  EXPECT_NEAR(second["results"][0]["reward"].get<double>(), std::log(2.0), 1e-12);
  EXPECT_EQ(json::parse(service->health())["cached"], 4);
}

TEST_F(Service, HasNoRewardWithoutAVerdict) {
  serve(2);
  const json answer =
      results(body_of(items({{"a", "die"}, {"b", "die once"}, {"nowhere", "1"}, {"c", "1"}})));
  const json& died = answer["results"][0];
  EXPECT_TRUE(died["reward"].is_null());
  EXPECT_EQ(died["outcome"], "no_verdict");
  EXPECT_TRUE(died["verdict"].is_null());
  EXPECT_DOUBLE_EQ(answer["results"][1]["reward"].get<double>(), 0.2);
  EXPECT_TRUE(answer["results"][2]["reward"].is_null());
  EXPECT_EQ(answer["results"][2]["message"], "no state 'nowhere' is registered");
  EXPECT_DOUBLE_EQ(answer["results"][3]["reward"].get<double>(), 0.2);
  // It is not remembered: asked again, it is tried again.
  (void)results(body_of(items({{"a", "die"}})));
  EXPECT_EQ(asked("a").size(), 4U);
}

TEST_F(Service, RefusesWhatItCannotRead) {
  serve(1);
  EXPECT_EQ(refusal("").status, 400);
  EXPECT_TRUE(refusal("{").message.starts_with("body: not JSON"));
  EXPECT_TRUE(refusal("\xff").message.starts_with("body: not UTF-8"));
  EXPECT_EQ(refusal("[]").message, "body: not an object");
  EXPECT_EQ(refusal("{}").message, "no list 'items'");
  EXPECT_EQ(refusal(R"({"items": {}})").message, "no list 'items'");
  EXPECT_TRUE(
      refusal(R"({"items": [], "best_of": 4})").message.starts_with("unknown key 'best_of'"));
  const Refusal kind = refusal(R"({"reward": "speed", "items": []})");
  EXPECT_EQ(kind.status, 400);
  EXPECT_TRUE(kind.message.starts_with("unknown reward 'speed'; there are regraph, "));
  EXPECT_EQ(refusal(R"({"reward": 1, "items": []})").message, "'reward' is not a text");
  json two = items({{"a", "1"}, {"a", "2"}});
  two[1]["state"] = 7;
  EXPECT_EQ(refusal(body_of(two)).message, "items[1]: item: 'state' is not a text");
  two[1].erase("state");
  EXPECT_EQ(refusal(body_of(two)).message, "items[1]: item: no 'state'");
  EXPECT_EQ(refusal(std::string(1 << 20, '[')).status, 400);
  EXPECT_EQ(refusal(std::string(RewardService::kLargestBody + 1, ' ')).status, 413);
  EXPECT_TRUE(asked().empty());
  EXPECT_EQ(results(R"({"items": []})")["results"], json::array());
}

TEST_F(Service, RefusesTooMany) {
  serve(2);
  json many = json::array();
  for (std::size_t i = 0; i < RewardService::kMostItems; ++i)
    many.push_back({{"id", ""}, {"state", "a"}, {"completion", "1"}});
  EXPECT_EQ(results(body_of(many))["results"].size(), RewardService::kMostItems);
  many.push_back(many[0]);
  const Refusal refused = refusal(body_of(many));
  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(refused.message, "4097 items where 4096 are the limit");
}

TEST_F(Service, RefusesWhenItsQueueIsFull) {
  serve(1, 3);
  auto waiting = service->admit(body_of(items({{"a", "wait go"}, {"a", "2"}})));
  ASSERT_TRUE(waiting.ok());
  const Refusal full = refusal(body_of(items({{"a", "3"}, {"a", "4"}})));
  EXPECT_EQ(full.status, 503);
  auto third = service->admit(body_of(items({{"a", "3"}})));
  EXPECT_TRUE(third.ok());
  make_file("go");
  EXPECT_TRUE((*waiting)->wait(kPatience));
  EXPECT_TRUE((*third)->wait(kPatience));
  // Nothing waits: more than the queue holds is let in.
  EXPECT_EQ(
      results(body_of(items({{"a", "5"}, {"a", "6"}, {"a", "7"}, {"a", "8"}})))["results"].size(),
      4U);
}

TEST_F(Service, DropsABatchThatIsGivenUp) {
  serve(1);
  auto batch = service->admit(body_of(items({{"a", "wait go"}, {"b", "1"}, {"c", "1"}})));
  ASSERT_TRUE(batch.ok());
  auto other = service->admit(body_of(items({{"c", "1"}})));  // shares an item
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE(comes_true([&] { return asked("a").size() == 1; }));
  *batch = nullptr;
  make_file("go");
  EXPECT_TRUE((*other)->wait(kPatience));
  EXPECT_TRUE(asked("b").empty());
  EXPECT_EQ(asked("c").size(), 1U);
  // What had begun is remembered.
  EXPECT_TRUE(results(body_of(items({{"a", "wait go"}})))["results"][0]["cached"].get<bool>());
}

TEST_F(Service, AnswersOpenRlhf) {
  serve(2);
  const auto batch = service->admit_queries(json{
      {"query", {"<s>Make it fast.2", "Make it fast.wrong"}},
      {"prompts", {"Make it fast.", "Make it fast."}},
      {"labels", {"a", "b"}}}.dump());
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  ASSERT_TRUE((*batch)->wait(kPatience));
  const auto text = (*batch)->plain_results();
  ASSERT_TRUE(text.ok()) << text.error().message;
  const json answer = json::parse(*text);
  ASSERT_EQ(answer["rewards"].size(), 2U);
  EXPECT_NEAR(answer["rewards"][0].get<double>(), 0.6, 1e-12);
  EXPECT_EQ(answer["rewards"][1], -0.5);
  EXPECT_EQ(answer["scores"], answer["rewards"]);
  EXPECT_EQ(answer["extra_logs"]["correct"], (json{1.0, 0.0}));
  EXPECT_EQ(asked("a")[0].completion, "2");

  const json one = {{"query", {"Q1"}}, {"prompts", {"Q"}}, {"labels", {"a"}}};
  const auto with = [&](const char* key, const json& value) {
    json changed = one;
    changed[key] = value;
    return query_refusal(changed);
  };
  EXPECT_EQ(with("prompts", {"other"}).message, "query 0 does not hold its prompt");
  EXPECT_EQ(with("labels", {"a", "b"}).status, 400);
  EXPECT_EQ(with("labels", {1}).message, "no list of texts 'labels'");
  EXPECT_EQ(with("reward", "speed").status, 400);
  EXPECT_EQ(with("labels", {"nowhere"}).status, 400);
  // A number must be one: it is asked again instead of being made up.
  EXPECT_EQ(with("query", {"Qdie"}).status, 503);
}

TEST_F(Service, SaysHowItIs) {
  serve(2);
  (void)results(body_of(items({{"a", "die"}, {"a", "1"}})));
  ASSERT_TRUE(comes_true([&] { return workers->counts().alive == 2; }));
  const json health = json::parse(service->health());
  EXPECT_EQ(health, (json{{"status", "ok"},
                          {"workers", 2},
                          {"alive", 2},
                          {"queued", 0},
                          {"scored", 1},
                          {"cached", 0},
                          {"restarts", 2},
                          {"registry", "0123"},
                          {"device", "h200"},
                          {"version", "1.2.3"}}));
}

}  // namespace
}  // namespace regraph::score::reward_service_test
