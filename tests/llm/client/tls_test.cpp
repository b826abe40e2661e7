// TLS with a certificate that is made here, and without one.
#include "base/files.h"
#include "llm/client/chat_client.h"
#include "llm/client/client_support.h"
#include "llm/client/fault_server.h"

#include <httplib.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <thread>

namespace regraph::llm::tls_test {
namespace {

using KeyPointer = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using CertificatePointer = std::unique_ptr<X509, decltype(&X509_free)>;

CertificatePointer make_certificate(EVP_PKEY* key, const char* address) {
  CertificatePointer certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* const subject = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), subject);
  X509_EXTENSION* const names =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, address);
  X509_add_ext(certificate.get(), names, -1);
  X509_EXTENSION_free(names);
  X509_sign(certificate.get(), key, EVP_sha256());
  return certificate;
}

// A server that answers over TLS as `address`, e.g. "IP:127.0.0.1".
class TlsServer {
 public:
  explicit TlsServer(const char* address)
      : directory_(std::move(*TemporaryDirectory::create("regraph-tls-"))),
        key_(EVP_EC_gen("P-256"), EVP_PKEY_free),
        certificate_(make_certificate(key_.get(), address)),
        server_(certificate_.get(), key_.get()) {
    server_.Post("/v1/chat/completions",
                 [this](const httplib::Request& request, httplib::Response& response) {
                   key_seen_ = request.get_header_value("Authorization");
                   response.set_content(chat_body({"over TLS"}), "application/json");
                 });
    FILE* const file = std::fopen(ca_file().c_str(), "w");
    PEM_write_X509(file, certificate_.get());
    std::fclose(file);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running())
      std::this_thread::yield();
  }
  ~TlsServer() {
    server_.stop();
    thread_.join();
  }
  [[nodiscard]] std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::string ca_file() const { return (directory_.path() / "ca.pem").string(); }
  [[nodiscard]] const std::string& key_seen() const { return key_seen_; }

 private:
  TemporaryDirectory directory_;
  KeyPointer key_;
  CertificatePointer certificate_;
  httplib::SSLServer server_;
  std::string key_seen_;
  int port_ = 0;
  std::thread thread_;
};

TEST(Tls, AnswersWhereTheCertificateIsKnown) {
  TlsServer server("IP:127.0.0.1");
  ChatClientOptions options = quick_options(server.url());
  options.transfer.ca_file = server.ca_file();
  const auto client = make_client(options);
  const ChatResult result = ask(*client);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->choices[0].text, "over TLS");
  EXPECT_EQ(server.key_seen(), "Bearer " + options.key);
}

TEST(Tls, RefusesASelfSignedCertificate) {
  TlsServer server("IP:127.0.0.1");
  const auto client = make_client(quick_options(server.url()));
  const ChatResult result = ask(*client);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().failure, ChatFailure::unreachable);
  EXPECT_EQ(result.error().attempts, 1);
  EXPECT_NE(result.error().message.find("certificate"), std::string::npos)
      << result.error().message;
  EXPECT_EQ(server.key_seen(), "");
}

TEST(Tls, RefusesTheCertificateOfAnother) {
  TlsServer server("IP:127.0.0.2");
  ChatClientOptions options = quick_options(server.url());
  options.transfer.ca_file = server.ca_file();
  const auto client = make_client(options);
  const ChatResult result = ask(*client);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().attempts, 1);
  EXPECT_EQ(server.key_seen(), "");
}

TEST(Tls, RefusesAServerThatSpeaksNone) {
  FaultServer server([](const ReceivedRequest&, Peer& peer) { peer.reply(200, chat_body({"a"})); });
  const auto client =
      make_client(quick_options("https://127.0.0.1:" + std::to_string(server.port())));
  const ChatResult result = ask(*client);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().failure, ChatFailure::unreachable);
  EXPECT_EQ(result.error().attempts, 2);  // tried once more: a handshake may break by chance
  EXPECT_EQ(server.requests(), 0);
}

}  // namespace
}  // namespace regraph::llm::tls_test
