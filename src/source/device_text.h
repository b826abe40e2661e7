// The text of what is kept of a file. Used by extract.cpp.
#pragma once

#include "source/extract.h"
#include "source/top_level.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

// A file's declarations, and what becomes of them.
struct KeptDeclarations {
  std::string_view source;
  const std::vector<Token>& tokens;
  const std::vector<TopLevelDeclaration>& declarations;
  const std::vector<bool>& keep;
  const std::vector<const TopLevelDeclaration*>& kernels;  // the wanted ones
  // What stands for a template's header.
  const std::map<const TopLevelDeclaration*, std::string>& bindings;
  const std::vector<std::string>& headers;  // needed and not included
  // What kernels declare first in their bodies.
  const std::map<const TopLevelDeclaration*, std::string>& in_body;
  const std::vector<bool>& moved;  // declarations that are there instead
  // What stands in front of a declaration, by its index.
  const std::map<std::size_t, std::string>& in_front;
};

// Adds the text and the notes on what is left out.
void write_device_text(const KeptDeclarations& kept, const ExtractionRequest& request,
                       DeviceCode& code);

}  // namespace regraph::source
