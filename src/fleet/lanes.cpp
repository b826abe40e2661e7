#include "fleet/lanes.h"

#include <cctype>

namespace regraph::fleet {

std::string prediction_lane(const std::string& version) {
  return "predict-" + version;
}

std::string measurement_lane(const std::string& version, std::string_view device) {
  std::string name;
  for (const char c : device) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  return "measure-" + name.substr(0, 40) + "-" + version;
}

}  // namespace regraph::fleet
