// Fragments of the factor that fills the 64 rows of wgmma, from a strip in shared memory into
// registers. Used by warpgroup_code, for a factor whose neighbours in memory do not differ in k: of
// other types than 16 bits the instruction itself reads none of those.
#pragma once

#include "rewrite/forms/names.h"
#include "rewrite/transform/code_lines.h"
#include "rewrite/transform/tensor_tile.h"

#include <cstddef>
#include <string>

namespace regraph::rewrite {

// Which of the tile's lines are the instruction's rows is free, as long as sums are put where they
// belong: a thread takes neighbours, 2 of each of its fragments, by one access a place along k.
//
//   fragment              0     0     1     1
//   row of a quad, g      g   g + 8   g   g + 8          a quad is four lanes, which share rows
//   line of the tile      n   n + 1 n + 2 n + 3
class RegisterFragments {
 public:
  RegisterFragments(CodeLines& lines, const TensorTile& tile, const TensorNames& names,
                    Names& fresh);

  // Declares the fragments of a strip, and where the thread finds them.
  void declare();
  // Loads the fragments of step `step` along k of the strip in stage `stage`.
  void load(const std::string& stage, const std::string& step);
  // The four registers of fragment `fragment` of the step, as operands of inline assembly.
  [[nodiscard]] std::string operands(const std::string& step, const std::string& fragment) const;
  // The tile's first line of those whose sums the thread has.
  [[nodiscard]] const std::string& row() const { return row_; }

 private:
  [[nodiscard]] int count() const;  // fragments
  void load_words(const std::string& stage, const std::string& step);
  void load_bytes(const std::string& stage, const std::string& step);

  CodeLines& lines_;
  const TensorTile& tile_;
  const TensorNames& names_;
  std::size_t factor_;
  std::string row_;
  std::string fragments_;
};

}  // namespace regraph::rewrite
