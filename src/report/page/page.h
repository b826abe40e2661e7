// report.html: a run as one page that asks nothing of the network.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace regraph {

// The page around a payload (payload.h). Nothing in the payload can become markup or script.
[[nodiscard]] std::string page_html(std::string_view payload);

// Writes report.html into the directory of a run, complete or not at all, from the files it holds:
// the same files give the same bytes. Errors: not_found (no run in it), parse (result.json or
// run.db is damaged), resource, io.
[[nodiscard]] Status write_page(const std::filesystem::path& directory);

}  // namespace regraph
