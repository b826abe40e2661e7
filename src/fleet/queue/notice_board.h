// Short texts for all to read: who is there, what went wrong.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace regraph::fleet {

enum class Board : std::uint8_t {
  workers,   // by worker; gone when not posted again for kPresenceSeconds
  failures,  // of jobs, by id (hexadecimal); kept for a week
};

// A worker posts itself three times as often.
inline constexpr double kPresenceSeconds = 15.0;

// Thread-safe. Keys: letters, digits, '-' and '_'. Errors of all: io; of posting: resource (beyond
// what travels in one message).
class NoticeBoard {
 public:
  virtual ~NoticeBoard() = default;
  [[nodiscard]] virtual Status post(Board board, const std::string& key, std::string_view text) = 0;
  // Nothing where there is none.
  [[nodiscard]] virtual Result<std::string> read(Board board, const std::string& key) = 0;
  [[nodiscard]] virtual Status withdraw(Board board, const std::string& key) = 0;
  // All of them, the first `most` by key: boards are open to whoever may write.
  [[nodiscard]] virtual Result<std::map<std::string, std::string>> notices(Board board,
                                                                           std::size_t most) = 0;
};

}  // namespace regraph::fleet
