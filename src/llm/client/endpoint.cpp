#include "llm/client/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>

namespace regraph::llm {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

bool is_host_name(std::string_view host) {
  if (host.empty() || host.size() > 253 || host.front() == '.' || host.front() == '-') return false;
  if (host.find("..") != std::string_view::npos) return false;
  return std::all_of(host.begin(), host.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_';
  });
}

bool is_ipv6(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

// "v1", "v1beta", "v4"
bool is_version(std::string_view segment) {
  return segment.size() >= 2 && segment[0] == 'v' && is_digit(segment[1]);
}

bool has_version(std::string_view path) {
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (is_version(path.substr(0, slash))) return true;
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return false;
}

bool is_path(std::string_view path) {
  constexpr std::string_view kOther = "-._~!$&'()*+,;=:@%/";
  return std::all_of(path.begin(), path.end(), [&](char c) {
    return is_letter(c) || is_digit(c) || kOther.find(c) != std::string_view::npos;
  });
}

std::string chat_path(std::string path) {
  constexpr std::string_view kChat = "/chat/completions";
  while (path.ends_with('/'))
    path.pop_back();
  if (path.ends_with(kChat)) return path;
  if (!has_version(path)) path += "/v1";
  return path + std::string(kChat);
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view base_url) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument,
                why + "; a base URL looks like https://api.openai.com/v1 or http://127.0.0.1:8000");
  };
  const std::size_t colon = base_url.find("://");
  if (colon == std::string_view::npos) return refuse("the address of the server has no http://");
  const std::string scheme = lower(base_url.substr(0, colon));
  if (scheme != "http" && scheme != "https")
    return refuse("the address of the server starts with neither http:// nor https://");
  const std::string_view rest = base_url.substr(colon + 3);
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, end);
  const std::string_view path = rest.substr(end);
  // Before anything is quoted: messages are shown and stored.
  if (authority.find('@') != std::string_view::npos)
    return refuse("the address of the server holds a user name or password; keys go elsewhere");
  if (path.find_first_of("?#") != std::string_view::npos)
    return refuse("the address of the server has a query or fragment");
  if (!is_path(path)) return refuse("the path in the address of the server has a bad character");

  Endpoint endpoint;
  endpoint.tls = scheme == "https";
  endpoint.port = endpoint.tls ? 443 : 80;
  std::string written_host;
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return refuse("the IPv6 address has no ']'");
    endpoint.host = lower(authority.substr(1, bracket - 1));
    if (!is_ipv6(endpoint.host)) return refuse("between the brackets is no IPv6 address");
    written_host = "[" + endpoint.host + "]";
    authority.remove_prefix(bracket + 1);
  } else {
    const std::size_t port = std::min(authority.find(':'), authority.size());
    endpoint.host = lower(authority.substr(0, port));
    if (!is_host_name(endpoint.host)) return refuse("the address of the server has no usable host");
    written_host = endpoint.host;
    authority.remove_prefix(port);
  }
  if (!authority.empty()) {
    const char* const last = authority.data() + authority.size();
    const auto [stop, status] = std::from_chars(authority.data() + 1, last, endpoint.port);
    if (authority[0] != ':' || status != std::errc{} || stop != last || endpoint.port < 1 ||
        endpoint.port > 65535)
      return refuse("the address of the server has a bad port");
    written_host += fmt::format(":{}", endpoint.port);
  }
  endpoint.chat_url = scheme + "://" + written_host + chat_path(std::string(path));
  return endpoint;
}

}  // namespace regraph::llm
