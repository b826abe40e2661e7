// Cuts a user's file down to what the device compiles: the kernels that are wanted and everything
// they mention, without host code, which the device compiler would not take.
//
// It works on tokens, not on a parse, so files whose headers are missing or whose host code is
// broken can be used too. What is left out is left out whole; kept declarations keep their text.
// Lines keep their numbers through #line directives.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::source {

struct ExtractionRequest {
  std::string file_name;  // for messages and #line
  // Kernels that are wanted, e.g. "scale" or "scale<float, 4>"; empty: the only one in the file.
  std::vector<std::string> kernels;
  // Macros to define in front of the file, name and replacement.
  std::vector<std::pair<std::string, std::string>> defines;
  // Keep #includes of the C++ standard library, thrust, cub and libcu++ whole: for nvcc, which has
  // them all.
  bool keep_library_headers = false;
  // Names that the compiler did not know in what was cut out before, without their namespaces:
  // headers that declare them are put in, and declarations of the file in front of what needs them.
  std::vector<std::string> undefined = {};
};

struct DeviceCode {
  std::string text;                  // CUDA C++ for the device compiler
  std::vector<std::string> kernels;  // plain names of the wanted kernels, in request order
  std::vector<std::string> qualified_kernels;  // the same with their namespaces: "ops::scale"
  std::vector<std::string>
      template_arguments;                 // of the first wanted kernel, where it is a template
  std::vector<std::string> file_kernels;  // all that the file defines, in order
  std::vector<std::string> notes;         // what was left out or assumed, for the user
};

// Templates are made plain functions: their parameters become aliases and constants with the
// arguments of the request, of an explicit instantiation or launch in the file, or the defaults.
// A file without host code and templates comes back as it is, but for headers that it lacks.
// Errors: not_found (no kernel, several and none wanted, an unknown name; the message lists them),
// unsupported (texture references, template arguments that are not known), with "file:line".
[[nodiscard]] Result<DeviceCode> extract_device_code(std::string_view source,
                                                     const ExtractionRequest& request);

// The text without the #line directives that extraction adds.
[[nodiscard]] std::string without_line_directives(std::string_view text);

}  // namespace regraph::source
