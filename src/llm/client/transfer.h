// One HTTP POST, as it is asked for and as it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace regraph::llm {

// How all transfers are made.
struct TransferOptions {
  // URL of a proxy (http, https, socks5, ...); empty: none. The environment is not looked at.
  std::string proxy;
  std::string no_proxy;           // hosts, separated by commas, that are reached without it
  std::string ca_file;            // PEM; empty: the certificates that libcurl knows
  double connect_seconds = 10.0;  // for looking up the name, connecting and TLS
  // A body that has begun must bring this many bytes in each such span of time. Blank lines that
  // servers send while they think are no beginning.
  double slow_seconds = 30.0;
  std::int64_t slow_bytes = 64;
  std::size_t body_bytes = std::size_t{8} << 20;  // the longest body, after decompression
};

struct HttpPost {
  std::string url;
  std::string body;      // JSON
  std::string key;       // goes into the Authorization header and nowhere else; empty: none
  double seconds = 0.0;  // limit from now to the last byte; 0 or less: none
};

enum class TransferFault : std::uint8_t {
  none,         // there is a reply, whatever its status
  resolve,      // no such host
  connect,      // refused, no route, no connection in time
  certificate,  // TLS works, but the server is not who it should be
  handshake,    // TLS does not work: not a TLS server, no common version
  proxy,        // the proxy cannot be reached or refuses
  reset,        // the connection broke before there was an answer
  timed_out,    // HttpPost::seconds are over
  slow,         // the body came too slowly
  too_long,     // the body or the headers are longer than allowed
  cut,          // the body ended too early
  protocol,     // the other side does not speak HTTP
  cancelled,    // by the caller or because the engine ends
  internal,     // libcurl refused an option or ran out of memory
};
// Returns the word for reports, e.g. "timed_out".
[[nodiscard]] const char* name(TransferFault fault);

struct HttpOutcome {
  TransferFault fault = TransferFault::none;
  std::string message;      // one line, empty where there is no fault; not scrubbed
  int status = 0;           // 0: none was received
  std::string body;         // as far as it came
  std::string retry_after;  // headers of these names
  std::string date;
  std::string location;
  double seconds = 0.0;  // that the transfer took
};

}  // namespace regraph::llm
