#include "llm/client/chat_client.h"

#include "llm/client/chat_call.h"
#include "llm/client/curl_library.h"

#include <algorithm>
#include <cmath>

namespace regraph::llm {
namespace {

Status check(const ChatClientOptions& options) {
  const auto refuse = [](const char* why) { return fail(ErrorCode::invalid_argument, why); };
  // Anything else could add headers of its own. The key itself is not repeated.
  if (!std::all_of(options.key.begin(), options.key.end(),
                   [](char c) { return c > ' ' && c < 127; }))
    return refuse(
        "the key of the language model's server has a space or a character that is not "
        "printable ASCII; is it read whole, without the end of the line?");
  const auto positive = [](double value) { return std::isfinite(value) && value > 0.0; };
  if (!positive(options.request_seconds) || !positive(options.total_seconds) ||
      !positive(options.transfer.connect_seconds))
    return refuse("a time limit of the language model's client is not above 0");
  if (options.in_flight < 1 || options.retry.attempts < 1)
    return refuse("the language model's client needs at least one request and one attempt");
  if (options.transfer.body_bytes == 0)
    return refuse("the language model's client may not read any byte of an answer");
  return {};
}

}  // namespace

ChatClient::ChatClient(std::unique_ptr<ClientShared> shared) : shared_(std::move(shared)) {}
ChatClient::~ChatClient() = default;

Result<std::unique_ptr<ChatClient>> ChatClient::create(ChatClientOptions options) {
  if (const Status status = check(options); !status.ok()) return status.error();
  auto endpoint = parse_endpoint(options.base_url);
  if (!endpoint.ok()) return endpoint.error();
  if (options.curl.empty()) options.curl = curl_candidates();
  auto api = load_curl(options.curl);
  if (!api.ok()) return api.error();
  auto engine = TransferEngine::create(std::move(*api), options.transfer);
  if (!engine.ok()) return engine.error();
  auto shared =
      std::make_unique<ClientShared>(std::move(options), std::move(*endpoint), std::move(*engine));
  return std::unique_ptr<ChatClient>(new ChatClient(std::move(shared)));
}

ChatResult ChatClient::complete(const ChatRequest& request, const Cancellation& cancellation) {
  ChatResult result = ChatCall(*shared_, request, cancellation).run();
  shared_->statistics.count_call(result);
  return result;
}

ClientStatistics ChatClient::statistics() const {
  ClientStatistics statistics = shared_->statistics.snapshot();
  statistics.most_in_flight = shared_->gate.most();
  return statistics;
}

const std::string& ChatClient::url() const {
  return shared_->endpoint.chat_url;
}

}  // namespace regraph::llm
