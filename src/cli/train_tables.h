// The tables beside a trained graph: of observations, from which its statistics are derived, and of
// examples.
#pragma once

#include "base/directory_lock.h"
#include "base/files.h"
#include "base/result.h"

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

namespace regraph::cli {

inline constexpr const char* kObservationsEnding = ".observations";
inline constexpr std::size_t kLargestTable = std::size_t{1} << 30;

// Where the table of that ending is kept for a graph.
[[nodiscard]] inline std::filesystem::path table_beside(const std::filesystem::path& graph,
                                                        const char* ending) {
  return std::filesystem::path(graph).replace_extension(ending);
}

// Errors: not_found, io, parse with file and line.
template <typename Table>
[[nodiscard]] Result<Table> read_table(const std::filesystem::path& file) {
  auto text = read_file(file, kLargestTable);
  if (!text) return std::move(text).error();
  return Table::parse(*text, file.string());
}

// Adds `table` to what the file holds, if there is one, and returns both together. One process at a
// time does. Errors: as read_table.
template <typename Table>
[[nodiscard]] Result<Table> add_to_table(const std::filesystem::path& file, Table table) {
  const std::filesystem::path folder =
      file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  auto lock = DirectoryLock::take(folder);
  if (!lock) return std::move(lock).error();
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    auto before = read_table<Table>(file);
    if (!before) return std::move(before).error();
    table.merge(*before);
  }
  if (Status written = write_file(file, table.text(), Durability::disk); !written)
    return written.error();
  return table;
}

}  // namespace regraph::cli
