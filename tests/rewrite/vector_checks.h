// What tests of vectorize_global share.
#pragma once

#include "rewrite/step_checks.h"

#include <memory>
#include <string>

namespace regraph::test {

inline Application wide(const std::string& width) {
  return {"vectorize_global", {{"width", width}}};
}

// The kernel of the test's own; null, and a failure, where it is none.
inline std::unique_ptr<KernelCase> kernel_of(const std::string& source,
                                             const std::string& manifest) {
  auto kernel = KernelCase::make(source, manifest);
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message);
  return kernel.ok() ? std::move(*kernel) : nullptr;
}

// The code of the kernel with vectors of `width`, which has to compute the same.
inline std::string code_with_vectors(const std::unique_ptr<KernelCase>& kernel,
                                     const std::string& width) {
  if (kernel == nullptr) return "";
  return source::print(expect_correct(*kernel, {wide(width)}).unit);
}

}  // namespace regraph::test
