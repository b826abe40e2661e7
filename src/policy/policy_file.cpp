#include "policy/policy_file.h"

#include "base/files.h"

#include <nlohmann/json.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>
#include <type_traits>

namespace regraph::policy {

namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are stored as they lie in memory");

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kLargestFile = std::size_t{64} << 20;
constexpr const char* kFormatKey = "format";
constexpr const char* kInputsKey = "inputs";
constexpr const char* kStepsKey = "steps";

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += (text.empty() ? "" : "\n") + line;
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

// Visits every tensor of a model: its name, its numbers, its shape.
template <typename Model, typename Visit>
void for_each_tensor(Model& model, Visit visit) {
  const std::size_t inputs = model.inputs.size();
  visit("mean", model.means, std::vector{inputs});
  visit("scale", model.scales, std::vector{inputs});
  std::vector<float> trust = {model.trust.at_original, model.trust.below};
  visit("trust", trust, std::vector{trust.size()});
  if constexpr (!std::is_const_v<Model>) model.trust = {trust[0], trust[1]};
  for (std::size_t index = 0; index < model.networks.size(); ++index) {
    auto& network = model.networks[index];
    const std::string prefix = "network." + std::to_string(index) + ".";
    visit(prefix + "first.weight", network.first_weights, std::vector{inputs, network.hidden});
    visit(prefix + "first.bias", network.first_biases, std::vector{network.hidden});
    visit(prefix + "second.weight", network.second_weights,
          std::vector{network.hidden, network.outputs});
    visit(prefix + "second.bias", network.second_biases, std::vector{network.outputs});
  }
}

// A file's header and the numbers behind it.
class TensorFile {
 public:
  static std::optional<TensorFile> open(std::string_view bytes) {
    std::uint64_t length = 0;
    if (bytes.size() < kLengthBytes) return std::nullopt;
    std::memcpy(&length, bytes.data(), kLengthBytes);
    if (length > bytes.size() - kLengthBytes) return std::nullopt;
    constexpr int kDeepest = 3;
    const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
    const std::string_view text = bytes.substr(kLengthBytes, length);
    Json header = Json::parse(text.begin(), text.end(), shallow, false);
    if (!header.is_object()) return std::nullopt;
    return TensorFile{std::move(header), bytes.substr(kLengthBytes + length)};
  }

  [[nodiscard]] std::optional<std::map<std::string, std::string>> metadata() const {
    std::map<std::string, std::string> result;
    const auto entries = header_.find("__metadata__");
    if (entries == header_.end() || !entries->is_object()) return std::nullopt;
    for (const auto& [key, value] : entries->items()) {
      if (!value.is_string()) return std::nullopt;
      result.emplace(key, value.get<std::string>());
    }
    return result;
  }

  // Its extents; nothing when there is no such tensor of at most two.
  [[nodiscard]] std::optional<std::vector<std::size_t>> shape(const std::string& name) const {
    const auto entry = header_.find(name);
    if (entry == header_.end() || !entry->is_object()) return std::nullopt;
    const auto dtype = entry->find("dtype");
    if (dtype == entry->end() || *dtype != "F32") return std::nullopt;
    return integers(*entry, "shape");
  }

  [[nodiscard]] std::optional<std::vector<float>> numbers(
      const std::string& name, const std::vector<std::size_t>& expected) const {
    const auto found = shape(name);
    if (!found || *found != expected) return std::nullopt;
    const auto offsets = integers(header_.at(name), "data_offsets");
    if (!offsets || offsets->size() != 2) return std::nullopt;
    const std::size_t begin = (*offsets)[0];
    const std::size_t end = (*offsets)[1];
    std::size_t count = 1;
    for (const std::size_t extent : expected)
      count *= extent;
    if (begin > end || end > data_.size() || end - begin != count * sizeof(float))
      return std::nullopt;
    std::vector<float> result(count);
    if (count > 0) std::memcpy(result.data(), data_.data() + begin, end - begin);
    return result;
  }

 private:
  TensorFile(Json header, std::string_view data) : header_(std::move(header)), data_(data) {}

  static std::optional<std::vector<std::size_t>> integers(const Json& entry, const char* key) {
    const auto list = entry.find(key);
    if (list == entry.end() || !list->is_array() || list->size() > 2) return std::nullopt;
    std::vector<std::size_t> result;
    for (const Json& value : *list) {
      if (!value.is_number_unsigned()) return std::nullopt;
      const auto number = value.get<std::uint64_t>();
      if (number > kLargestFile) return std::nullopt;
      result.push_back(number);
    }
    return result;
  }

  Json header_;
  std::string_view data_;
};

}  // namespace

std::string policy_bytes(const PolicyModel& model) {
  Json header = Json::object();
  Json& metadata = header["__metadata__"];
  for (const auto& [key, value] : model.metadata)
    metadata[key] = value;
  metadata[kFormatKey] = kPolicyFormat;
  metadata[kInputsKey] = joined(model.inputs);
  metadata[kStepsKey] = joined(model.steps);
  std::string data;
  for_each_tensor(model, [&](const std::string& name, const std::vector<float>& values,
                             const std::vector<std::size_t>& shape) {
    const std::size_t begin = data.size();
    data.resize(begin + values.size() * sizeof(float));
    if (!values.empty())
      std::memcpy(data.data() + begin, values.data(), values.size() * sizeof(float));
    header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, data.size()}}};
  });
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  while (text.size() % kLengthBytes != 0)
    text += ' ';
  const std::uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  return bytes + text + data;
}

Result<PolicyModel> parse_policy(std::string_view bytes, std::string_view name) {
  const auto damaged = [&](const std::string& why) {
    return fail(ErrorCode::parse, std::string(name) + ": not a policy: " + why +
                                      " (regraph-train model makes policies)");
  };
  const auto file = TensorFile::open(bytes);
  if (!file) return damaged("it is no safetensors file, or was cut short");
  auto metadata = file->metadata();
  if (!metadata) return damaged("its metadata cannot be read");
  if ((*metadata)[kFormatKey] != kPolicyFormat) {
    return fail(ErrorCode::unsupported, std::string(name) + ": its format is '" +
                                            (*metadata)[kFormatKey] + "', this version reads '" +
                                            kPolicyFormat + "'");
  }
  PolicyModel model;
  model.inputs = lines_of((*metadata)[kInputsKey]);
  model.steps = lines_of((*metadata)[kStepsKey]);
  for (const char* key : {kFormatKey, kInputsKey, kStepsKey})
    metadata->erase(key);
  model.metadata = std::move(*metadata);
  for (std::size_t index = 0; index <= kMostNetworks; ++index) {
    const std::string prefix = "network." + std::to_string(index) + ".";
    const auto first = file->shape(prefix + "first.weight");
    const auto second = file->shape(prefix + "second.weight");
    if (!first && !second) break;
    if (!first || !second || first->size() != 2 || second->size() != 2)
      return damaged("a network's layers cannot be read");
    DenseNetwork& network = model.networks.emplace_back();
    network.inputs = (*first)[0];
    network.hidden = (*first)[1];
    network.outputs = (*second)[1];
  }
  std::string missing;
  for_each_tensor(model, [&](const std::string& tensor, std::vector<float>& values,
                             const std::vector<std::size_t>& shape) {
    auto numbers = file->numbers(tensor, shape);
    if (!numbers && missing.empty()) missing = tensor;
    if (numbers) values = std::move(*numbers);
  });
  if (!missing.empty()) return damaged("'" + missing + "' cannot be read");
  if (const std::string wrong = model.inconsistency(); !wrong.empty()) return damaged(wrong);
  return model;
}

Result<PolicyModel> load_policy(const std::filesystem::path& path) {
  auto bytes = read_file(path, kLargestFile);
  if (!bytes) return std::move(bytes).error();
  return parse_policy(*bytes, path.string());
}

Status save_policy(const PolicyModel& model, const std::filesystem::path& path) {
  return write_file(path, policy_bytes(model), Durability::disk);
}

}  // namespace regraph::policy
