// What a failed attempt means: which ChatFailure it is and whether to try again.
#pragma once

#include "llm/chat/chat.h"
#include "llm/client/retry_schedule.h"
#include "llm/client/server_error.h"
#include "llm/client/transfer.h"

namespace regraph::llm {

struct Judgement {
  ChatFailure failure = ChatFailure::unreachable;
  RetryClass retry = RetryClass::never;
  bool operator==(const Judgement&) const = default;
};

// For a transfer that ended with `fault`, which is not none.
[[nodiscard]] Judgement judge_fault(TransferFault fault);

// For a reply with `status`, not 2xx, or an error within a reply that has 200 (`status` is then the
// error's own, or 0).
[[nodiscard]] Judgement judge_status(int status, const ServerError& error);

// What a person can do about a status, to stand at the end of a message; may be empty.
[[nodiscard]] const char* advice(int status, const Judgement& judgement);

}  // namespace regraph::llm
