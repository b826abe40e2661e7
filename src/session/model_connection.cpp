#include "session/model_connection.h"

#include "base/files.h"
#include "session/server_presets.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace regraph {

namespace {

constexpr std::size_t kLargestKey = 16 << 10;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Neither end of a key is white space, but a file has a last newline.
std::string trimmed(const std::string& text) {
  constexpr const char* kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// As curl reads them: lower case first; http_proxy in upper case is not read, because web servers
// set it from a header of a request.
std::string proxy_for(const std::string& url) {
  std::string proxy =
      url.starts_with("https:") ? environment("https_proxy") : environment("http_proxy");
  if (proxy.empty() && url.starts_with("https:")) proxy = environment("HTTPS_PROXY");
  if (proxy.empty()) proxy = environment("all_proxy");
  if (proxy.empty()) proxy = environment("ALL_PROXY");
  return proxy;
}

Result<std::string, SessionError> read_key(const LanguageModelOptions& options) {
  if (options.key_file.empty()) return trimmed(environment("OPENAI_API_KEY"));
  auto text = read_file(options.key_file, kLargestKey);
  if (!text) return usage("--llm-key-file: " + text.error().message);
  std::string key = trimmed(*text);
  if (key.empty()) return usage("--llm-key-file: '" + options.key_file + "' holds no key");
  return key;
}

}  // namespace

Result<std::unique_ptr<llm::ChatClient>, SessionError> connect_language_model(
    const LanguageModelOptions& options, std::uint64_t seed) {
  const ServerPreset* preset = nullptr;
  if (!options.server.empty()) {
    preset = find_server_preset(options.server);
    if (preset == nullptr) {
      return usage(
          fmt::format("--llm-server: '{}' is not known (known: {}); any other is "
                      "named by --llm-url",
                      options.server, server_preset_names()));
    }
  }
  const std::string url = !options.url.empty() ? options.url
                          : preset != nullptr  ? std::string(preset->url)
                                               : "";
  if (url.empty()) {
    return usage(
        fmt::format("the language model needs a server: --llm-url http://HOST:PORT/v1 or "
                    "OPENAI_BASE_URL, or --llm-server with one of {}",
                    server_preset_names()));
  }
  llm::ChatClientOptions client;
  client.base_url = url;
  auto key = read_key(options);
  if (!key) return std::move(key).error();
  client.key = *std::move(key);
  if (client.key.empty() && preset != nullptr && preset->needs_key && options.url.empty()) {
    return usage(
        fmt::format("--llm-server {} needs a key: set OPENAI_API_KEY, or name a file "
                    "with --llm-key-file",
                    options.server));
  }
  if (preset != nullptr) client.dialect = preset->dialect;
  client.transfer.proxy = proxy_for(url);
  client.transfer.no_proxy = environment("no_proxy");
  if (client.transfer.no_proxy.empty()) client.transfer.no_proxy = environment("NO_PROXY");
  client.transfer.ca_file = options.ca_file;
  client.total_seconds = options.timeout_seconds;
  client.request_seconds = options.timeout_seconds;
  client.in_flight = options.in_flight;
  client.rates.requests_per_minute = options.requests_per_minute;
  client.rates.tokens_per_minute = options.tokens_per_minute;
  client.retry.seed = seed;
  auto created = llm::ChatClient::create(std::move(client));
  if (!created) {
    const bool ours = created.error().code == ErrorCode::resource;
    return SessionError{ours ? FailureCause::internal : FailureCause::usage,
                        "the language model: " + created.error().message};
  }
  return *std::move(created);
}

}  // namespace regraph
