// Where contents of a program's memory are kept, within limits.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace regraph::capture {

// Remarks beyond that say nothing new.
inline constexpr std::size_t kMostRemarks = 8;

// Not thread-safe.
class KeptContents {
 public:
  KeptContents(std::uint64_t most_bytes, std::uint64_t most_bytes_in_all)
      : most_bytes_(most_bytes), most_bytes_in_all_(most_bytes_in_all) {}

  // Writes `content` of a buffer of `size` bytes into the problem's folder, of which `kept_bytes`
  // are there already. Returns the file's name; empty where it was not kept (it is not at hand, too
  // large, or cannot be written), which `remarks` then say.
  std::string store(const std::filesystem::path& folder, std::span<const std::byte> content,
                    std::uint64_t size, std::uint64_t& kept_bytes,
                    std::vector<std::string>& remarks);

  // Removes a file that store() wrote for a buffer of `size` bytes.
  void forget(const std::filesystem::path& folder, const std::string& file, std::uint64_t size,
              std::uint64_t& kept_bytes);

  // The first write that failed; empty: none did.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  const std::uint64_t most_bytes_;  // of a problem
  const std::uint64_t most_bytes_in_all_;
  std::uint64_t bytes_ = 0;
  std::string trouble_;
};

}  // namespace regraph::capture
