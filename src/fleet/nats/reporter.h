// What people are told, each trouble once.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace regraph::fleet {

// Thread-safe.
class Reporter {
 public:
  explicit Reporter(std::function<void(const std::string&)> report) : report_(std::move(report)) {}

  // Unless this kind was told of already and is not over.
  void tell(const std::string& kind, const std::string& text) {
    if (change([&] { return kinds_.insert(kind).second; }) && report_) report_(text);
  }
  // Tells that it is over, where there was something to be over and there is a text.
  void over(const std::string& kind, const std::string& text = "") {
    if (change([&] { return kinds_.erase(kind) > 0; }) && !text.empty() && report_) report_(text);
  }

 private:
  // People are told outside of the lock: who is told may call a broker.
  template <typename Change>
  bool change(const Change& kinds) {
    const std::lock_guard lock(mutex_);
    return kinds();
  }

  std::mutex mutex_;
  std::function<void(const std::string&)> report_;
  std::set<std::string> kinds_;
};

}  // namespace regraph::fleet
