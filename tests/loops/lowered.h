// What becomes of a sequential function, without compiling it.
#pragma once

#include "loops/function_text.h"
#include "loops/lower_to_kernel.h"
#include "loops/sequential_function.h"
#include "source/extract.h"
#include "support/cuda.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::test {

inline Result<loops::LoweredFunction> lowered(const std::string& file, const std::string& name,
                                              const Manifest& manifest = {}) {
  auto text = loops::function_as_kernel(file, name);
  if (!text) return text.error();
  source::ExtractionRequest request;
  request.file_name = "loops.cpp";
  request.kernels = {text->name};
  auto device = source::extract_device_code(text->text, request);
  if (!device) return device.error();
  const auto front_end = source::default_front_end(cuda_root(), "sm_90");
  if (!front_end) return front_end.error();
  auto function =
      loops::read_function(device->text, device->kernels.front(), "loops.cpp", *front_end);
  if (!function) return function.error();
  return loops::lower_to_kernels(*function, manifest);
}

// Why there is no kernel; empty where there is one.
inline std::string refusal(const std::string& file, const std::string& name = {}) {
  const auto result = lowered(file, name);
  return result ? std::string() : result.error().message;
}

}  // namespace regraph::test
