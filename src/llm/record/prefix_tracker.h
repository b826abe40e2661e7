// How much of a request stood at the beginning of an earlier one: what a server that keeps prefixes
// (vLLM, SGLang, llama.cpp, most hosted ones) need not read again.
#pragma once

#include "llm/chat/chat.h"

#include <cstddef>
#include <cstdint>
#include <unordered_set>

namespace regraph::llm {

// Remembers requests in blocks of their text, as servers do in blocks of tokens. Not thread-safe.
class PrefixTracker {
 public:
  // Of a block, in bytes: about 16 tokens, the usual size of a server's.
  static constexpr std::size_t kBlock = 64;

  // Returns the share, 0 to 1, of the request's text that some earlier request began with, and
  // remembers it. The model's name counts as text.
  double share(const ChatRequest& request);

 private:
  std::unordered_set<std::uint64_t> known_;  // hashes of prefixes that are whole blocks long
};

}  // namespace regraph::llm
