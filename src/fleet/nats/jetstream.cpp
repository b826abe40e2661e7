#include "fleet/nats/jetstream.h"

#include "fleet/nats/printable.h"

#include <fmt/format.h>

namespace regraph::fleet {
namespace {

using nlohmann::json;

constexpr int kNobodyListens = 503;

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

std::string text_in(const json& object, const char* key) {
  const json* const found = member(object, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t number_in(const json& object, const char* key, std::int64_t otherwise) {
  const json* const found = member(object, key);
  return found != nullptr && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}

bool flag_in(const json& object, const char* key) {
  const json* const found = member(object, key);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

const json& object_in(const json& object, const char* key) {
  static const json kNone = json::object();
  const json* const found = member(object, key);
  return found != nullptr && found->is_object() ? *found : kNone;
}

Result<ApiAnswer> read_answer(const Message& message) {
  if (message.status == kNobodyListens)
    return fail(ErrorCode::io, "the NATS server has no JetStream, or not the stream asked for");
  ApiAnswer answer;
  answer.content = json::parse(message.data, nullptr, /*allow_exceptions=*/false);
  if (!answer.content.is_object())
    return fail(ErrorCode::parse, "the NATS server's answer is no JSON");
  const json* const error = member(answer.content, "error");
  if (error == nullptr) return answer;
  answer.refusal = static_cast<ApiRefusal>(number_in(*error, "err_code", UINT16_MAX));
  answer.description = printable(text_in(*error, "description"));
  return answer;
}

Result<ApiAnswer> store(NatsSession& session, const Outgoing& outgoing,
                        const Cancellation& cancellation) {
  const auto message = session.request(outgoing, kAnswerSeconds, cancellation);
  if (!message) return message.error();
  return read_answer(*message);
}

Result<ApiAnswer> ask_api(NatsSession& session, const std::string& what, const json& body,
                          const Cancellation& cancellation) {
  const std::string subject = "$JS.API." + what;
  const std::string data = body.is_null() ? std::string() : body.dump();
  return store(session, {.subject = subject, .data = data, .reply = {}, .headers = {}},
               cancellation);
}

Error refused_by_server(const std::string& what, const ApiAnswer& answer) {
  return fail(ErrorCode::io, fmt::format("the NATS server does not {}: {} ({})", what,
                                         answer.description, static_cast<int>(answer.refusal)));
}

}  // namespace regraph::fleet
