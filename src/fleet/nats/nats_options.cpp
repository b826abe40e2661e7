#include "fleet/nats/nats_options.h"

#include "base/files.h"
#include "fleet/nats/nats_api.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <string_view>
#include <unistd.h>

namespace regraph::fleet {
namespace {

constexpr std::size_t kLongestTokenFile = 4096;
constexpr int kConnectMilliseconds = 3000;
constexpr int kPingMilliseconds = 10000;
constexpr int kPingsUnanswered = 2;
constexpr int kWriteMilliseconds = 10000;

std::string trimmed(std::string_view text) {
  const auto space = [](char character) {
    return std::isspace(static_cast<unsigned char>(character)) != 0;
  };
  while (!text.empty() && space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && space(text.back()))
    text.remove_suffix(1);
  return std::string(text);
}

Error refused_option(const NatsApi& api, natsStatus status, const std::string& what) {
  const char* const detail = api.get_last_error(nullptr);
  return fail(ErrorCode::invalid_argument,
              fmt::format("{}: {}{}{}", what, api.status_text(status),
                          detail == nullptr || *detail == '\0' ? "" : ": ",
                          detail == nullptr ? "" : detail));
}

Status readable(const std::filesystem::path& file, const char* what) {
  if (::access(file.c_str(), R_OK) == 0) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{}: the {} cannot be read", file.string(), what));
}

Status set_certificates(const NatsApi& api, const NatsOptions& options, natsOptions* made) {
  const bool own = !options.certificate_file.empty() || !options.key_file.empty();
  if (own && (options.certificate_file.empty() || options.key_file.empty()))
    return fail(ErrorCode::invalid_argument, "a client's certificate and its key go together");
  if (own && options.ca_file.empty())
    return fail(ErrorCode::invalid_argument,
                "a client's certificate needs the server's authority (CA file), too");
  if (options.ca_file.empty()) return {};
  if (Status good = readable(options.ca_file, "server's authority"); !good) return good;
  natsStatus status = api.set_secure(made, true);
  if (status == NATS_OK) status = api.load_authorities(made, options.ca_file.c_str());
  if (status != NATS_OK) return refused_option(api, status, options.ca_file.string());
  if (!own) return {};
  if (Status good = readable(options.certificate_file, "client's certificate"); !good) return good;
  if (Status good = readable(options.key_file, "client's key"); !good) return good;
  status = api.load_certificate(made, options.certificate_file.c_str(), options.key_file.c_str());
  if (status != NATS_OK) return refused_option(api, status, options.certificate_file.string());
  return {};
}

// What needs no thought of the user's.
natsStatus set_manners(const NatsApi& api, natsOptions* made) {
  natsStatus status = api.set_name(made, "regraph");
  const auto then = [&](natsStatus next) {
    if (status == NATS_OK) status = next;
  };
  then(api.set_timeout(made, kConnectMilliseconds));
  // A lost connection is replaced by a new one (nats_connection.h): one way for all losses, and
  // nothing that was sent is ever in doubt for long.
  then(api.set_allow_reconnect(made, false));
  then(api.set_ping_interval(made, kPingMilliseconds));
  then(api.set_max_pings_out(made, kPingsUnanswered));
  // Else every request waits for a thread that gathers more of them.
  then(api.set_send_asap(made, true));
  then(api.set_write_deadline(made, kWriteMilliseconds));
  // Else every subscription has a thread of its own, and each take is one.
  then(api.use_global_message_delivery(made, true));
  return status;
}

}  // namespace

Result<std::vector<std::string>> split_servers(const std::string& servers) {
  std::vector<std::string> split;
  std::size_t begin = 0;
  while (begin <= servers.size()) {
    const std::size_t end = std::min(servers.find(',', begin), servers.size());
    const std::string one = trimmed(std::string_view(servers).substr(begin, end - begin));
    begin = end + 1;
    const std::size_t scheme = one.find("://");
    const bool known =
        scheme == one.npos || one.starts_with("nats://") || one.starts_with("tls://");
    const std::size_t host = scheme == one.npos ? 0 : scheme + 3;
    if (one.size() == host || !known || one.find_first_of(" \t\"'") != one.npos)
      return fail(ErrorCode::invalid_argument,
                  fmt::format("'{}' is no address of a NATS server, e.g. nats://127.0.0.1:4222",
                              shown_servers(one)));
    split.push_back(one);
  }
  return split;
}

std::string shown_servers(const std::string& servers) {
  std::string shown;
  std::size_t begin = 0;
  while (begin <= servers.size()) {
    const std::size_t end = std::min(servers.find(',', begin), servers.size());
    const std::string one = servers.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t at = one.rfind('@');
    const std::size_t scheme = one.find("://");
    const std::size_t host = scheme == one.npos ? 0 : scheme + 3;
    if (!shown.empty()) shown += ',';
    shown += at == one.npos || at < host ? one : one.substr(0, host) + one.substr(at + 1);
  }
  return shown;
}

Result<std::string> read_token(const NatsOptions& options) {
  if (options.token_file.empty()) return std::string();
  auto content = read_file(options.token_file, kLongestTokenFile);
  if (!content) return content;
  std::string token = trimmed(content->substr(0, content->find('\n')));
  if (token.empty())
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}:1: there is no token", options.token_file.string()));
  return token;
}

Result<NatsOptionsHandle> make_options(const NatsApi& api, const NatsOptions& options) {
  const auto servers = split_servers(options.server);
  if (!servers) return servers.error();
  const auto token = read_token(options);
  if (!token) return token.error();
  natsOptions* bare = nullptr;
  if (api.options_create(&bare) != NATS_OK) return fail(ErrorCode::resource, "out of memory");
  NatsOptionsHandle made(bare, api.options_destroy);
  std::vector<const char*> addresses;
  addresses.reserve(servers->size());
  for (const std::string& one : *servers)
    addresses.push_back(one.c_str());
  natsStatus status = api.set_servers(bare, addresses.data(), static_cast<int>(addresses.size()));
  if (status == NATS_OK && !token->empty()) status = api.set_token(bare, token->c_str());
  if (status == NATS_OK) status = set_manners(api, bare);
  if (status != NATS_OK) return refused_option(api, status, shown_servers(options.server));
  if (const Status good = set_certificates(api, options, bare); !good) return good.error();
  return made;
}

}  // namespace regraph::fleet
