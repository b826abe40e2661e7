// The place for nvcc's files.
#pragma once

#include "base/files.h"
#include "base/result.h"

#include <string>
#include <utility>

namespace regraph::compile_internal {

// A fresh folder that goes with the object, whatever became of the processes that wrote there.
class NvccFolder {
 public:
  [[nodiscard]] static Result<NvccFolder> make();
  NvccFolder(NvccFolder&&) = default;
  NvccFolder& operator=(NvccFolder&&) = default;
  ~NvccFolder();

  // Without links, as nvcc writes it into its results.
  [[nodiscard]] std::string path() const;

 private:
  explicit NvccFolder(TemporaryDirectory folder) : folder_(std::move(folder)) {}
  TemporaryDirectory folder_;
};

}  // namespace regraph::compile_internal
