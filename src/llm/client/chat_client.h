// The client of an OpenAI-compatible server: a ChatModel over HTTP.
#pragma once

#include "base/result.h"
#include "llm/chat/chat.h"
#include "llm/client/client_statistics.h"
#include "llm/client/rate_limiter.h"
#include "llm/client/retry_schedule.h"
#include "llm/client/server_dialect.h"
#include "llm/client/transfer.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace regraph::llm {

struct ClientShared;

struct ChatClientOptions {
  std::string base_url;  // as parse_endpoint takes it
  std::string key;       // empty: none is sent
  TransferOptions transfer;
  RetryOptions retry;
  RateLimits rates;
  ServerDialect dialect;           // to begin with; the client learns what the server refuses
  double request_seconds = 600.0;  // the longest one request may take
  double total_seconds = 1800.0;   // the longest a call may take, with waiting and retries
  int in_flight = 16;  // requests at a time, with those that wait for the limits per minute
  std::vector<std::filesystem::path> curl;  // where libcurl may be; empty: curl_candidates()
};

// Asks again for choices that a server leaves out (many know no "n"), one request after the other;
// an answer may still have fewer than were asked for, if these fail. A refusal that names a
// parameter which the server does not take is answered with the same request without it, once a
// parameter; later requests leave it out from the start.
class ChatClient final : public ChatModel {
 public:
  // Errors: invalid_argument (base URL, key, a limit that makes no sense), not_found and
  // unsupported (libcurl, the file of certificates), resource.
  [[nodiscard]] static Result<std::unique_ptr<ChatClient>> create(ChatClientOptions options);
  // No call may be under way.
  ~ChatClient() override;

  // See ChatModel. Messages and answers hold no key, also where the server repeats it.
  [[nodiscard]] ChatResult complete(const ChatRequest& request,
                                    const Cancellation& cancellation) override;

  // Thread-safe.
  [[nodiscard]] ClientStatistics statistics() const;
  // Where requests go, e.g. "http://127.0.0.1:8000/v1/chat/completions".
  [[nodiscard]] const std::string& url() const;

 private:
  explicit ChatClient(std::unique_ptr<ClientShared> shared);
  std::unique_ptr<ClientShared> shared_;
};

}  // namespace regraph::llm
