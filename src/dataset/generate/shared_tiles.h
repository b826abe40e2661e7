// Kernels whose author knows shared memory: square tiles without padding, whose side is the
// block's.
#pragma once

#include "dataset/generate/kernel_draft.h"

#include <string>
#include <string_view>

namespace regraph::dataset {

// Texts of the tile that a block of threads works on. Threads of the tile are $ty and $tx.
struct SharedTile {
  std::string side;      // a number
  std::string row_base;  // of the tile's first row
  std::string col_base;
  std::string row;  // the thread's own
  std::string col;
};

// Declares a tile of the draft's element type and the thread's place in it, and launches one block
// a tile of `rows` x `cols`, and a layer of them in z for each of `planes` where that is given.
[[nodiscard]] SharedTile declare_tile(KernelDraft& draft, std::string_view role,
                                      const std::string& rows, const std::string& cols,
                                      const std::string& planes = "");

}  // namespace regraph::dataset
