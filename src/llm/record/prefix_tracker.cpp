#include "llm/record/prefix_tracker.h"

#include "base/hash.h"

#include <string>
#include <string_view>

namespace regraph::llm {

double PrefixTracker::share(const ChatRequest& request) {
  std::string text = request.model;
  for (const ChatMessage& message : request.messages) {
    text += '\n';
    text += name(message.role);
    text += '\n';
    text += message.text;
  }
  std::size_t shared = 0;
  bool alike = true;
  std::uint64_t prefix = 0;
  for (std::size_t at = 0; at + kBlock <= text.size(); at += kBlock) {
    prefix = Hasher().add(prefix).add(std::string_view(text).substr(at, kBlock)).finish().low;
    const bool is_new = known_.insert(prefix).second;
    alike = alike && !is_new;
    if (alike) shared = at + kBlock;
  }
  return text.empty() ? 0.0 : static_cast<double>(shared) / static_cast<double>(text.size());
}

}  // namespace regraph::llm
