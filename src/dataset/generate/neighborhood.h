// Elements around a thread's own, and what authors do where there are none.
#pragma once

#include "dataset/generate/kernel_draft.h"
#include "dataset/generate/thread_layout.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph::dataset {

enum class Border : unsigned char {
  padded,   // the input is longer at both ends
  clamped,  // the last element there is
  zero,     // nothing is added
  inner,    // the outermost elements are copied
};

// Steps from the thread's own element, a number an axis.
using Offset = std::vector<int>;

class Neighborhood {
 public:
  // Over a box of one to three axes, outermost first; neighbours are at most `radius` away.
  Neighborhood(KernelDraft& draft, std::vector<Axis> axes, int radius);

  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
  // Of the input and of the result.
  [[nodiscard]] std::vector<std::string> padded_shape() const;
  [[nodiscard]] std::vector<std::string> shape() const;
  // The threads, and what the border asks for before a neighbour is read. `copied` is the input
  // whose outermost elements are results where the border is `inner`.
  void begin(std::string_view copied);
  // The element of `buffer`, which has the padded shape.
  [[nodiscard]] std::string element(std::string_view buffer, const Offset& offset) const;
  // The thread's own place in what has the shape of the result.
  [[nodiscard]] std::string own() const;

 private:
  [[nodiscard]] std::string coordinate(std::size_t axis, int step) const;
  [[nodiscard]] std::string extent(std::size_t axis) const;
  [[nodiscard]] std::string place(const std::vector<std::string>& coordinates) const;

  KernelDraft& draft_;
  std::vector<Axis> axes_;
  int radius_;
  Border border_;
};

}  // namespace regraph::dataset
