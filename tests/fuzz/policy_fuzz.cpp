// Feeds damaged files to the reader of policies. What is accepted must be sound, survive being
// written and read again, and say finite things of edges.
#include "fuzz/mutate.h"
#include "policy/policy_file.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace regraph;          // NOLINT: a program of its own
using namespace regraph::policy;  // NOLINT

constexpr std::string_view kName = "fuzz.regraph-policy";
constexpr std::size_t kLengthBytes = 8;

constexpr std::string_view kWords[] = {
    "\"__metadata__\":",
    "\"format\":\"regraph-policy/1\"",
    "\"data_offsets\":[0,4]",
    "\"data_offsets\":[18446744073709551615,0]",
    "\"shape\":[67108864,67108864]",
    "\"shape\":[0]",
    "\"dtype\":\"F32\"",
    "\"network.2.first.weight\":",
    "\"network.0.first.bias\":",
    "history.depth",
    "\\n",
    "\\u0000",
    "-1",
    "1e999",
    "null",
    "[[[[[[[[",
    "\xff\xfe",
};

constexpr std::string_view kNumbers[] = {
    "\xff\xff\x7f\x7f",                   // the largest
    std::string_view("\0\0\xc0\x7f", 4),  // a NaN
    std::string_view("\0\0\x80\xff", 4),  // minus infinity
};

PolicyModel small_model() {
  PolicyModel model;
  model.steps = {"loop_unroll", "smem_tile"};
  model.inputs = {"history.depth", "count.smem_tile", "step.other", "setting.factor"};
  model.means = {1.0F, 0.5F, 0.0F, 2.0F};
  model.scales = {1.0F, 2.0F, 0.5F, 1.5F};
  model.metadata = {{"corpus", "none"}, {"note", "two\nlines"}};
  float weight = 0.0F;
  for (const std::size_t hidden : {3U, 2U}) {
    DenseNetwork& network = model.networks.emplace_back(model.inputs.size(), hidden, kOpinionSize);
    for (auto* weights : {&network.first_weights, &network.first_biases, &network.second_weights,
                          &network.second_biases}) {
      for (float& one : *weights)
        one = std::sin(weight += 1.0F);
    }
  }
  return model;
}

// Damages anything, or the header alone, whose length is then set right, or the numbers alone.
std::string damaged(const std::string& bytes, fuzz::Random& random) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  std::string header = bytes.substr(kLengthBytes, length);
  std::string numbers = bytes.substr(kLengthBytes + length);
  switch (random() % 4) {
    case 0: {
      std::string any = bytes;
      fuzz::damage(any, random, kWords);
      return any;
    }
    case 1: {
      // Numbers of the header: extents and offsets.
      constexpr std::string_view kDigits = "0123456789";
      for (std::size_t change = 0; change < 1 + random() % 3; ++change) {
        const std::size_t at = header.find_first_of(kDigits, random() % header.size());
        if (at != std::string::npos) header[at] = kDigits[random() % kDigits.size()];
      }
      break;
    }
    case 2:
      fuzz::damage(header, random, kWords);
      break;
    default:
      // The largest number, which may add up to none, and now and then what is none itself.
      for (std::size_t change = 0; change < 1 + random() % 40; ++change) {
        const std::size_t at = sizeof(float) * (random() % (numbers.size() / sizeof(float)));
        const std::string_view number = kNumbers[random() % 64 == 0 ? random() % 3 : 0];
        numbers.replace(at, number.size(), number);
      }
      break;
  }
  length = header.size();
  std::string result(kLengthBytes, '\0');
  std::memcpy(result.data(), &length, kLengthBytes);
  return result + header + numbers;
}

bool all_finite(const std::vector<EdgeOpinion>& opinions) {
  return std::ranges::all_of(opinions, [](const EdgeOpinion& opinion) {
    return std::abs(opinion.correction) <= kLargestCorrection && std::isfinite(opinion.log_gain) &&
           std::isfinite(opinion.best_below);
  });
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(fuzz::settings(argc, argv));
  const std::string valid = policy_bytes(small_model());
  if (!parse_policy(valid, kName)) rounds.fail("a sound model cannot be read");

  return rounds.run([&](fuzz::Random& random) {
    const std::string bytes = damaged(valid, random);
    Result<PolicyModel> read = parse_policy(bytes, kName);
    if (!read) {
      const Error& error = read.error();
      if (!error.message.starts_with(kName)) rounds.fail("an error without name: " + error.message);
      if (error.code != ErrorCode::parse && error.code != ErrorCode::unsupported)
        rounds.fail("another error: " + error.message);
      return;
    }
    if (const std::string wrong = read->inconsistency(); !wrong.empty()) rounds.fail(wrong);
    const std::string written = policy_bytes(*read);
    const Result<PolicyModel> again = parse_policy(written, kName);
    if (!again) rounds.fail("what was written cannot be read: " + again.error().message);
    if (policy_bytes(*again) != written) rounds.fail("what was written is another model");
    const Result<PolicyReader> reader = PolicyReader::make(*std::move(read));
    if (!reader) {
      if (reader.error().code != ErrorCode::unsupported) rounds.fail(reader.error().message);
      return;
    }
    std::vector<float> row(reader->layout().size());
    for (float& number : row)
      number = static_cast<float>(random() % 2001) - 1000.0F;
    std::vector<float> unknown(row.size(), std::numeric_limits<float>::quiet_NaN());
    std::copy_n(row.begin(), reader->layout().first_of_edge(), unknown.begin());
    if (!all_finite(reader->opinions({row, unknown}))) rounds.fail("an opinion is no number");
  });
}
