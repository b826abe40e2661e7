// Notices on the server.
#pragma once

#include "base/result.h"
#include "fleet/nats/bucket.h"
#include "fleet/nats/nats_core.h"
#include "fleet/queue/notice_board.h"

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace regraph::fleet {

// Thread-safe.
class NatsBoards final : public NoticeBoard {
 public:
  explicit NatsBoards(NatsCore& core);

  [[nodiscard]] Status post(Board board, const std::string& key, std::string_view text) override;
  [[nodiscard]] Result<std::string> read(Board board, const std::string& key) override;
  [[nodiscard]] Status withdraw(Board board, const std::string& key) override;
  [[nodiscard]] Result<std::map<std::string, std::string>> notices(Board board,
                                                                   std::size_t most) override;

 private:
  [[nodiscard]] const Bucket& bucket(Board board) const {
    return buckets_.at(static_cast<std::size_t>(board));
  }

  NatsCore& core_;
  std::array<Bucket, 2> buckets_;
};

}  // namespace regraph::fleet
