// Messages as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::fleet {

// Who wrote a message, so that it finds out whether it did when the answer was lost.
inline constexpr const char* kWriterHeader = "Regraph-Writer";

// What came. Everything in it is what somebody else wrote.
struct Message {
  std::string subject;
  std::string reply;  // where an answer is expected; empty: nowhere
  std::string data;
  // Of a message by the server itself, else 0; 503: nobody listens to what was asked.
  int status = 0;
  std::string description;  // printable
  // Of what a stream keeps, where the server says them.
  std::uint64_t sequence = 0;
  std::string time;       // "2022-11-26T01:32:39.805597534Z"
  std::string writer;     // as kWriterHeader says
  std::string operation;  // "DEL" or "PURGE": a key that other programs deleted
};

// What goes. Its parts must outlive the call.
struct Outgoing {
  std::string_view subject;
  std::string_view data;
  std::string_view reply;
  std::vector<std::pair<const char*, std::string>> headers;
};

}  // namespace regraph::fleet
