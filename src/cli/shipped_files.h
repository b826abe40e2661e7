// Files that belong to the program.
#pragma once

#include <filesystem>
#include <string>

namespace regraph::cli {

// Where graphs/NAME of this project lies: share/regraph beside the installed program, else in the
// source tree. `program` is the path this program was started by.
[[nodiscard]] std::filesystem::path shipped_file(const std::string& name,
                                                 const std::string& program);

}  // namespace regraph::cli
