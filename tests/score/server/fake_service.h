// A service of rewards over workers that answer as they are told. It has the states a to z.
#pragma once

#include "fake_workers.h"
#include "score/server/reward_service.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace regraph::score::test {

class FakeService : public FakeWorkers {
 protected:
  void serve(int workers, std::size_t queue = 16384) { serve(options(workers), queue); }
  void serve(const ScoreWorkersOptions& options, std::size_t queue = 16384) {
    workers = start(options);
    ASSERT_NE(workers, nullptr);
    store = *ScoreStore::open({});
    RewardServiceOptions of_service;
    of_service.problem_of = [](std::string_view state) -> std::optional<std::string> {
      if (state.size() != 1 || state[0] < 'a' || state[0] > 'z') return std::nullopt;
      return std::string(state);
    };
    of_service.queue = queue;
    of_service.version = "1.2.3";
    of_service.registry = "0123";
    of_service.device = "h200";
    service = std::make_unique<RewardService>(of_service, *workers, *store);
  }

  // {"id", "state", "completion"} objects, with their places as ids.
  static nlohmann::json items(const std::vector<std::pair<std::string, std::string>>& wanted) {
    nlohmann::json result = nlohmann::json::array();
    for (const auto& [state, completion] : wanted) {
      result.push_back(
          {{"id", std::to_string(result.size())}, {"state", state}, {"completion", completion}});
    }
    return result;
  }
  static std::string body_of(const nlohmann::json& items, const std::string& reward = "regraph") {
    return nlohmann::json{{"reward", reward}, {"items", items}}.dump();
  }
  // Waits for what the service makes of it.
  nlohmann::json results(const std::string& body) {
    const auto batch = service->admit(body);
    EXPECT_TRUE(batch.ok()) << batch.error().message;
    if (!batch.ok()) return {};
    EXPECT_TRUE((*batch)->wait(kPatience));
    return nlohmann::json::parse((*batch)->results());
  }

  std::unique_ptr<ScoreStore> store;
  std::unique_ptr<ScoreWorkers> workers;
  std::unique_ptr<RewardService> service;
};

}  // namespace regraph::score::test
