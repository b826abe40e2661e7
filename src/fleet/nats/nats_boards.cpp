#include "fleet/nats/nats_boards.h"

#include "fleet/nats/packing.h"
#include "fleet/nats/subjects.h"
#include "fleet/queue/names.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace regraph::fleet {
namespace {

using Session = std::shared_ptr<NatsSession>;

// How long a lost connection is waited for.
constexpr double kBoardPatience = 8.0;
// Notices read at once.
constexpr std::size_t kReadAhead = 32;

const Cancellation kNeverStopped;

}  // namespace

NatsBoards::NatsBoards(NatsCore& core)
    : core_(core), buckets_{Bucket(kWorkerBucket), Bucket(kFailureBucket)} {}

Status NatsBoards::post(Board board, const std::string& key, std::string_view text) {
  if (Status good = check_key(key); !good) return good;
  const auto packed = pack_text(text, kLargestNotice);
  if (!packed) return packed.error();
  return core_.attempts->run(kBoardPatience, kNeverStopped, [&](const Session& session) {
    return bucket(board).put(*session, key, *packed, kNeverStopped);
  });
}

Result<std::string> NatsBoards::read(Board board, const std::string& key) {
  if (const Status good = check_key(key); !good) return good.error();
  return core_.attempts->run(kBoardPatience, kNeverStopped,
                             [&](const Session& session) -> Result<std::string> {
                               const auto entry = bucket(board).get(*session, key, kNeverStopped);
                               if (!entry) return entry.error();
                               if (!entry->present) return std::string();
                               // What cannot be read says nothing.
                               auto text = unpack(entry->data, kLargestNotice);
                               return text ? *std::move(text) : std::string();
                             });
}

Status NatsBoards::withdraw(Board board, const std::string& key) {
  if (Status good = check_key(key); !good) return good;
  return core_.attempts->run(kBoardPatience, kNeverStopped, [&](const Session& session) {
    return bucket(board).remove(*session, key, UINT64_MAX, kNeverStopped);
  });
}

Result<std::map<std::string, std::string>> NatsBoards::notices(Board board, std::size_t most) {
  using Notices = std::map<std::string, std::string>;
  return core_.attempts->run(
      kBoardPatience, kNeverStopped, [&](const Session& session) -> Result<Notices> {
        const auto keys = bucket(board).keys(*session, most, kNeverStopped);
        if (!keys) return keys.error();
        Notices notices;
        for (std::size_t begin = 0; begin < keys->size(); begin += kReadAhead) {
          const std::size_t end = std::min(keys->size(), begin + kReadAhead);
          std::vector<ReplyDesk::Ticket> tickets;
          for (std::size_t index = begin; index < end; ++index) {
            auto ticket = bucket(board).begin_get(*session, (*keys)[index]);
            if (!ticket) return ticket.error();
            tickets.push_back(*std::move(ticket));
          }
          for (std::size_t index = begin; index < end; ++index) {
            const auto entry = Bucket::end_get(tickets[index - begin], kNeverStopped);
            if (!entry) return entry.error();
            // Gone meanwhile, or nothing that can be read.
            if (!entry->present) continue;
            if (auto text = unpack(entry->data, kLargestNotice))
              notices.emplace((*keys)[index], *std::move(text));
          }
        }
        return notices;
      });
}

}  // namespace regraph::fleet
