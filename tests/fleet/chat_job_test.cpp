#include "fleet/chat_job.h"

#include "base/random.h"
#include "fleet/lanes.h"
#include "fleet/queue/names.h"
#include "llm/record/scripted_model.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

namespace regraph::fleet::chat_job_test {
namespace {

ChatJob some_chat() {
  ChatJob job;
  job.occasion = "run";
  job.sample = 2;
  job.request = llm::request_of("caf\xc3\xa9 \"quoted\"\n");
  job.request.seed = -7;
  job.request.choices = 3;
  job.request.json_schema = R"({"type":"object"})";
  job.request.reasoning_effort = "low";
  job.request.reasoning_tokens = 512;
  return job;
}

llm::ChatAnswer some_answer() {
  llm::ChatAnswer answer = llm::answer_of("code");
  answer.choices.push_back({"", "no", "thoughts", llm::FinishReason::content_filter});
  answer.usage.cached_tokens = 30;
  answer.attempts = 2;
  answer.seconds = 1.0 / 3.0;
  return answer;
}

TEST(ChatJob, ComesBackAsItWas) {
  const ChatJob job = some_chat();
  const Job packed = job_of(job);
  const auto read = read_chat_job(packed.payload);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->occasion, job.occasion);
  EXPECT_EQ(read->sample, job.sample);
  EXPECT_EQ(read->request, job.request);
  EXPECT_EQ(job_of(*read).id, packed.id);
  ChatJob plain;
  plain.request.model = "m";
  plain.request.messages = {{llm::Role::assistant, ""}};
  const auto same = read_chat_job(job_of(plain).payload);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->request, plain.request);
}

TEST(ChatJob, IsAnotherWhereAnythingIs) {
  std::set<std::string> ids = {job_of(some_chat()).id.hex()};
  const auto differs = [&](auto change) {
    ChatJob other = some_chat();
    change(other);
    return ids.insert(job_of(other).id.hex()).second;
  };
  EXPECT_TRUE(differs([](ChatJob& one) { one.occasion = "another run"; }));
  EXPECT_TRUE(differs([](ChatJob& one) { one.sample = 3; }));
  EXPECT_TRUE(differs([](ChatJob& one) { one.request.model = "another"; }));
  EXPECT_TRUE(differs([](ChatJob& one) { one.request.messages[0].text += " "; }));
  EXPECT_TRUE(differs([](ChatJob& one) { one.request.messages[0].role = llm::Role::user; }));
  EXPECT_TRUE(differs([](ChatJob& one) { one.request.temperature.reset(); }));
  EXPECT_TRUE(differs([](ChatJob& one) { one.request.seed = 1; }));
  EXPECT_TRUE(differs([](ChatJob& one) { one.request.max_tokens = 1; }));
  EXPECT_TRUE(differs([](ChatJob& one) { one.request.choices = 1; }));
  EXPECT_TRUE(differs([](ChatJob& one) { one.request.json_schema.reset(); }));
  EXPECT_TRUE(differs([](ChatJob& one) { one.request.reasoning_effort = "high"; }));
  EXPECT_TRUE(differs([](ChatJob& one) { one.request.reasoning_tokens = 0; }));
}

TEST(ChatJob, GoesWhereItsModelIs) {
  std::set<std::string> lanes;
  for (const std::string& model :
       {std::string("m"), std::string("M"), std::string("org/model"), std::string("org-model"),
        std::string("gpt-4.1"), std::string("caf\xc3\xa9"), std::string("**"),
        std::string(500, 'x'), std::string(501, 'x')}) {
    const std::string lane = model_lane(model);
    EXPECT_TRUE(check_lane(lane).ok()) << lane;
    EXPECT_TRUE(lanes.insert(lane).second) << lane;
  }
  EXPECT_EQ(job_of(some_chat()).lane, model_lane("tiny"));
}

TEST(ChatJob, IsReadAsForeign) {
  const std::string good = R"({"occasion":"r","sample":0,"request":{"model":"m","max_tokens":0,)"
                           R"("choices":1,"messages":[{"role":"user","text":"x"}]}})";
  EXPECT_TRUE(read_chat_job(good).ok());
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  for (const auto& [from, to] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"("r")", "7"},
           {R"("sample":0)", R"("sample":-1)"},
           {R"("sample":0)", R"("sample":0.5)"},
           {R"("sample":0)", R"("sample":99999999999)"},
           {R"("sample":0)", R"("sample":0,"more":1)"},
           {R"("sample":0,)", ""},
           {R"("m")", R"("")"},
           {R"("choices":1)", R"("choices":0)"},
           {R"("choices":1)", R"("choices":1000)"},
           {R"("choices":1)", R"("choices":99999999999999)"},
           {R"("max_tokens":0)", R"("max_tokens":-1)"},
           {R"("max_tokens":0)", R"("max_tokens":0,"tools":[])"},
           {R"("max_tokens":0)", R"("max_tokens":0,"temperature":"hot")"},
           {R"("max_tokens":0)", R"("max_tokens":0,"temperature":1e999)"},
           {R"("user")", R"("robot")"},
           {R"({"role":"user","text":"x"})", ""},
           {R"("x")", "\"\xff\""}}) {
    EXPECT_FALSE(read_chat_job(changed(from, to)).ok()) << changed(from, to);
  }
  const std::string long_name(1000, 'n');
  EXPECT_FALSE(read_chat_job(changed(R"("m")", "\"" + long_name + "\"")).ok());
  EXPECT_FALSE(read_chat_job(changed(R"("r")", "\"" + long_name + "\"")).ok());
  for (const char* text : {"", "1", "[]", "{}", "null"})
    EXPECT_FALSE(read_chat_job(text).ok()) << text;
}

TEST(ChatReply, ComesBackAsItWas) {
  const llm::ChatAnswer answer = some_answer();
  const auto read = read_reply(reply_text({answer, "host-1"}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->worker, "host-1");
  ASSERT_TRUE(read->result);
  EXPECT_EQ(read->result->choices, answer.choices);
  EXPECT_EQ(read->result->usage, answer.usage);
  EXPECT_EQ(read->result->model, answer.model);
  EXPECT_EQ(read->result->seconds, answer.seconds);
  EXPECT_EQ(read->result->attempts, 2);
  const llm::ChatError error{llm::ChatFailure::overloaded, "too much \xff", 6, answer.usage};
  const auto failed = read_reply(reply_text({error, "host-2"}));
  ASSERT_TRUE(failed.ok()) << failed.error().message;
  ASSERT_FALSE(failed->result);
  EXPECT_EQ(failed->result.error().failure, error.failure);
  EXPECT_EQ(failed->result.error().attempts, 6);
  EXPECT_EQ(failed->result.error().usage, error.usage);
}

TEST(ChatReply, IsReadAsForeign) {
  for (const char* text :
       {"", "1", "[]", "{}", R"({"worker":"w"})", R"({"worker":"w","answer":{}})",
        R"({"worker":"w","answer":{"choices":[]}})", R"({"worker":"w","error":{}})",
        R"({"worker":"w","trouble":"x"})"})
    EXPECT_FALSE(read_reply(text).ok()) << text;
  const auto refused = [](auto change) {
    llm::ChatAnswer answer = some_answer();
    change(answer);
    return !read_reply(reply_text({answer, "w"})).ok();
  };
  // Nobody else may spend what a user allows.
  EXPECT_TRUE(refused([](llm::ChatAnswer& one) { one.usage.prompt_tokens = -1; }));
  EXPECT_TRUE(refused([](llm::ChatAnswer& one) {
    one.usage.completion_tokens = std::numeric_limits<std::int64_t>::max();
  }));
  EXPECT_TRUE(refused([](llm::ChatAnswer& one) { one.attempts = -1; }));
  EXPECT_TRUE(refused([](llm::ChatAnswer& one) { one.seconds = -1.0; }));
  EXPECT_TRUE(refused([](llm::ChatAnswer& one) { one.seconds = 1e300; }));
  EXPECT_TRUE(refused([](llm::ChatAnswer& one) { one.choices.clear(); }));
  EXPECT_TRUE(refused([](llm::ChatAnswer& one) { one.choices.resize(1000); }));
  // Nor say that the user has stopped.
  for (const auto failure : {llm::ChatFailure::cancelled, llm::ChatFailure::not_recorded})
    EXPECT_FALSE(read_reply(reply_text({llm::ChatError{failure, "x", 0, {}}, "w"})).ok());
}

// Whatever is cut out or changed, reading ends with a value or an error.
TEST(ChatReply, SurvivesDamage) {
  const std::string texts[] = {job_of(some_chat()).payload, reply_text({some_answer(), "w"}),
                               reply_text({llm::ChatError{}, "w"})};
  std::uint64_t draw = 0;
  const auto below = [&](std::size_t most) {
    return static_cast<std::size_t>(random_bits(11, draw++) % most);
  };
  for (int round = 0; round < 3000; ++round) {
    for (const std::string& text : texts) {
      std::string damaged = text;
      for (std::size_t times = below(4) + 1; times > 0 && !damaged.empty(); --times) {
        const std::size_t at = below(damaged.size());
        if (below(3) == 0) {
          damaged.erase(at, below(20));
        } else {
          damaged[at] = static_cast<char>(below(256));
        }
      }
      (void)read_chat_job(damaged);
      (void)read_reply(damaged);
    }
  }
}

TEST(NewOccasion, IsNobodyElses) {
  EXPECT_NE(new_occasion(), new_occasion());
}

}  // namespace
}  // namespace regraph::fleet::chat_job_test
