// libnats, loaded at run time: a table of its functions. Includes its headers (types only); include
// it in .cpp files, and forward-declare NatsApi elsewhere.
#pragma once

#include <nats/nats.h>
#include <string>

namespace regraph::fleet {

// What is used of libnats, 3.4 or newer: core NATS alone. JetStream is requests and answers in JSON
// (jetstream.h), so that what the server can do does not depend on what the library knows of it.
// Thread-safe. Never unloaded: it has threads of its own.
struct NatsApi {
  std::string library;  // the path or soname that was loaded
  std::string version;  // e.g. "3.4.1"

  decltype(&::nats_GetVersion) get_version = nullptr;
  decltype(&::nats_GetVersionNumber) get_version_number = nullptr;
  decltype(&::nats_Open) open = nullptr;
  decltype(&::nats_GetLastError) get_last_error = nullptr;
  decltype(&::natsStatus_GetText) status_text = nullptr;

  decltype(&::natsOptions_Create) options_create = nullptr;
  decltype(&::natsOptions_Destroy) options_destroy = nullptr;
  decltype(&::natsOptions_SetServers) set_servers = nullptr;
  decltype(&::natsOptions_SetName) set_name = nullptr;
  decltype(&::natsOptions_SetToken) set_token = nullptr;
  decltype(&::natsOptions_SetTimeout) set_timeout = nullptr;
  decltype(&::natsOptions_SetAllowReconnect) set_allow_reconnect = nullptr;
  decltype(&::natsOptions_SetPingInterval) set_ping_interval = nullptr;
  decltype(&::natsOptions_SetMaxPingsOut) set_max_pings_out = nullptr;
  decltype(&::natsOptions_SetSendAsap) set_send_asap = nullptr;
  decltype(&::natsOptions_SetWriteDeadline) set_write_deadline = nullptr;
  decltype(&::natsOptions_UseGlobalMessageDelivery) use_global_message_delivery = nullptr;
  decltype(&::natsOptions_SetErrorHandler) set_error_handler = nullptr;
  decltype(&::natsOptions_SetClosedCB) set_closed_handler = nullptr;
  decltype(&::natsOptions_SetSecure) set_secure = nullptr;
  decltype(&::natsOptions_LoadCATrustedCertificates) load_authorities = nullptr;
  decltype(&::natsOptions_LoadCertificatesChain) load_certificate = nullptr;

  decltype(&::natsConnection_Connect) connect = nullptr;
  decltype(&::natsConnection_Close) close = nullptr;
  decltype(&::natsConnection_Destroy) connection_destroy = nullptr;
  decltype(&::natsConnection_GetMaxPayload) max_payload = nullptr;
  decltype(&::natsConnection_GetLastError) connection_last_error = nullptr;
  decltype(&::natsConnection_PublishMsg) publish = nullptr;
  decltype(&::natsConnection_Subscribe) subscribe = nullptr;

  decltype(&::natsSubscription_SetOnCompleteCB) set_on_complete = nullptr;
  decltype(&::natsSubscription_SetPendingLimits) set_pending_limits = nullptr;
  decltype(&::natsSubscription_Unsubscribe) unsubscribe = nullptr;
  decltype(&::natsSubscription_DrainTimeout) drain = nullptr;
  decltype(&::natsSubscription_Destroy) subscription_destroy = nullptr;

  decltype(&::natsInbox_Create) inbox_create = nullptr;
  decltype(&::natsInbox_Destroy) inbox_destroy = nullptr;

  decltype(&::natsMsg_Create) message_create = nullptr;
  decltype(&::natsMsg_Destroy) message_destroy = nullptr;
  decltype(&::natsMsg_GetSubject) message_subject = nullptr;
  decltype(&::natsMsg_GetReply) message_reply = nullptr;
  decltype(&::natsMsg_GetData) message_data = nullptr;
  decltype(&::natsMsg_GetDataLength) message_size = nullptr;
  decltype(&::natsMsgHeader_Set) set_header = nullptr;
  decltype(&::natsMsgHeader_Get) get_header = nullptr;
};

}  // namespace regraph::fleet
