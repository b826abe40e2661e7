// A client for tests: short limits, little patience.
#pragma once

#include "llm/client/chat_client.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace regraph::llm {

inline ChatClientOptions quick_options(const std::string& url) {
  ChatClientOptions options;
  options.base_url = url;
  options.key = "sk-test-0123456789abcdef";
  options.request_seconds = 5.0;
  options.total_seconds = 20.0;
  options.transfer.connect_seconds = 2.0;
  options.retry.attempts = 3;
  options.retry.first_delay = 0.005;
  options.retry.longest_delay = 0.02;
  return options;
}

inline std::unique_ptr<ChatClient> make_client(ChatClientOptions options) {
  auto client = ChatClient::create(std::move(options));
  if (!client.ok()) {
    ADD_FAILURE() << client.error().message;
    return nullptr;
  }
  return std::move(*client);
}

inline ChatRequest question(const std::string& text = "How fast?") {
  ChatRequest request;
  request.model = "m";
  request.messages = {{Role::user, text}};
  return request;
}

// The result of one call with nobody to cancel it.
inline ChatResult ask(ChatClient& client, const ChatRequest& request = question()) {
  const Cancellation never;
  return client.complete(request, never);
}

}  // namespace regraph::llm
