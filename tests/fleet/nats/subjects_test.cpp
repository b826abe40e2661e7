#include "fleet/nats/subjects.h"

#include "fleet/nats/nats_lease.h"
#include "fleet/nats/nats_options.h"

#include <gtest/gtest.h>

namespace regraph::fleet::subjects_test {
namespace {

TEST(Subjects, JobsAreFoundInThem) {
  const Hash128 id = hash_text("job");
  const std::string subject = job_subject("predict-0.1.0", id);
  EXPECT_EQ(subject, "regraph.jobs.predict-0_1_0." + id.hex());
  EXPECT_EQ(lane_subjects("predict-0.1.0"), "regraph.jobs.predict-0_1_0.*");
  EXPECT_EQ(job_of_subject(subject, "predict-0.1.0"), id);
  EXPECT_EQ(job_of_subject(subject, "predict-0.1"), std::nullopt);
  EXPECT_EQ(job_of_subject(subject + "0", "predict-0.1.0"), std::nullopt);
  EXPECT_EQ(job_of_subject("regraph.jobs.a." + std::string(32, 'g'), "a"), std::nullopt);
  EXPECT_EQ(job_of_subject("regraph.jobs.a." + std::string(32, 'A'), "a"), std::nullopt);
  EXPECT_EQ(job_of_subject("regraph.jobs.a.+" + std::string(31, '0'), "a"), std::nullopt);
  EXPECT_EQ(job_of_done(done_subject(id)), id);
  EXPECT_EQ(job_of_done("regraph.done."), std::nullopt);
}

TEST(Subjects, DeliveriesAreReadInOldAndNewForm) {
  EXPECT_EQ(deliveries_in("$JS.ACK.regraph_jobs.a.3.17.21.1795656756791552008.0"), 3);
  EXPECT_EQ(deliveries_in("$JS.ACK.hub.ACCHASH.regraph_jobs.a.4.17.21.1795656756791552008.0"), 4);
  EXPECT_EQ(deliveries_in("$JS.ACK.hub.ACCHASH.regraph_jobs.a.5.17.21.179565675679155200.0.rnd"),
            5);
  EXPECT_EQ(deliveries_in(""), 1);
  EXPECT_EQ(deliveries_in("$JS.ACK.a.b.-7.1.1.1.1"), 1);
  EXPECT_EQ(deliveries_in("$JS.ACK.a.b.99999999999999999999.1.1.1.1"), 1);
}

TEST(Servers, AreSplitAndShownWithoutPasswords) {
  EXPECT_EQ(*split_servers("nats://a:1, tls://b:2,c"),
            (std::vector<std::string>{"nats://a:1", "tls://b:2", "c"}));
  for (const char* const wrong : {"", ",", "nats://", "http://a", "nats://a,", "nats://a b"})
    EXPECT_EQ(split_servers(wrong).error().code, ErrorCode::invalid_argument) << wrong;
  EXPECT_EQ(shown_servers("nats://user:secret@a:1,nats://b:2,key@c:3"),
            "nats://a:1,nats://b:2,c:3");
  EXPECT_EQ(split_servers("http://user:secret@a").error().message.find("secret"),
            std::string::npos);
}

}  // namespace
}  // namespace regraph::fleet::subjects_test
