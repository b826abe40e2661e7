// Lines out of a stream of bytes, with a limit on what is kept of one.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace regraph::agent {

class LineSplitter {
 public:
  // `take` gets every line without its newline; `too_long` is called once for each line beyond
  // `limit` bytes, of which nothing is kept.
  LineSplitter(std::size_t limit, std::function<void(std::string_view)> take,
               std::function<void()> too_long)
      : limit_(limit), take_(std::move(take)), too_long_(std::move(too_long)) {}

  void feed(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      keep(bytes.substr(0, end));
      if (end == std::string_view::npos) return;
      finish();
      bytes.remove_prefix(end + 1);
    }
  }
  // The stream has ended, perhaps without a last newline.
  void end() {
    if (!line_.empty() || skipping_) finish();
  }

 private:
  void keep(std::string_view part) {
    if (skipping_) return;
    if (line_.size() + part.size() > limit_) {
      skipping_ = true;
      line_ = {};
      return;
    }
    line_.append(part);
  }
  void finish() {
    if (skipping_) {
      too_long_();
    } else {
      take_(line_);
    }
    skipping_ = false;
    line_.clear();
  }

  const std::size_t limit_;
  const std::function<void(std::string_view)> take_;
  const std::function<void()> too_long_;
  std::string line_;
  bool skipping_ = false;
};

}  // namespace regraph::agent
