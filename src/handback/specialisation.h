// A winner that is one instance of the user's kernel template, as an explicit specialisation.
#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::handback {

// A template's parameter and what it is in the instance.
struct BoundParameter {
  std::string name;
  std::string value;     // "float", "16"
  std::string standard;  // its default; empty: none
  std::string binding;   // "using T = float;", for the body; empty where the value is the name
};

// `list` is "<typename T, int N = 4>"; `code` the device code of the instance, which says what each
// is in front of its kernel. Error: unsupported, a parameter that nothing says.
[[nodiscard]] Result<std::vector<BoundParameter>> bound_parameters(std::string_view list,
                                                                   std::string_view code);

// The definition of a plain kernel as the specialisation of its template for these values.
// `declared`: what stands between the template's parentheses. nvcc takes no specialisation whose
// parameters have another `const` or `__restrict__` than the template's: where the definition has,
// it works on variables of its own that are initialised from them.
[[nodiscard]] Result<std::string> as_specialisation(const std::string& definition,
                                                    const std::string& kernel,
                                                    std::string_view declared,
                                                    const std::vector<BoundParameter>& parameters);

// "k<float, 16>".
[[nodiscard]] std::string instance_name(const std::string& kernel,
                                        const std::vector<BoundParameter>& parameters);

// Whether template arguments as a launch writes them, "float, 4", are this instance's; nothing
// where that cannot be said from the words.
[[nodiscard]] std::optional<bool> is_instance(const std::string& arguments,
                                              const std::vector<BoundParameter>& parameters);

}  // namespace regraph::handback
