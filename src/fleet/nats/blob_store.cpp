#include "fleet/nats/blob_store.h"

#include "fleet/nats/jetstream.h"
#include "fleet/nats/packing.h"

#include <fmt/format.h>

#include <charconv>
#include <ctime>
#include <deque>

namespace regraph::fleet {
namespace {

constexpr std::size_t kPiece = std::size_t{512} << 10;
// Under way at once, to a server that may be far away.
constexpr std::size_t kPiecesAhead = 4;
// The server keeps them for a month; a job that refers to them may wait for a week.
constexpr double kYoungSeconds = 15 * 86400.0;

// Whether a time of the server's, "2022-11-26T01:32:39.805597534Z", is young enough. Clocks differ
// by less than matters here.
bool is_young(const std::string& time) {
  std::tm parts{};
  if (::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) return false;
  return std::difftime(std::time(nullptr), ::timegm(&parts)) < kYoungSeconds;
}

std::string piece_key(const Hash128& id, std::size_t piece) {
  return fmt::format("{}.{}", id.hex(), piece);
}

std::string size_key(const Hash128& id) {
  return id.hex() + ".size";
}

Error damaged_blob(const Hash128& id) {
  return fail(ErrorCode::parse,
              fmt::format("what the NATS server keeps under {} is damaged", id.hex()));
}

std::size_t pieces_of(std::size_t bytes) {
  return (bytes + kPiece - 1) / kPiece;
}

}  // namespace

Status BlobStore::keep(NatsSession& session, const Hash128& id, std::string_view bytes,
                       const Cancellation& cancellation) const {
  if (bytes.size() > kLargestBlob)
    return fail(ErrorCode::resource, fmt::format("{} bytes are more than the {} that can be kept",
                                                 bytes.size(), kLargestBlob));
  const std::string size = std::to_string(bytes.size());
  const auto there = bucket_.get(session, size_key(id), cancellation);
  if (!there) return there.error();
  if (there->present && there->data == size && is_young(there->time)) return {};
  for (std::size_t piece = 0; piece < pieces_of(bytes.size()); ++piece) {
    const std::string packed = pack(bytes.substr(piece * kPiece, kPiece));
    Status put = bucket_.put(session, piece_key(id, piece), packed, cancellation);
    if (!put) return put;
  }
  return bucket_.put(session, size_key(id), size, cancellation);
}

Result<std::string> BlobStore::fetch(NatsSession& session, const Hash128& id,
                                     const Cancellation& cancellation) const {
  const auto missing = [&] {
    return fail(ErrorCode::not_found,
                fmt::format("the NATS server keeps nothing under {}", id.hex()));
  };
  const auto there = bucket_.get(session, size_key(id), cancellation);
  if (!there) return there.error();
  if (!there->present) return missing();
  std::size_t size = 0;
  const char* const end = there->data.data() + there->data.size();
  const auto [read, error] = std::from_chars(there->data.data(), end, size);
  if (error != std::errc() || read != end || size > kLargestBlob) return damaged_blob(id);
  std::string bytes;
  std::deque<ReplyDesk::Ticket> ahead;
  std::size_t asked = 0;
  for (std::size_t piece = 0; piece < pieces_of(size); ++piece) {
    while (asked < pieces_of(size) && ahead.size() < kPiecesAhead) {
      auto ticket = bucket_.begin_get(session, piece_key(id, asked++));
      if (!ticket) return ticket.error();
      ahead.push_back(*std::move(ticket));
    }
    const auto entry = Bucket::end_get(ahead.front(), cancellation);
    ahead.pop_front();
    if (!entry) return entry.error();
    if (!entry->present) return missing();
    const auto unpacked = unpack(entry->data, kPiece);
    if (!unpacked || unpacked->empty()) return damaged_blob(id);
    bytes += *unpacked;
  }
  if (bytes.size() != size || hash_text(bytes) != id) return damaged_blob(id);
  return bytes;
}

}  // namespace regraph::fleet
