// A question to a language model as a job, and what comes back.
#pragma once

#include "base/result.h"
#include "fleet/queue/job.h"
#include "llm/chat/chat.h"

#include <string>
#include <string_view>

namespace regraph::fleet {

struct ChatJob {
  // Who asks, so that answers are samples of their own: a run keeps its name when it is resumed and
  // then finds what was answered meanwhile.
  std::string occasion;
  int sample = 0;  // tells equal requests of one occasion apart
  llm::ChatRequest request;
};

// The job's text, and from it its id; the lane is that of the request's model.
[[nodiscard]] Job job_of(const ChatJob& chat);
// Strict: whatever it names is asked for with somebody's key. Errors: parse, resource.
[[nodiscard]] Result<ChatJob> read_chat_job(std::string_view payload);

// The name of an occasion that nobody else has.
[[nodiscard]] std::string new_occasion();

struct ChatReply {
  llm::ChatResult result;
  std::string worker;  // who says so
};

[[nodiscard]] std::string reply_text(const ChatReply& reply);
// Strict, too: tokens that somebody makes up would be spent. Errors: parse, resource.
[[nodiscard]] Result<ChatReply> read_reply(std::string_view text);

}  // namespace regraph::fleet
