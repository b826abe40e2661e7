#include "fleet/lanes.h"

#include "base/hash.h"

#include <cctype>

namespace regraph::fleet {
namespace {

// Of the texts in chat_job.h: another form of them is another version.
constexpr const char* kChatVersion = "1";

// Lower-case letters and digits of a name, 40 at most, all else as '-'.
std::string plain_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  return name.substr(0, 40);
}

}  // namespace

std::string prediction_lane(const std::string& version) {
  return "predict-" + version;
}

std::string measurement_lane(const std::string& version, std::string_view device) {
  return "measure-" + plain_name(device) + "-" + version;
}

std::string gpu_lane(const std::string& version, std::string_view host, std::string_view bus_id) {
  constexpr std::size_t kDigits = 12;
  return "gpu-" + Hasher().add(host).add(bus_id).finish().hex().substr(0, kDigits) + "-" + version;
}

// Names that differ only in what a lane's name cannot have are told apart by their hash.
std::string model_lane(std::string_view model) {
  constexpr std::size_t kDigits = 8;
  return "model-" + plain_name(model) + "-" + hash_text(model).hex().substr(0, kDigits) + "-" +
         kChatVersion;
}

}  // namespace regraph::fleet
