// CUPTI that works but for the right to read counters, made of NVIDIA's and of a library of
// tests/eval/gpu/closed_cupti.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <span>

namespace regraph::test {

// Puts `library` (closed_cupti_before.so or closed_cupti_late.so) into `folder`, beside NVIDIA's,
// the first of `candidates` that is a file named libcupti.so.13. Returns its path; nothing when
// there is none.
inline std::optional<std::filesystem::path> closed_cupti(
    const std::filesystem::path& library, const std::filesystem::path& folder,
    std::span<const std::filesystem::path> candidates) {
  namespace fs = std::filesystem;
  for (const fs::path& real : candidates) {
    if (real.filename() != "libcupti.so.13" || !fs::exists(real)) continue;
    fs::create_directories(folder);
    fs::remove(folder / "real");
    fs::create_directory_symlink(fs::absolute(real).parent_path(), folder / "real");
    fs::path copy = folder / library.filename();
    fs::copy_file(library, copy, fs::copy_options::overwrite_existing);
    return copy;
  }
  return std::nullopt;
}

}  // namespace regraph::test
