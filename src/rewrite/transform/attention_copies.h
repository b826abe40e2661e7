// How queries, and tiles of keys and values, come to shared memory for attention on tensor cores.
// Used by attention_code.
#pragma once

#include "rewrite/transform/attention_tile.h"
#include "rewrite/transform/code_lines.h"

#include <cstdint>
#include <string>

namespace regraph::rewrite {

// Writes to `lines`; all of it must outlive this.
class AttentionCopies {
 public:
  AttentionCopies(CodeLines& lines, const AttentionPattern& pattern, const AttentionTile& tile,
                  const AttentionNames& names)
      : text_(lines), pattern_(pattern), tile_(tile), names_(names) {}

  // The arrays of tiles.
  void declare_shared();
  // The lambda fill(into, next): begins the copies of the keys and values from `next` on to the
  // stage `into`, zeros for those that there are not.
  void define_fill();
  // Begins the copy of the block's queries.
  void fill_query();

  // Of a stage.
  [[nodiscard]] std::int64_t key_elements() const;
  [[nodiscard]] std::int64_t value_elements() const;

 private:
  [[nodiscard]] std::string is_whole(const AttentionRows& rows) const;
  void copy_rows(const AttentionRows& rows, const std::string& symbol, const std::string& start,
                 const std::string& inside, const std::string& to, int lines);

  CodeLines& text_;
  const AttentionPattern& pattern_;
  const AttentionTile& tile_;
  const AttentionNames& names_;
};

}  // namespace regraph::rewrite
