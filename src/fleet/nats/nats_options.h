// NatsOptions in libnats' own form.
#pragma once

#include "base/result.h"
#include "fleet/nats/nats_api.h"
#include "fleet/nats/nats_broker.h"

#include <memory>
#include <string>
#include <vector>

namespace regraph::fleet {

using NatsOptionsHandle = std::unique_ptr<natsOptions, void (*)(natsOptions*)>;

// The servers one by one. Errors: invalid_argument.
[[nodiscard]] Result<std::vector<std::string>> split_servers(const std::string& servers);

// For messages: without what stands before an '@', which may be a password.
[[nodiscard]] std::string shown_servers(const std::string& servers);

// The first line of the file, trimmed; empty where no file is named. Errors: not_found,
// invalid_argument (empty, too long), io.
[[nodiscard]] Result<std::string> read_token(const NatsOptions& options);

// Errors: as read_token, and those of certificates.
[[nodiscard]] Result<NatsOptionsHandle> make_options(const NatsApi& api,
                                                     const NatsOptions& options);

}  // namespace regraph::fleet
