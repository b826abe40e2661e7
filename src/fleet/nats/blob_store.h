// Bytes of any length, in pieces that travel.
//
//   <hash>.0, <hash>.1, ...   512 KiB each, packed one by one: pieces of two writers fit together
//   <hash>.size               how many bytes there are; written last: with it all are there
#pragma once

#include "base/cancellation.h"
#include "base/hash.h"
#include "base/result.h"
#include "fleet/nats/bucket.h"
#include "fleet/nats/nats_session.h"
#include "fleet/nats/subjects.h"

#include <string>
#include <string_view>

namespace regraph::fleet {

inline constexpr std::size_t kLargestBlob = std::size_t{1} << 30;

class BlobStore {
 public:
  BlobStore() : bucket_(kBlobBucket) {}

  // Nothing is sent where they are there and young. Errors: io, resource (too large), cancelled.
  [[nodiscard]] Status keep(NatsSession& session, const Hash128& id, std::string_view bytes,
                            const Cancellation& cancellation) const;
  // Errors: not_found, parse (not what was kept), io, cancelled.
  [[nodiscard]] Result<std::string> fetch(NatsSession& session, const Hash128& id,
                                          const Cancellation& cancellation) const;

 private:
  Bucket bucket_;
};

}  // namespace regraph::fleet
