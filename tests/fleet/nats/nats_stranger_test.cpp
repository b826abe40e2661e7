// What others write to the server, and what is too large for it.
#include "fleet/nats/nats_trouble.h"
#include "fleet/nats/packing.h"
#include "fleet/nats/subjects.h"

#include <map>
#include <random>

namespace regraph::fleet::nats_stranger_test {
namespace {

using NatsStranger = NatsTrouble;

TEST_F(NatsStranger, GarbageResultsAreRemovedAndTheJobDone) {
  NatsHouse& here = house();
  const std::string subject = fmt::format("$KV.{}.", kResultBucket);
  // Before anybody asks.
  write(subject + numbered(1).id.hex(), "garbage");
  auto answer = asked(here.broker(), numbered(1));
  auto lease = taken(here.another());
  ASSERT_NE(lease, nullptr);
  // And while somebody is at it.
  write(subject + numbered(1).id.hex(), "more garbage");
  EXPECT_TRUE(*lease->finish("good", kNever));
  EXPECT_EQ(*answer.get(), "good");
  EXPECT_EQ(*here.another().ask(numbered(1), kNever), "good");
  EXPECT_EQ(here.told().count("cannot be read"), 1);
}

TEST_F(NatsStranger, DeletedResultsAreNone) {
  NatsHouse& here = house();
  const std::string subject = fmt::format("$KV.{}.{}", kResultBucket, numbered(1).id.hex());
  const auto marked = store(
      stranger(),
      {.subject = subject, .data = {}, .reply = {}, .headers = {{"KV-Operation", "DEL"}}}, kNever);
  ASSERT_TRUE(marked.ok() && marked->refusal == ApiRefusal::none);
  auto answer = asked(here.broker(), numbered(1));
  auto lease = taken(here.another());
  ASSERT_NE(lease, nullptr);
  EXPECT_TRUE(*lease->finish("good", kNever));
  EXPECT_EQ(*answer.get(), "good");
}

TEST_F(NatsStranger, GarbageJobsAreRemoved) {
  NatsHouse& here = house();
  write("regraph.jobs." + lane_token(kLane) + ".no-hash", pack("payload"));
  write(job_subject(kLane, numbered(1).id), "garbage");
  write(job_subject(kLane, numbered(2).id), pack(""));
  auto lease = taken(here.another());
  ASSERT_NE(lease, nullptr);
  EXPECT_EQ(lease->job().id, numbered(2).id);
  EXPECT_TRUE(*lease->finish("x", kNever));
  EXPECT_EQ(taken(here.another(), 0.2), nullptr);
  EXPECT_EQ(here.broker().state(kLane)->waiting, 0U);
  EXPECT_EQ(here.told().count("cannot be read"), 1);
}

TEST_F(NatsStranger, DamagedBlobsAreNoticed) {
  NatsHouse& here = house();
  const std::string bytes(700000, 'a');
  const Hash128 id = hash_text(bytes);
  ASSERT_TRUE(here.broker().keep(id, bytes, kNever).ok());
  const std::string subject = fmt::format("$KV.{}.{}", kBlobBucket, id.hex());
  write(subject + ".1", pack(std::string(700000 - (512 << 10), 'b')));
  EXPECT_EQ(here.another().fetch(id).error().code, ErrorCode::parse);
  write(subject + ".1", "garbage");
  EXPECT_EQ(here.another().fetch(id).error().code, ErrorCode::parse);
  for (const char* const size : {"-1", "x", "", "99999999999999999999999", "9999999999999"}) {
    write(subject + ".size", size);
    EXPECT_EQ(here.another().fetch(id).error().code, ErrorCode::parse) << size;
  }
  // Says more than there is.
  write(subject + ".size", "1073741824");
  EXPECT_NE(here.another().fetch(id).error().code, ErrorCode::internal);
}

TEST_F(NatsStranger, GarbageNoticesAreNothing) {
  NatsHouse& here = house();
  ASSERT_TRUE(here.broker().post(Board::workers, "good", "text").ok());
  write(fmt::format("$KV.{}.bad", kWorkerBucket), "garbage");
  write(fmt::format("$KV.{}.bomb", kWorkerBucket), pack(std::string(kLargestNotice + 1, '\0')));
  write(fmt::format("$KV.{}.two.parts", kWorkerBucket), pack("x"));
  EXPECT_EQ(*here.another().read(Board::workers, "bad"), "");
  using Notices = std::map<std::string, std::string>;
  EXPECT_EQ(*here.another().notices(Board::workers, 10), (Notices{{"good", "text"}}));
}

TEST_F(NatsStranger, ForgedAnnouncementsOnlyMakeItLook) {
  NatsHouse& here = house();
  auto answer = asked(here.broker(), numbered(1));
  ASSERT_TRUE(queued(here.broker()));
  for (const std::string& subject :
       {done_subject(numbered(1).id), std::string("regraph.done.x"), done_subject(numbered(2).id)})
    ASSERT_TRUE(stranger()
                    .publish({.subject = subject, .data = "forged", .reply = {}, .headers = {}})
                    .ok());
  EXPECT_EQ(answer.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  EXPECT_TRUE(*taken(here.another())->finish("true", kNever));
  EXPECT_EQ(*answer.get(), "true");
}

TEST_F(NatsStranger, WhatIsTooLargeIsRefusedAtOnce) {
  NatsHouse& here = house();
  std::mt19937 random(3);
  std::string noise(2 << 20, '\0');
  for (char& byte : noise)
    byte = static_cast<char>(random());
  Job job = numbered(1);
  job.payload = noise;
  EXPECT_EQ(here.broker().ask(job, kNever).error().code, ErrorCode::resource);
  EXPECT_EQ(here.broker().post(Board::failures, "x", noise).error().code, ErrorCode::resource);
  // The server would take it, but nobody would unpack it.
  job.payload.assign(kLargestText + 1, '\0');
  EXPECT_EQ(here.broker().ask(job, kNever).error().code, ErrorCode::resource);
  auto answer = asked(here.broker(), numbered(2));
  auto lease = taken(here.another());
  ASSERT_NE(lease, nullptr);
  const auto written = lease->finish(noise, kNever);
  EXPECT_EQ(written.error().code, ErrorCode::resource);
  EXPECT_NE(written.error().message.find("max_payload"), std::string::npos);
  // The connection has not suffered.
  EXPECT_TRUE(*lease->finish("small", kNever));
  EXPECT_EQ(*answer.get(), "small");
}

}  // namespace
}  // namespace regraph::fleet::nats_stranger_test
