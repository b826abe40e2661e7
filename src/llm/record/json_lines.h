// Files of a JSON value a line that are written to as things happen. Private to the room.
#pragma once

#include "base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace regraph::llm {

// Writes the value and a newline at the file's end. Error (io): "cannot write `what`: why".
[[nodiscard]] Status write_line(int file, const nlohmann::json& json, const std::string& what);

}  // namespace regraph::llm
