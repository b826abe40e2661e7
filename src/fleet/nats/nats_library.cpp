#include "fleet/nats/nats_library.h"

#include "base/symbol_resolver.h"
#include "fleet/nats/nats_api.h"

#include <fmt/format.h>

#include <dlfcn.h>
#include <mutex>

namespace regraph::fleet {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kOldestVersion = 0x030400;

// Resolves all functions; names the first that is missing.
std::string resolve_nats(void* handle, NatsApi& api) {
  SymbolResolver symbol(handle);
  symbol("nats_GetVersion", api.get_version);
  symbol("nats_GetVersionNumber", api.get_version_number);
  symbol("nats_Open", api.open);
  symbol("nats_GetLastError", api.get_last_error);
  symbol("natsStatus_GetText", api.status_text);
  symbol("natsOptions_Create", api.options_create);
  symbol("natsOptions_Destroy", api.options_destroy);
  symbol("natsOptions_SetServers", api.set_servers);
  symbol("natsOptions_SetName", api.set_name);
  symbol("natsOptions_SetToken", api.set_token);
  symbol("natsOptions_SetTimeout", api.set_timeout);
  symbol("natsOptions_SetAllowReconnect", api.set_allow_reconnect);
  symbol("natsOptions_SetPingInterval", api.set_ping_interval);
  symbol("natsOptions_SetMaxPingsOut", api.set_max_pings_out);
  symbol("natsOptions_SetSendAsap", api.set_send_asap);
  symbol("natsOptions_SetWriteDeadline", api.set_write_deadline);
  symbol("natsOptions_UseGlobalMessageDelivery", api.use_global_message_delivery);
  symbol("natsOptions_SetErrorHandler", api.set_error_handler);
  symbol("natsOptions_SetClosedCB", api.set_closed_handler);
  symbol("natsOptions_SetSecure", api.set_secure);
  symbol("natsOptions_LoadCATrustedCertificates", api.load_authorities);
  symbol("natsOptions_LoadCertificatesChain", api.load_certificate);
  symbol("natsConnection_Connect", api.connect);
  symbol("natsConnection_Close", api.close);
  symbol("natsConnection_Destroy", api.connection_destroy);
  symbol("natsConnection_GetMaxPayload", api.max_payload);
  symbol("natsConnection_GetLastError", api.connection_last_error);
  symbol("natsConnection_PublishMsg", api.publish);
  symbol("natsConnection_Subscribe", api.subscribe);
  symbol("natsSubscription_SetOnCompleteCB", api.set_on_complete);
  symbol("natsSubscription_SetPendingLimits", api.set_pending_limits);
  symbol("natsSubscription_Unsubscribe", api.unsubscribe);
  symbol("natsSubscription_DrainTimeout", api.drain);
  symbol("natsSubscription_Destroy", api.subscription_destroy);
  symbol("natsInbox_Create", api.inbox_create);
  symbol("natsInbox_Destroy", api.inbox_destroy);
  symbol("natsMsg_Create", api.message_create);
  symbol("natsMsg_Destroy", api.message_destroy);
  symbol("natsMsg_GetSubject", api.message_subject);
  symbol("natsMsg_GetReply", api.message_reply);
  symbol("natsMsg_GetData", api.message_data);
  symbol("natsMsg_GetDataLength", api.message_size);
  symbol("natsMsgHeader_Set", api.set_header);
  symbol("natsMsgHeader_Get", api.get_header);
  return symbol.missing();
}

// Empty, or why this library will not do.
std::string nats_objection(const NatsApi& api, const std::string& missing) {
  if (!missing.empty()) return "has no " + missing + " (3.4 or newer is needed)";
  if (api.get_version_number() < kOldestVersion)
    return fmt::format("version {} is too old (3.4 or newer is needed)", api.get_version());
  return "";
}

}  // namespace

std::vector<fs::path> nats_candidates() {
  return {"libnats.so.3.4",  "libnats.so.3.6",  "libnats.so.3.7",  "libnats.so.3.8",
          "libnats.so.3.9",  "libnats.so.3.10", "libnats.so.3.11", "libnats.so.3.12",
          "libnats.so.3.13", "libnats.so"};
}

Result<std::shared_ptr<const NatsApi>> load_nats(std::span<const fs::path> candidates) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::string tried;
  ErrorCode code = ErrorCode::not_found;
  for (const fs::path& candidate : candidates) {
    const auto refuse = [&](const std::string& why) {
      tried += fmt::format("\n  {}: {}", candidate.string(), why);
    };
    void* const handle = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const why = ::dlerror();
      refuse(why == nullptr ? "cannot be loaded" : why);
      continue;
    }
    const auto api = std::make_shared<NatsApi>();
    api->library = candidate.string();
    const std::string why = nats_objection(*api, resolve_nats(handle, *api));
    if (!why.empty()) {
      code = ErrorCode::unsupported;
      refuse(why);
      continue;
    }
    // No spinning: there may be more waiting threads than cores.
    if (api->open(0) != NATS_OK) {
      refuse("does not start");
      continue;
    }
    api->version = api->get_version();
    return std::shared_ptr<const NatsApi>(api);
  }
  return fail(code, "no usable libnats, so no NATS server can be spoken to; tried:" + tried +
                        "\nInstall the package libnats3.4 (Debian 12), libnats3.7 or newer "
                        "(others), or build nats.c.");
}

}  // namespace regraph::fleet
