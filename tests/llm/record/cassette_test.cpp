#include "llm/record/cassette.h"

#include "base/files.h"
#include "llm/record/scripted_model.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace regraph::llm::cassette_test {
namespace {

class Cassettes : public testing::Test {
 protected:
  std::filesystem::path file() const { return directory_->path() / "talk.jsonl"; }
  Result<TemporaryDirectory> directory_ = TemporaryDirectory::create("regraph-cassette-");
  Cancellation none_;
};

TEST_F(Cassettes, PlayBackWhatWasRecordedFailuresToo) {
  ScriptedModel model([](const ChatRequest& request) -> ChatResult {
    if (request.messages[1].text == "bad") return ChatError{ChatFailure::overloaded, "busy", 3, {}};
    return answer_of("to " + request.messages[1].text);
  });
  {
    auto recorder = CassetteRecorder::open(model, file());
    ASSERT_TRUE(recorder) << recorder.error().message;
    for (const char* text : {"one", "bad", "one", "two"})
      (void)(*recorder)->complete(request_of(text), none_);
    EXPECT_TRUE((*recorder)->status().ok());
  }
  auto player = CassettePlayer::open(file());
  ASSERT_TRUE(player) << player.error().message;
  EXPECT_EQ((*player)->size(), 3U);
  const int calls = model.calls;
  const ChatResult one = (*player)->complete(request_of("one"), none_);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->choices[0].text, "to one");
  EXPECT_EQ(one->usage.prompt_tokens, 40);
  const ChatResult bad = (*player)->complete(request_of("bad"), none_);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().failure, ChatFailure::overloaded);
  const ChatResult unknown = (*player)->complete(request_of("three"), none_);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().failure, ChatFailure::not_recorded);
  EXPECT_NE(unknown.error().message.find("talk.jsonl"), std::string::npos);
  EXPECT_EQ(model.calls, calls);
}

TEST_F(Cassettes, GoOnAfterACutAndDoNotRecordTwice) {
  ScriptedModel model([](const ChatRequest&) { return answer_of("x"); });
  for (const char* text : {"one", "two"}) {
    auto recorder = CassetteRecorder::open(model, file());
    ASSERT_TRUE(recorder) << recorder.error().message;
    (void)(*recorder)->complete(request_of("one"), none_);
    (void)(*recorder)->complete(request_of(text), none_);
  }
  std::string text = *read_file(file(), 1 << 20);
  ASSERT_TRUE(write_file(file(), text.substr(0, text.size() - 20)));  // cut in the last line
  ASSERT_TRUE(CassettePlayer::open(file()));
  EXPECT_EQ((*CassettePlayer::open(file()))->size(), 1U);
  {
    auto recorder = CassetteRecorder::open(model, file());
    ASSERT_TRUE(recorder) << recorder.error().message;
    (void)(*recorder)->complete(request_of("two"), none_);
  }
  EXPECT_EQ((*CassettePlayer::open(file()))->size(), 2U);
}

TEST_F(Cassettes, CancelledRequestsAreNotRecorded) {
  ScriptedModel model([](const ChatRequest&) {
    return ChatError{ChatFailure::cancelled, "", 1, {}};
  });
  {
    auto recorder = CassetteRecorder::open(model, file());
    (void)(*recorder)->complete(request_of("one"), none_);
  }
  EXPECT_EQ((*CassettePlayer::open(file()))->size(), 0U);
}

TEST_F(Cassettes, ManyThreadsWriteWholeLines) {
  ScriptedModel model(
      [](const ChatRequest& request) { return answer_of(request.messages[1].text); });
  {
    auto recorder = CassetteRecorder::open(model, file());
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, thread] {
        for (int index = 0; index < 20; ++index) {
          const std::string text = std::to_string(thread % 4) + "-" + std::to_string(index);
          (void)(*recorder)->complete(request_of(text + std::string(3000, 'x')), none_);
        }
      });
    }
    for (std::thread& thread : threads)
      thread.join();
  }
  EXPECT_EQ((*CassettePlayer::open(file()))->size(), 80U);
}

TEST_F(Cassettes, SayWhatIsWrongAndWhere) {
  const auto message = [&](const std::string& text) {
    EXPECT_TRUE(write_file(file(), text));
    auto player = CassettePlayer::open(file());
    return player ? std::string("fine") : player.error().message;
  };
  const std::string head = "{\"format\": \"regraph-cassette/1\"}\n";
  EXPECT_EQ(message(head), "fine");
  EXPECT_NE(message("").find("empty"), std::string::npos);
  EXPECT_NE(message("{}\n").find("talk.jsonl:1: this is no recording"), std::string::npos);
  EXPECT_NE(message("\x7f"
                    "ELF\n")
                .find(":1:"),
            std::string::npos);
  EXPECT_NE(message(head + "{\"key\": \"a\"}\n").find("talk.jsonl:2:"), std::string::npos);
  EXPECT_NE(message(head + "\n[]\n").find("talk.jsonl:3:"), std::string::npos);
  auto absent = CassettePlayer::open(directory_->path() / "absent");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::not_found);
  ScriptedModel model([](const ChatRequest&) { return answer_of("x"); });
  ASSERT_TRUE(write_file(file(), "int main() {}\n"));
  EXPECT_FALSE(CassetteRecorder::open(model, file()));
  EXPECT_EQ(*read_file(file(), 100), "int main() {}\n");  // not touched
  EXPECT_FALSE(CassetteRecorder::open(model, directory_->path() / "no" / "such" / "folder"));
}

}  // namespace
}  // namespace regraph::llm::cassette_test
