#include "llm/client/fault_server.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <arpa/inet.h>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace regraph::llm {
namespace {

constexpr int kPollMilliseconds = 10;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

// A socket bound to a free port, and the port.
std::pair<FileDescriptor, int> bound_socket() {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    std::abort();  // there is no loopback: no test can run
  return {std::move(socket), ntohs(address.sin_port)};
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Reads a request out of `buffer`, filled from the socket; what follows it stays there.
bool read_request(int socket, std::string& buffer, const std::atomic<bool>& stopping,
                  ReceivedRequest& request) {
  std::size_t head_end = std::string::npos;
  std::size_t length = 0;
  for (;;) {
    if (head_end == std::string::npos) {
      head_end = buffer.find("\r\n\r\n");
      if (head_end != std::string::npos) {
        const std::string head = buffer.substr(0, head_end + 2);
        const std::size_t first_end = head.find("\r\n");
        const std::size_t space = head.find(' ');
        request.method = head.substr(0, space);
        request.target = head.substr(space + 1, head.find(' ', space + 1) - space - 1);
        for (std::size_t at = first_end + 2; at < head.size();) {
          const std::size_t end = head.find("\r\n", at);
          const std::size_t colon = head.find(':', at);
          if (colon < end) {
            const std::size_t value = head.find_first_not_of(' ', colon + 1);
            request.headers[lower(head.substr(at, colon - at))] = head.substr(value, end - value);
          }
          at = end + 2;
        }
        const auto found = request.headers.find("content-length");
        if (found != request.headers.end())
          length = std::strtoull(found->second.c_str(), nullptr, 10);
      }
    }
    if (head_end != std::string::npos && buffer.size() >= head_end + 4 + length) {
      request.body = buffer.substr(head_end + 4, length);
      buffer.erase(0, head_end + 4 + length);
      return true;
    }
    pollfd waiting{socket, POLLIN, 0};
    if (stopping.load()) return false;
    if (::poll(&waiting, 1, kPollMilliseconds) == 0) continue;
    char chunk[16384];
    const ssize_t got = ::recv(socket, chunk, sizeof chunk, 0);
    if (got <= 0) return false;
    buffer.append(chunk, static_cast<std::size_t>(got));
    // Not HTTP, TLS perhaps: real servers say so and hang up.
    if (std::isupper(static_cast<unsigned char>(buffer[0])) == 0) {
      constexpr std::string_view kBad = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
      (void)::send(socket, kBad.data(), kBad.size(), MSG_NOSIGNAL);
      return false;
    }
  }
}

}  // namespace

bool Peer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    if (stopping_.load()) return false;
    pollfd waiting{socket_, POLLOUT, 0};
    if (::poll(&waiting, 1, kPollMilliseconds) == 0) continue;
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (sent <= 0) {
      keep_ = false;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Peer::reply(int status, std::string_view body, std::string_view headers) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " Status\r\n";
  text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size());
  text += "\r\n";
  text += headers;
  text += "\r\n";
  text += body;
  return send(text);
}

void Peer::wait(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    const double left =
        std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0.0 || stopping_.load()) return;
    pollfd waiting{socket_, POLLRDHUP, 0};
    if (::poll(&waiting, 1, std::min(50, static_cast<int>(left * 1e3) + 1)) != 0) {
      keep_ = false;
      return;
    }
  }
}

void Peer::reset() {
  const linger hard{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  keep_ = false;
}

FaultServer::FaultServer(Handler handler) : handler_(std::move(handler)) {
  std::tie(listener_, port_) = bound_socket();
  if (::listen(listener_.get(), 512) != 0) std::abort();
  acceptor_ = std::thread([this] { accept_all(); });
}

FaultServer::~FaultServer() {
  stopping_.store(true);
  acceptor_.join();
  for (std::thread& thread : threads_)
    thread.join();
}

std::string FaultServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

void FaultServer::accept_all() {
  while (!stopping_.load()) {
    pollfd waiting{listener_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, kPollMilliseconds) <= 0) continue;
    const int socket = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    const int no_delay = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof no_delay);
    const int connection = connections_.fetch_add(1);
    threads_.emplace_back([this, socket, connection] { serve(socket, connection); });
  }
}

void FaultServer::serve(int socket, int connection) {
  const FileDescriptor owner(socket);
  std::string buffer;
  for (bool keep = true; keep && !stopping_.load();) {
    ReceivedRequest request;
    if (!read_request(socket, buffer, stopping_, request)) return;
    request.number = requests_.fetch_add(1);
    request.connection = connection;
    Peer peer(socket, stopping_);
    handler_(request, peer);
    keep = peer.kept();
  }
}

int closed_port() {
  return bound_socket().second;
}

std::string chat_body(const std::vector<std::string>& texts, int prompt_tokens,
                      int completion_tokens) {
  nlohmann::json body;
  body["model"] = "served";
  body["choices"] = nlohmann::json::array();
  for (const std::string& text : texts) {
    body["choices"].push_back({{"index", body["choices"].size()},
                               {"message", {{"role", "assistant"}, {"content", text}}},
                               {"finish_reason", "stop"}});
  }
  body["usage"] = {{"prompt_tokens", prompt_tokens},
                   {"completion_tokens", completion_tokens},
                   {"total_tokens", prompt_tokens + completion_tokens}};
  return body.dump();
}

}  // namespace regraph::llm
