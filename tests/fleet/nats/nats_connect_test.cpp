// Servers that will not do, and why.
#include "base/child_process.h"
#include "base/files.h"
#include "fleet/nats/jetstream.h"
#include "fleet/nats/nats_house.h"
#include "fleet/nats/nats_library.h"
#include "fleet/nats/nats_session.h"

#include <gtest/gtest.h>

#include <chrono>
#include <unistd.h>

namespace regraph::fleet::nats_connect_test {
namespace {

#define SKIP_WITHOUT_SERVER() \
  if (!NatsServer::program()) GTEST_SKIP() << "needs " << kNatsServerPackage

const Cancellation kNever;

Error refusal(const NatsOptions& options) {
  auto broker = connect_nats(options);
  return broker ? Error{ErrorCode::internal, "connected"} : broker.error();
}

std::shared_ptr<NatsSession> raw_session(const NatsOptions& options) {
  const auto candidates = nats_candidates();
  return NatsSession::open(*load_nats(candidates), options).value();
}

TEST(NatsConnect, IsBuiltIn) {
  EXPECT_TRUE(nats_is_built_in());
}

TEST(NatsConnect, NoServerSaysHowToStartOne) {
  NatsOptions options;
  options.server = "nats://user:secret@127.0.0.1:9";
  const Error error = refusal(options);
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_NE(error.message.find("nats-server -js"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("127.0.0.1:9"), std::string::npos) << error.message;
  EXPECT_EQ(error.message.find("secret"), std::string::npos) << error.message;
}

TEST(NatsConnect, WrongAddressesAndFilesAreRefused) {
  NatsOptions options;
  options.server = "http://a:1";
  EXPECT_EQ(refusal(options).code, ErrorCode::invalid_argument);
  options.server = "nats://127.0.0.1:port";
  EXPECT_NE(refusal(options).code, ErrorCode::internal);
  options = {};
  options.token_file = "/nowhere/token";
  EXPECT_EQ(refusal(options).code, ErrorCode::not_found);
  options = {};
  options.ca_file = "/nowhere/ca.pem";
  EXPECT_EQ(refusal(options).code, ErrorCode::invalid_argument);
  options = {};
  options.certificate_file = "/nowhere/client.pem";
  EXPECT_EQ(refusal(options).code, ErrorCode::invalid_argument);
}

TEST(NatsConnect, TokenIsNeededAndNeverShown) {
  SKIP_WITHOUT_SERVER();
  NatsServer server({"--auth", "open-sesame"});
  NatsOptions options;
  options.server = server.address();
  EXPECT_EQ(refusal(options).code, ErrorCode::permission);
  options.token_file = server.folder() / "token";
  ASSERT_TRUE(write_file(options.token_file, "wrong-one\n").ok());
  const Error error = refusal(options);
  EXPECT_EQ(error.code, ErrorCode::permission) << error.message;
  EXPECT_EQ(error.message.find("wrong-one"), std::string::npos) << error.message;
  ASSERT_TRUE(write_file(options.token_file, "  open-sesame \nsecond line\n").ok());
  const auto broker = connect_nats(options);
  ASSERT_TRUE(broker.ok()) << broker.error().message;
  EXPECT_TRUE((*broker)->post(Board::workers, "me", "here").ok());
  ASSERT_TRUE(write_file(options.token_file, "\n").ok());
  EXPECT_EQ(refusal(options).code, ErrorCode::invalid_argument);
}

TEST(NatsConnect, ServerWithoutJetStreamIsUnsupported) {
  SKIP_WITHOUT_SERVER();
  NatsServer server({}, /*jetstream=*/false);
  NatsOptions options;
  options.server = server.address();
  const Error error = refusal(options);
  EXPECT_EQ(error.code, ErrorCode::unsupported) << error.message;
  EXPECT_NE(error.message.find("-js"), std::string::npos) << error.message;
}

TEST(NatsConnect, StreamsOfOthersAreNotUsed) {
  SKIP_WITHOUT_SERVER();
  NatsServer server;
  NatsOptions options;
  options.server = server.address();
  const auto session = raw_session(options);
  const auto made = ask_api(*session, "STREAM.CREATE.regraph_jobs",
                            {{"name", "regraph_jobs"}, {"subjects", {"regraph.jobs.>"}}}, kNever);
  ASSERT_TRUE(made.ok() && made->refusal == ApiRefusal::none);
  const Error error = refusal(options);
  EXPECT_EQ(error.code, ErrorCode::unsupported) << error.message;
  EXPECT_NE(error.message.find("regraph_jobs"), std::string::npos) << error.message;
}

TEST(NatsConnect, StreamsThatDoAreUsedAsTheyAre) {
  SKIP_WITHOUT_SERVER();
  NatsServer server;
  NatsOptions options;
  options.server = server.address();
  options.result_days = 3.0;
  ASSERT_TRUE(connect_nats(options).ok());
  options.result_days = 5.0;
  const auto broker = connect_nats(options);
  ASSERT_TRUE(broker.ok()) << broker.error().message;
  const auto session = raw_session(options);
  const auto life_seconds = [&](const std::string& bucket) {
    const auto info = ask_api(*session, "STREAM.INFO.KV_" + bucket, nullptr, kNever);
    return number_in(object_in(info->content, "config"), "max_age") / 1000000000;
  };
  EXPECT_EQ(life_seconds("regraph_results"), 3 * 86400);
  EXPECT_EQ(life_seconds("regraph_workers"), 15);
  EXPECT_EQ(life_seconds("regraph_failures"), 7 * 86400);
}

TEST(NatsConnect, UserWithoutRightsIsTold) {
  SKIP_WITHOUT_SERVER();
  const auto folder = TemporaryDirectory::create("regraph-nats-");
  ASSERT_TRUE(folder.ok());
  const auto file = folder->path() / "server.conf";
  ASSERT_TRUE(write_file(file, R"(authorization { users = [ { user: "weak", password: "pw",
      permissions: { publish: "allowed.>", subscribe: ">" } } ] })")
                  .ok());
  NatsServer server({"-c", file});
  NatsOptions options;
  options.server = "nats://weak:pw@127.0.0.1:" + std::to_string(server.port());
  const Error error = refusal(options);
  EXPECT_EQ(error.code, ErrorCode::permission) << error.message;
}

// Keys and certificates, made by openssl: an authority, the server's, a client's and a stranger.
class Certificates {
 public:
  static bool possible() { return ::access("/usr/bin/openssl", X_OK) == 0; }
  Certificates() : folder_(TemporaryDirectory::create("regraph-tls-").value()) {
    for (const char* const authority : {"ca", "stranger"})
      openssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
               "-nodes", "-days", "2", "-subj", std::string("/CN=") + authority, "-keyout",
               file(authority, ".key"), "-out", file(authority, ".pem")});
    EXPECT_TRUE(write_file(file("names", ""), "subjectAltName=IP:127.0.0.1,DNS:localhost").ok());
    for (const char* const holder : {"server", "client"}) {
      openssl({"req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
               "-subj", "/CN=127.0.0.1", "-keyout", file(holder, ".key"), "-out",
               file(holder, ".csr")});
      openssl({"x509", "-req", "-in", file(holder, ".csr"), "-CA", file("ca", ".pem"), "-CAkey",
               file("ca", ".key"), "-CAcreateserial", "-days", "2", "-extfile", file("names", ""),
               "-out", file(holder, ".pem")});
    }
  }
  [[nodiscard]] std::string file(const std::string& name, const std::string& end) const {
    return folder_.path() / (name + end);
  }

 private:
  void openssl(const std::vector<std::string>& arguments) {
    ChildRequest request;
    request.program = "/usr/bin/openssl";
    request.arguments = arguments;
    const auto outcome = run_child(request, kNever);
    ASSERT_TRUE(outcome.ok() && outcome->succeeded()) << (outcome ? outcome->error : "");
  }
  TemporaryDirectory folder_;
};

TEST(NatsConnect, TlsIsSpokenAndCertificatesAreChecked) {
  SKIP_WITHOUT_SERVER();
  if (!Certificates::possible()) GTEST_SKIP() << "needs openssl (Debian: apt-get install openssl)";
  const Certificates certificates;
  NatsServer server({"--tls", "--tlscert", certificates.file("server", ".pem"), "--tlskey",
                     certificates.file("server", ".key"), "--tlscacert",
                     certificates.file("ca", ".pem"), "--tlsverify"});
  NatsOptions options;
  options.server = server.address();
  const Error plain = refusal(options);
  EXPECT_EQ(plain.code, ErrorCode::permission);
  EXPECT_NE(plain.message.find("authority"), std::string::npos) << plain.message;
  options.ca_file = certificates.file("stranger", ".pem");
  const Error stranger = refusal(options);
  EXPECT_EQ(stranger.code, ErrorCode::permission) << stranger.message;
  options.ca_file = certificates.file("ca", ".pem");
  const Error nobody = refusal(options);
  EXPECT_TRUE(nobody.code == ErrorCode::permission || nobody.code == ErrorCode::io)
      << name(nobody.code) << nobody.message;
  options.certificate_file = certificates.file("client", ".pem");
  EXPECT_EQ(refusal(options).code, ErrorCode::invalid_argument);  // without its key
  options.key_file = certificates.file("client", ".key");
  const auto broker = connect_nats(options);
  ASSERT_TRUE(broker.ok()) << broker.error().message;
  EXPECT_TRUE((*broker)->post(Board::workers, "me", "here").ok());
  EXPECT_EQ(*(*broker)->read(Board::workers, "me"), "here");
}

TEST(NatsConnect, TlsOfAServerWithoutIsRefused) {
  SKIP_WITHOUT_SERVER();
  if (!Certificates::possible()) GTEST_SKIP() << "needs openssl (Debian: apt-get install openssl)";
  const Certificates certificates;
  NatsServer server;
  NatsOptions options;
  options.server = server.address();
  options.ca_file = certificates.file("ca", ".pem");
  const Error error = refusal(options);
  EXPECT_EQ(error.code, ErrorCode::invalid_argument) << error.message;
}

}  // namespace
}  // namespace regraph::fleet::nats_connect_test
