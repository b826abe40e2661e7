#include "capture/problem/kept_contents.h"

#include "capture/problem/captured_kernel.h"
#include "kernel/captured_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace regraph::capture {

std::string KeptContents::store(const std::filesystem::path& folder,
                                std::span<const std::byte> content, std::uint64_t size,
                                std::uint64_t& kept_bytes, std::vector<std::string>& remarks) {
  const auto leave_out = [&](std::string why) {
    if (remarks.size() < kMostRemarks) remarks.push_back(std::move(why));
    return std::string();
  };
  if (content.size() < size || size > kMostCapturedBytes || kept_bytes + size > most_bytes_ ||
      bytes_ + size > most_bytes_in_all_) {
    return leave_out(
        fmt::format("the contents of a buffer of {} bytes: the limit was reached", size));
  }
  auto file = store_captured(folder / kCapturedData, content);
  if (!file.ok()) {
    if (trouble_.empty()) trouble_ = file.error().message;
    return leave_out(file.error().message);
  }
  kept_bytes += content.size();
  bytes_ += content.size();
  return std::move(*file);
}

void KeptContents::forget(const std::filesystem::path& folder, const std::string& file,
                          std::uint64_t size, std::uint64_t& kept_bytes) {
  std::error_code ignored;
  std::filesystem::remove(folder / kCapturedData / file, ignored);
  kept_bytes -= std::min(size, kept_bytes);
  bytes_ -= std::min(size, bytes_);
}

}  // namespace regraph::capture
