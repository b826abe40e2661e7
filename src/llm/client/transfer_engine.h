// Many HTTP transfers at a time on one thread.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "llm/client/transfer.h"

#include <memory>

namespace regraph::llm {

struct CurlApi;

// Owns a thread with a curl multi handle; connections are kept and used again. Callers wait.
class TransferEngine {
 public:
  // Errors: not_found (the file of certificates), resource (libcurl or the system gives no handle).
  [[nodiscard]] static Result<std::unique_ptr<TransferEngine>> create(
      std::shared_ptr<const CurlApi> api, TransferOptions options);
  // Ends what is in flight as cancelled. No call may be entered any more.
  ~TransferEngine();
  TransferEngine(const TransferEngine&) = delete;
  TransferEngine& operator=(const TransferEngine&) = delete;

  // Posts and blocks until the reply is complete or will not be. Thread-safe. `cancellation` is
  // looked at every 20 ms.
  [[nodiscard]] HttpOutcome perform(HttpPost post, const Cancellation& cancellation);

 private:
  class Loop;
  explicit TransferEngine(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace regraph::llm
