// What a winner has that the code it was searched from has not.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph::handback {

struct KernelChange {
  std::string definition;             // of the winner's kernel
  std::string parameters;             // of it, between the parentheses
  std::string original_head;          // tokens of the original's parameters and body, for comparing
  std::vector<std::string> includes;  // new #include lines
  std::vector<std::string> helpers;   // new declarations, in order, that it needs in front of it
  std::vector<std::string> new_names;  // that the helpers declare
  bool had_conditionals = false;  // the original's definition held #if: the winner's is one of it
};

// `before` and `after` are whole device codes with a definition of `kernel`. Error: unsupported,
// the winner changes something else than its kernel, or has several.
[[nodiscard]] Result<KernelChange> kernel_change(std::string_view before, std::string_view after,
                                                 const std::string& kernel);

// The definitions of `kernel` in a file: bytes of the whole, of the parameters' insides, and its
// tokens from the parameters on.
struct KernelDefinition {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t parameters_begin = 0;
  std::size_t parameters_end = 0;
  std::string head;       // what stands in front of its parameters
  std::string tokens;     // from the parameters on, one blank between two
  bool has_body = false;  // else it is declared only
  bool is_template = false;
  std::string template_list;  // "<typename T, int N>" of a template
};
[[nodiscard]] std::vector<KernelDefinition> find_definitions(std::string_view text,
                                                             const std::string& kernel);

// Tokens of a kernel, as above, without what its body declares first where the file declares the
// same outside of functions: shared memory, which is the kernel's own once it is cut out
// (source/file_scope_shared.h).
[[nodiscard]] std::string without_shared_of_file(const std::string& tokens, std::string_view file);

}  // namespace regraph::handback
