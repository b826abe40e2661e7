#include "policy/policy_file.h"

#include "base/files.h"
#include "policy/policy_case.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>

namespace regraph::policy::policy_file_test {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 8;

std::uint64_t header_length(const std::string& bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  return length;
}

Json header_of(const std::string& bytes) {
  return Json::parse(bytes.substr(kLengthBytes, header_length(bytes)));
}

// The same numbers behind another header.
std::string with_header(const std::string& bytes, const std::string& header) {
  const std::uint64_t length = header.size();
  std::string result(kLengthBytes, '\0');
  std::memcpy(result.data(), &length, kLengthBytes);
  return result + header + bytes.substr(kLengthBytes + header_length(bytes));
}

void expect_refused(const std::string& bytes, const std::string& what,
                    ErrorCode code = ErrorCode::parse) {
  const auto read = parse_policy(bytes, "some.regraph-policy");
  ASSERT_FALSE(read) << what;
  EXPECT_EQ(read.error().code, code) << what << ": " << read.error().message;
  EXPECT_TRUE(read.error().message.starts_with("some.regraph-policy: ")) << read.error().message;
}

TEST(PolicyFile, ReadsWhatItWrote) {
  PolicyModel model = test::small_model();
  model.trust = {0.5F, 0.875F};
  const std::string bytes = policy_bytes(model);
  const auto read = parse_policy(bytes, "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->trust.at_original, 0.5F);
  EXPECT_EQ(read->trust.below, 0.875F);
  EXPECT_EQ(read->steps, model.steps);
  EXPECT_EQ(read->inputs, model.inputs);
  EXPECT_EQ(read->means, model.means);
  EXPECT_EQ(read->scales, model.scales);
  EXPECT_EQ(read->metadata, model.metadata);
  ASSERT_EQ(read->networks.size(), model.networks.size());
  for (std::size_t index = 0; index < model.networks.size(); ++index) {
    EXPECT_EQ(read->networks[index].hidden, model.networks[index].hidden);
    EXPECT_EQ(read->networks[index].first_weights, model.networks[index].first_weights);
    EXPECT_EQ(read->networks[index].first_biases, model.networks[index].first_biases);
    EXPECT_EQ(read->networks[index].second_weights, model.networks[index].second_weights);
    EXPECT_EQ(read->networks[index].second_biases, model.networks[index].second_biases);
  }
  EXPECT_EQ(policy_bytes(*read), bytes);
}

TEST(PolicyFile, IsASafetensorsFile) {
  const PolicyModel model = test::small_model();
  const std::string bytes = policy_bytes(model);
  const Json header = header_of(bytes);
  EXPECT_EQ(header_length(bytes) % 8, 0U);  // numbers are aligned
  EXPECT_EQ(header["__metadata__"]["format"], "regraph-policy/1");
  const Json& weights = header["network.1.first.weight"];
  EXPECT_EQ(weights["dtype"], "F32");
  EXPECT_EQ(weights["shape"], Json({model.inputs.size(), model.networks[1].hidden}));
  float first = 0.0F;
  const std::size_t begin = weights["data_offsets"][0];
  std::memcpy(&first, bytes.data() + kLengthBytes + header_length(bytes) + begin, sizeof first);
  EXPECT_EQ(first, model.networks[1].first_weights.front());
  // The tensors cover the numbers without gaps.
  std::map<std::size_t, std::size_t> ends;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") ends[entry["data_offsets"][0]] = entry["data_offsets"][1];
  }
  std::size_t at = 0;
  for (const auto& [from, to] : ends) {
    EXPECT_EQ(from, at);
    at = to;
  }
  EXPECT_EQ(at, bytes.size() - kLengthBytes - header_length(bytes));
}

TEST(PolicyFile, HasRoomForAsManyNetworksAsAModel) {
  PolicyModel model = test::small_model();
  model.networks.resize(kMostNetworks, model.networks.front());
  const auto read = parse_policy(policy_bytes(model), "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->networks.size(), kMostNetworks);
  model.networks.push_back(model.networks.front());
  expect_refused(policy_bytes(model), "a network more");
}

TEST(PolicyFile, RefusesOtherVersions) {
  const std::string bytes = policy_bytes(test::small_model());
  for (const Json& format : {Json("regraph-policy/2"), Json(""), Json("regraph-policy/1 ")}) {
    Json header = header_of(bytes);
    header["__metadata__"]["format"] = format;
    expect_refused(with_header(bytes, header.dump()), format.dump(), ErrorCode::unsupported);
  }
  Json header = header_of(bytes);
  header["__metadata__"].erase("format");  // somebody else's tensors
  expect_refused(with_header(bytes, header.dump()), "no format", ErrorCode::unsupported);
}

TEST(PolicyFile, RefusesWhatWasCutShort) {
  const std::string bytes = policy_bytes(test::small_model());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    expect_refused(bytes.substr(0, length), "of " + std::to_string(length) + " bytes");
}

TEST(PolicyFile, RefusesLengthsBeyondTheFile) {
  std::string bytes = policy_bytes(test::small_model());
  for (const std::uint64_t length :
       {std::uint64_t{bytes.size() - 7}, std::uint64_t{bytes.size()}, std::uint64_t{1} << 63,
        std::numeric_limits<std::uint64_t>::max(),
        std::numeric_limits<std::uint64_t>::max() - kLengthBytes + 1}) {
    std::memcpy(bytes.data(), &length, kLengthBytes);
    expect_refused(bytes, std::to_string(length));
  }
}

TEST(PolicyFile, RefusesWeightsThatAreNoNumbers) {
  const std::string bytes = policy_bytes(test::small_model());
  const Json header = header_of(bytes);
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    for (const float value :
         {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
      std::string damaged = bytes;
      const std::size_t last = entry["data_offsets"][1].get<std::size_t>() - sizeof value;
      std::memcpy(damaged.data() + kLengthBytes + header_length(bytes) + last, &value,
                  sizeof value);
      expect_refused(damaged, name);
    }
  }
}

TEST(PolicyFile, RefusesHeadersThatDoNotFit) {
  const std::string bytes = policy_bytes(test::small_model());
  const std::size_t size = bytes.size() - kLengthBytes - header_length(bytes);
  const std::vector<std::pair<std::string, std::function<void(Json&)>>> damages = {
      {"no metadata", [](Json& header) { header.erase("__metadata__"); }},
      {"metadata that is a list", [](Json& header) { header["__metadata__"] = Json::array(); }},
      {"a number in the metadata", [](Json& header) { header["__metadata__"]["note"] = 3; }},
      {"nothing in the metadata", [](Json& header) { header["__metadata__"]["note"] = nullptr; }},
      {"inputs as a list",
       [](Json& header) { header["__metadata__"]["inputs"] = {"history.depth"}; }},
      {"no inputs", [](Json& header) { header["__metadata__"].erase("inputs"); }},
      {"an empty input",
       [](Json& header) {
         auto& inputs = header["__metadata__"]["inputs"].get_ref<std::string&>();
         inputs.erase(0, inputs.find('\n'));
       }},
      {"a step twice", [](Json& header) { header["__metadata__"]["steps"] = "a\nb\na"; }},
      {"an input less",
       [](Json& header) {
         auto& inputs = header["__metadata__"]["inputs"].get_ref<std::string&>();
         inputs.erase(inputs.rfind('\n'));
       }},
      {"no mean", [](Json& header) { header.erase("mean"); }},
      {"half a network", [](Json& header) { header.erase("network.1.second.weight"); }},
      {"no bias", [](Json& header) { header.erase("network.0.first.bias"); }},
      {"no network",
       [](Json& header) {
         header.erase("network.0.first.weight");
         header.erase("network.0.second.weight");
       }},
      {"a tensor that is text", [](Json& header) { header["scale"] = "F32"; }},
      {"doubles", [](Json& header) { header["scale"]["dtype"] = "F64"; }},
      {"no type", [](Json& header) { header["scale"].erase("dtype"); }},
      {"turned weights",
       [](Json& header) {
         auto& shape = header["network.0.first.weight"]["shape"];
         std::swap(shape[0], shape[1]);
       }},
      {"flat weights", [](Json& header) { header["network.0.first.weight"]["shape"] = {50}; }},
      {"a shape of three",
       [](Json& header) {
         header["mean"]["shape"] = {10, 1, 1};
       }},
      {"a negative extent", [](Json& header) { header["mean"]["shape"] = {-10}; }},
      {"a broken extent", [](Json& header) { header["mean"]["shape"] = {10.0}; }},
      {"a large extent", [](Json& header) { header["mean"]["shape"] = {std::uint64_t{1} << 62}; }},
      {"an extent that wraps",
       [](Json& header) {
         header["network.0.first.weight"]["shape"] = {1U << 26, 1U << 26};
       }},
      {"no units",
       [](Json& header) {
         header["network.0.first.weight"]["shape"] = {10, 0};
         header["network.0.first.weight"]["data_offsets"] = {0, 0};
         header["network.0.first.bias"]["shape"] = {0};
         header["network.0.first.bias"]["data_offsets"] = {0, 0};
         header["network.0.second.weight"]["shape"] = {0, 3};
         header["network.0.second.weight"]["data_offsets"] = {0, 0};
       }},
      {"offsets behind the end",
       [size](Json& header) {
         header["mean"]["data_offsets"] = {size - 36, size + 4};
       }},
      {"offsets far behind it",
       [](Json& header) {
         header["mean"]["data_offsets"] = {1U << 20, (1U << 20) + 40};
       }},
      {"offsets the wrong way",
       [](Json& header) {
         header["mean"]["data_offsets"] = {40, 0};
       }},
      {"offsets of more",
       [](Json& header) {
         header["mean"]["data_offsets"] = {0, 44};
       }},
      {"one offset", [](Json& header) { header["mean"]["data_offsets"] = {40}; }},
      {"a negative offset",
       [](Json& header) {
         header["mean"]["data_offsets"] = {-40, 0};
       }},
      {"no offsets", [](Json& header) { header["mean"].erase("data_offsets"); }},
      {"offsets in offsets",
       [](Json& header) {
         header["mean"]["data_offsets"] = {{0}, {40}};
       }},
  };
  ASSERT_TRUE(parse_policy(with_header(bytes, header_of(bytes).dump()), "x"));
  for (const auto& [what, damage] : damages) {
    Json header = header_of(bytes);
    damage(header);
    expect_refused(with_header(bytes, header.dump()), what);
  }
}

TEST(PolicyFile, RefusesHeadersThatAreNoObjects) {
  const std::string bytes = policy_bytes(test::small_model());
  for (const std::string& header :
       {std::string(), std::string("[]"), std::string("null"), std::string("{\"mean\": "),
        std::string("{} {}"), std::string("\xff\xfe"), std::string(100000, '['),
        "{\"__metadata__\": {\"format\": \"\xc3\x28\"}}" + std::string()}) {
    expect_refused(with_header(bytes, header), header.substr(0, 40));
  }
}

TEST(PolicyFile, IsSavedAndLoaded) {
  const auto directory = TemporaryDirectory::create("regraph-policy-");
  ASSERT_TRUE(directory);
  const auto path = directory->path() / "small.regraph-policy";
  const PolicyModel model = test::small_model();
  const auto missing = load_policy(path);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  ASSERT_TRUE(save_policy(model, path));
  const auto loaded = load_policy(path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(policy_bytes(*loaded), policy_bytes(model));
  ASSERT_TRUE(write_file(path, "no policy"));
  const auto other = load_policy(path);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::parse);
  EXPECT_TRUE(other.error().message.starts_with(path.string())) << other.error().message;
}

}  // namespace
}  // namespace regraph::policy::policy_file_test
