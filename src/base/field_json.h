// Structures whose fields are visited by name, as JSON objects and back: one visiting function for
// both ways, so that writing and reading cannot differ.
//
//   template <typename Config, typename Field>
//   void for_each_field(Config& config, Field&& field) { field("jobs", config.jobs); ... }
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace regraph {

// Puts every field it is called with into an object.
class FieldWriter {
 public:
  explicit FieldWriter(nlohmann::ordered_json& json) : json_(json) {}

  template <typename Value>
  void operator()(const char* name, const Value& value) {
    json_[name] = value;
  }
  template <typename Value>
  void operator()(const char* name, const std::optional<Value>& value) {
    json_[name] = value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  }

 private:
  nlohmann::ordered_json& json_;
};

// Takes every field it is called with from an object, strictly: no other type, no value that does
// not fit; numbers are finite, whole ones not negative.
class FieldReader {
 public:
  explicit FieldReader(const nlohmann::ordered_json& json) : json_(json) {}

  template <typename Value>
  void operator()(const char* name, Value& value) {
    const auto found = json_.find(name);
    if (found == json_.end() || !read(*found, value)) {
      whole_ = false;
    } else {
      ++fields_;
    }
  }
  // Whether every field was there and nothing else.
  [[nodiscard]] bool whole() const { return whole_ && fields_ == json_.size(); }

 private:
  static bool read(const nlohmann::ordered_json& json, std::string& value) {
    if (json.is_string()) value = json.get<std::string>();
    return json.is_string();
  }
  static bool read(const nlohmann::ordered_json& json, bool& value) {
    if (json.is_boolean()) value = json.get<bool>();
    return json.is_boolean();
  }
  static bool read(const nlohmann::ordered_json& json, double& value) {
    if (json.is_number()) value = json.get<double>();
    return json.is_number() && std::isfinite(value);
  }
  static bool read(const nlohmann::ordered_json& json, std::uint64_t& value) {
    if (json.is_number_unsigned()) value = json.get<std::uint64_t>();
    return json.is_number_unsigned();
  }
  template <typename Integer>
  requires std::is_same_v<Integer, int> || std::is_same_v<Integer, std::int64_t>
  static bool read(const nlohmann::ordered_json& json, Integer& value) {
    if (!json.is_number_unsigned()) return false;
    const auto number = json.get<std::uint64_t>();
    value = static_cast<Integer>(number);
    return number <= static_cast<std::uint64_t>(std::numeric_limits<Integer>::max());
  }
  static bool read(const nlohmann::ordered_json& json, std::pair<double, double>& value) {
    return json.is_array() && json.size() == 2 && read(json[0], value.first) &&
           read(json[1], value.second);
  }
  template <typename Value>
  static bool read(const nlohmann::ordered_json& json, std::optional<Value>& value) {
    value.reset();
    if (json.is_null()) return true;
    Value content{};
    if (!read(json, content)) return false;
    value = content;
    return true;
  }

  const nlohmann::ordered_json& json_;
  std::size_t fields_ = 0;
  bool whole_ = true;
};

}  // namespace regraph
