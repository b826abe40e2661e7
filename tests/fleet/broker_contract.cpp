#include "fleet/broker_contract.h"

#include "fleet/contract_people.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace regraph::fleet {

bool BrokerContract::open(double lease_seconds) {
  house_ = GetParam().build(lease_seconds);
  return house_ != nullptr;
}

namespace {

TEST_P(BrokerContract, ResultComesToWhoAsks) {
  OPEN_OR_SKIP();
  const Job job = job_of("a payload");
  Asker asker(broker(), job);
  const auto lease = take_one(another(), job.lane);
  ASSERT_NE(lease, nullptr);
  EXPECT_EQ(lease->job().payload, job.payload);
  EXPECT_EQ(lease->job().lane, job.lane);
  EXPECT_EQ(lease->job().id, job.id);
  EXPECT_EQ(lease->deliveries(), 1);
  expect_first(*lease, "the result");
  const auto answer = asker.answer();
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(*answer, "the result");
}

TEST_P(BrokerContract, KnownResultComesAtOnceAndIsNoJob) {
  OPEN_OR_SKIP();
  const Job job = job_of("known");
  {
    Asker asker(broker(), job);
    const auto lease = take_one(broker(), job.lane);
    ASSERT_NE(lease, nullptr);
    expect_first(*lease, "42");
    EXPECT_EQ(*asker.answer(), "42");
  }
  EXPECT_EQ(*another().ask(job, kNever), "42");
  EXPECT_EQ(take_one(broker(), job.lane, 0.1), nullptr);
}

TEST_P(BrokerContract, EmptyAndBinaryBytesTravel) {
  OPEN_OR_SKIP();
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte)
    bytes.push_back(static_cast<char>(byte));
  for (const std::string& text : {std::string(), bytes}) {
    const Job job = job_of(text);
    Asker asker(broker(), job);
    const auto lease = take_one(another(), job.lane);
    ASSERT_NE(lease, nullptr);
    EXPECT_EQ(lease->job().payload, text);
    expect_first(*lease, text);
    EXPECT_EQ(*asker.answer(), text);
  }
}

TEST_P(BrokerContract, JobsAskedForTwiceAreQueuedOnce) {
  OPEN_OR_SKIP();
  const Job job = job_of("twice");
  Asker one(broker(), job);
  Asker two(another(), job);
  const auto lease = take_one(broker(), job.lane);
  ASSERT_NE(lease, nullptr);
  // Neither while it waits nor while somebody has it.
  Asker three(broker(), job);
  EXPECT_EQ(take_one(broker(), job.lane, 0.3), nullptr);
  expect_first(*lease, "once");
  EXPECT_EQ(*one.answer(), "once");
  EXPECT_EQ(*two.answer(), "once");
  EXPECT_EQ(*three.answer(), "once");
}

TEST_P(BrokerContract, LeaseThatRunsOutGivesTheJobToAnother) {
  OPEN_OR_SKIP(0.5);
  const Job job = job_of("slow");
  Asker asker(broker(), job);
  const auto slow = take_one(broker(), job.lane);
  ASSERT_NE(slow, nullptr);
  const auto quick = take_one(another(), job.lane);
  ASSERT_NE(quick, nullptr);
  EXPECT_EQ(quick->deliveries(), 2);
  // The first to write it wins, and it is no error to be late.
  expect_first(*quick, "quick");
  expect_first(*slow, "slow", false);
  EXPECT_EQ(*asker.answer(), "quick");
  EXPECT_EQ(*broker().ask(job, kNever), "quick");
  EXPECT_EQ(take_one(broker(), job.lane, 0.8), nullptr);
}

TEST_P(BrokerContract, LateWorkerMayBeFirst) {
  OPEN_OR_SKIP(0.4);
  const Job job = job_of("late but first");
  Asker asker(broker(), job);
  const auto late = take_one(broker(), job.lane);
  ASSERT_NE(late, nullptr);
  const auto second = take_one(another(), job.lane);
  ASSERT_NE(second, nullptr);
  expect_first(*late, "late");
  expect_first(*second, "second", false);
  EXPECT_EQ(*asker.answer(), "late");
}

TEST_P(BrokerContract, ExtendedLeaseIsKept) {
  OPEN_OR_SKIP(0.6);
  const Job job = job_of("long");
  Asker asker(broker(), job);
  const auto lease = take_one(broker(), job.lane);
  ASSERT_NE(lease, nullptr);
  for (int part = 0; part < 6; ++part) {
    EXPECT_EQ(take_one(another(), job.lane, 0.2), nullptr);
    lease->extend();
  }
  expect_first(*lease, "done");
  EXPECT_EQ(*asker.answer(), "done");
}

TEST_P(BrokerContract, JobsGivenBackAreHadByOthers) {
  OPEN_OR_SKIP();
  const Job job = job_of("given back");
  Asker asker(broker(), job);
  auto lease = take_one(broker(), job.lane);
  ASSERT_NE(lease, nullptr);
  lease->give_back(0.0);
  lease = take_one(another(), job.lane);
  ASSERT_NE(lease, nullptr);
  EXPECT_EQ(lease->deliveries(), 2);
  const auto before = std::chrono::steady_clock::now();
  lease->give_back(0.5);
  lease = take_one(broker(), job.lane);
  ASSERT_NE(lease, nullptr);
  EXPECT_EQ(lease->deliveries(), 3);
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(450));
  expect_first(*lease, "third");
  EXPECT_EQ(*asker.answer(), "third");
}

TEST_P(BrokerContract, CancelledAskLeavesTheJob) {
  OPEN_OR_SKIP();
  const Job job = job_of("left");
  {
    Asker asker(broker(), job);
    EXPECT_FALSE(asker.answered(0.3));
    asker.cancel();
    const auto answer = asker.answer();
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, ErrorCode::cancelled);
  }
  const auto lease = take_one(another(), job.lane);
  ASSERT_NE(lease, nullptr);
  expect_first(*lease, "still done");
  EXPECT_EQ(*broker().ask(job, kNever), "still done");
}

TEST_P(BrokerContract, WrongNamesAreRefused) {
  OPEN_OR_SKIP();
  for (const std::string& lane :
       {std::string(), std::string("a_b"), std::string("a*"), std::string("a>"), std::string("a b"),
        std::string("a\r\nPUB x"), std::string(101, 'a')}) {
    EXPECT_EQ(broker().ask(job_of("x", lane), kNever).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(broker().take({&lane, 1}, 0.1, kNever).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(broker().state(lane).error().code, ErrorCode::invalid_argument);
  }
  for (const char* const key : {"", "a.b", "*", "a b"}) {
    EXPECT_EQ(broker().post(Board::workers, key, "x").error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(broker().read(Board::workers, key).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(broker().withdraw(Board::workers, key).error().code, ErrorCode::invalid_argument);
  }
  EXPECT_EQ(broker().keep(hash_text("a"), "b", kNever).error().code, ErrorCode::invalid_argument);
}

TEST_P(BrokerContract, BlobsOfAnyLengthAreKept) {
  OPEN_OR_SKIP();
  std::string noise(3 << 20, '\0');
  std::uint64_t state = 1;
  for (char& byte : noise) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<char>(state >> 56);
  }
  for (const std::string& bytes : {std::string(), std::string("short"), std::string(512 << 10, 'x'),
                                   std::string((512 << 10) + 1, 'y'), noise}) {
    const Hash128 id = hash_text(bytes);
    EXPECT_EQ(another().fetch(id).error().code, ErrorCode::not_found);
    for (int twice = 0; twice < 2; ++twice) {
      const Status kept = broker().keep(id, bytes, kNever);
      ASSERT_TRUE(kept.ok()) << kept.error().message;
    }
    const auto fetched = another().fetch(id);
    ASSERT_TRUE(fetched.ok()) << fetched.error().message;
    EXPECT_TRUE(*fetched == bytes);
  }
}

TEST_P(BrokerContract, NoticesAreReadReplacedAndWithdrawn) {
  OPEN_OR_SKIP();
  EXPECT_EQ(*broker().read(Board::failures, "nobody"), "");
  for (const char* const key : {"d", "b", "a", "c"})
    ASSERT_TRUE(broker().post(Board::failures, key, std::string("text of ") + key).ok());
  ASSERT_TRUE(broker().post(Board::workers, "a", "a worker").ok());
  ASSERT_TRUE(broker().post(Board::failures, "b", "newer").ok());
  EXPECT_EQ(*another().read(Board::failures, "b"), "newer");
  EXPECT_EQ(*another().read(Board::workers, "a"), "a worker");
  using Notices = std::map<std::string, std::string>;
  EXPECT_EQ(*another().notices(Board::failures, 3),
            (Notices{{"a", "text of a"}, {"b", "newer"}, {"c", "text of c"}}));
  ASSERT_TRUE(broker().withdraw(Board::failures, "a").ok());
  ASSERT_TRUE(broker().withdraw(Board::failures, "never-there").ok());
  EXPECT_EQ(*another().read(Board::failures, "a"), "");
  EXPECT_EQ(another().notices(Board::failures, 100)->size(), 3U);
  EXPECT_EQ(another().notices(Board::workers, 100)->size(), 1U);
  EXPECT_EQ(another().notices(Board::workers, 0)->size(), 0U);
}

}  // namespace

}  // namespace regraph::fleet
