// Blocks that are numbered by two things at once, as in
//
//   int image = blockIdx.z / channels;        grid.z: images * channels
//   int channel = blockIdx.z % channels;
//
// Index polynomials have no symbol for a quotient of a block's number. To the steps such a kernel
// is one that is launched once for every image: `image` is a parameter, blockIdx.z is the channel,
// and the grid has `channels` blocks along z. What they make of it is put back into one launch;
// there may be fewer blocks for an image then.
#pragma once

#include "base/result.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"

#include <cstddef>
#include <optional>
#include <string>

namespace regraph::rewrite {

class OuterBlocks {
 public:
  // Nothing where the kernel takes no axis apart so and only so, where its indices are polynomials
  // as they are, and where blocks work together (atomics), so that one image's are not alone.
  [[nodiscard]] static std::optional<OuterBlocks> find(const KernelState& state);

  // The launch for one image.
  [[nodiscard]] const KernelState& inner() const { return inner_; }
  // One launch for all of what a step made of inner(). Error: refused, where the number of blocks
  // for an image is not made of the kernel's parameters.
  [[nodiscard]] Result<KernelState> put_back(KernelState changed) const;

 private:
  struct Images {
    IntegerExpression count;
    std::string name;  // a parameter of inner() where the count is a size, else empty
  };

  OuterBlocks(KernelState inner, std::size_t axis, Variable image, Images images)
      : inner_(std::move(inner)),
        axis_(axis),
        image_(std::move(image)),
        images_(std::move(images)) {}

  KernelState inner_;
  std::size_t axis_;
  Variable image_;  // a parameter of inner()
  Images images_;
};

}  // namespace regraph::rewrite
