#include "report/predicted_text.h"

namespace regraph {

std::string predicted_text(const DeviceSpec& device) {
  std::string text = "times are predicted by the model, no GPU was used";
  const std::string_view doubts = doubts_about(device);
  if (!doubts.empty()) text += "; the numbers of this GPU are " + std::string(doubts);
  return text;
}

}  // namespace regraph
