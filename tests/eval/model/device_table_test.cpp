#include "eval/model/device_table.h"

#include "base/files.h"
#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace regraph::device_table_test {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t below(std::uint64_t limit) { return random_bits(seed_, next_++) % limit; }
  double uniform() { return to_unit_interval(random_bits(seed_, next_++)); }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

DeviceSpec h200() {
  return *find_device("h200");
}

std::string message_of(std::string_view yaml) {
  const auto table = parse_device_table(yaml, "mine.yaml");
  EXPECT_FALSE(table.ok()) << yaml;
  if (table.ok()) return "";
  EXPECT_EQ(table.error().code, ErrorCode::parse);
  return table.error().message;
}

TEST(DeviceTable, TakesFromTheBaseWhatItDoesNotSay) {
  const auto table = parse_device_table(
      "# comment\nbase: H100\nname: my-h100\narchitecture: sm_90a\ndescription: \"one: of ours\"\n"
      "sm_count: 114\ndram_bytes_per_second: 1.9e12\nl2_full_speed_bytes: 30e6\n",
      "mine.yaml");
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->base, "h100");
  DeviceSpec expected = *find_device("h100");
  expected.name = "my-h100";
  expected.architecture = "sm_90a";
  expected.description = "one: of ours";
  expected.sm_count = 114;
  expected.dram_bytes_per_second = 1.9e12;
  expected.l2_full_speed_bytes = 30'000'000;
  EXPECT_EQ(table->device, expected);
}

TEST(DeviceTable, EveryNumberOfADeviceHasItsField) {
  std::set<std::string> names;
  for (const DeviceField& field : device_fields()) {
    SCOPED_TRACE(field.name);
    EXPECT_TRUE(names.insert(field.name).second);
    EXPECT_EQ(find_device_field(field.name), &field);
    for (const DeviceSpec& device : known_devices()) {
      EXPECT_GE(field.get(device), field.least) << device.name;
      EXPECT_LE(field.get(device), field.most) << device.name;
    }
    // Changing it changes the device, and nothing else of it.
    DeviceSpec changed = h200();
    const double value = field.get(changed) + 1.0;
    field.set(changed, value);
    EXPECT_EQ(field.get(changed), value);
    EXPECT_NE(changed, h200());
    field.set(changed, field.get(h200()));
    EXPECT_EQ(changed, h200());
  }
  EXPECT_EQ(find_device_field("speed"), nullptr);
  // Three texts; a number that is added to DeviceSpec must be added to the fields too.
  std::size_t bytes = 3 * sizeof(std::string);
  for (const DeviceField& field : device_fields())
    bytes += std::holds_alternative<int DeviceSpec::*>(field.member) ? 4 : 8;
  EXPECT_LE(sizeof(DeviceSpec) - bytes, 16U);
}

TEST(DeviceTable, WhatIsWrittenIsReadBackEqual) {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    DeviceSpec device = known_devices()[random.below(known_devices().size())];
    const std::string base = device.name;
    if (round % 2 == 1) device.name = "other";
    if (round % 3 == 1) device.architecture = "sm_120";
    if (round % 4 == 1) device.description = "quotes \" and # signs: 100 %, \\ too";
    std::map<std::string, std::string> sources;
    for (const DeviceField& field : device_fields()) {
      if (random.below(3) != 0) continue;
      // Awkward digits, near what it was so that numbers keep going together.
      field.set(device, field.get(device) * (1.0 - 1e-4 * random.uniform()));
      sources[field.name] = "fitted # to: something";
    }
    // Keep to the rules the reader checks.
    device.shared_bytes_per_block = std::min(device.shared_bytes_per_block, device.shared_bytes);
    device.l2_full_speed_bytes = std::min(device.l2_full_speed_bytes, device.l2_bytes);
    device.sm_norm = std::max(device.sm_norm, 1.0);
    const auto text = write_device_table(device, base, sources, "made by a test\nround");
    ASSERT_TRUE(text.ok()) << text.error().message;
    const auto table = parse_device_table(*text, "mine.yaml");
    ASSERT_TRUE(table.ok()) << table.error().message << "\n" << *text;
    EXPECT_EQ(table->device, device) << *text;
    EXPECT_EQ(table->base, base);
  }
  EXPECT_EQ(write_device_table(h200(), "h300").error().code, ErrorCode::not_found);
}

TEST(DeviceTable, SourcesBecomeComments) {
  DeviceSpec device = h200();
  device.l1_latency = 41.5;
  const auto text = write_device_table(device, "h200", {{"l1_latency", "measured"}}, "a\nb");
  EXPECT_EQ(*text, "# a\n# b\nbase: h200\nl1_latency: 41.5  # measured\n");
}

TEST(DeviceTable, SaysWhereItIsWrong) {
  const struct {
    const char* yaml;
    const char* expected;
  } cases[] = {
      {"", "mine.yaml:1: a device is a mapping"},
      {"- base\n", "mine.yaml:1: a device is a mapping"},
      {"sm_count: 1\n", "mine.yaml:1: 'base' is missing"},
      {"base: [h200]\n", "mine.yaml:1: 'base' is missing"},
      {"base: h300\n", "mine.yaml:1: base: unknown device 'h300'; known devices: a100"},
      {"base: h200\nspeed: 1\n", "mine.yaml:2: unknown key 'speed' (known: base, name,"},
      {"base: h200\n\nsm_count: 132\nsm_count: 131\n", "mine.yaml:4: 'sm_count' is given twice"},
      {"base: h200\nsm_count: many\n", "mine.yaml:2: sm_count: 'many' is no number"},
      {"base: h200\nsm_count: 0\n", "mine.yaml:2: sm_count: 0 is not within 1 to 1024"},
      {"base: h200\nsm_count: -5\n", "mine.yaml:2: sm_count: -5 is not within"},
      {"base: h200\nsm_count: 13.5\n", "mine.yaml:2: sm_count: must be a whole number"},
      {"base: h200\nl1_latency: nan\n", "mine.yaml:2: l1_latency: 'nan' is no number"},
      {"base: h200\nl1_latency: inf\n", "mine.yaml:2: l1_latency: 'inf' is no number"},
      {"base: h200\nl1_latency: 1e999\n", "mine.yaml:2: l1_latency: '1e999' is no number"},
      {"base: h200\nl1_latency: 33 clocks\n", "mine.yaml:2: l1_latency: '33 clocks' is no number"},
      {"base: h200\nl1_latency:\n", "mine.yaml:2: 'l1_latency' must be a single value"},
      {"base: h200\nl1_latency: [1]\n", "mine.yaml:2: 'l1_latency' must be a single value"},
      {"base: h200\nl1_latency: {a: 1}\n", "mine.yaml:2: 'l1_latency' must be a single value"},
      {"base: h200\n? [a]\n: 1\n", "mine.yaml:2: a key must be a plain word"},
      {"base: h200\nname: a b\n", "mine.yaml:2: name: a name has"},
      {"base: h200\nname: gpu\n", "mine.yaml:2: name: a name has"},
      {"base: h200\narchitecture: compute_90\n", "mine.yaml:2: architecture: write for example"},
      {"base: h200\narchitecture: sm_90 --evil\n", "mine.yaml:2: architecture: write for example"},
      {"base: h200\ndescription: \"a\\nb\"\n", "mine.yaml:2: description: one line"},
      {"base: h200\nunified_bytes: 1024\n", "mine.yaml:1: shared_bytes is more than unified"},
      {"base: h200\ndram_bytes_per_second: 5e12\n", "mine.yaml:1: dram_bytes_per_second is more"},
      {"base: h200\nbase: h200\n", "mine.yaml:2: 'base' is given twice"},
      {"base: h200\n\tsm_count: 1\n", "mine.yaml:"},
      {"base: *nowhere\n", "mine.yaml:1: no YAML"},
      {"base: \"h200\n", "mine.yaml:"},
  };
  for (const auto& one : cases) {
    EXPECT_TRUE(message_of(one.yaml).starts_with(one.expected)) << one.yaml << "\n"
                                                                << message_of(one.yaml);
  }
  EXPECT_NE(message_of(std::string(100'000, 'a')).find("at most 64 KiB"), std::string::npos);
  EXPECT_FALSE(parse_device_table(std::string(60'000, '['), "deep.yaml").ok());
  const std::string odd = message_of("base: h200\n\"\\x1b[31m\": 1\n");
  EXPECT_EQ(odd.find('\x1b'), std::string::npos);
}

// Whatever the file holds there is an answer, and a device that is accepted is within its limits.
TEST(DeviceTable, DamagedFilesNeverCrash) {
  DeviceSpec device = *find_device("a100");
  for (const DeviceField& field : device_fields())
    field.set(device, field.get(device) * 0.99);
  const std::string whole = *write_device_table(device, "h200");
  constexpr std::string_view kBytes = "0123456789abcz:-_.{}[]#&*!|>'\"%@` \n\t,?~\\\x01\x80\xff";
  Random random(11);
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = whole;
    for (std::uint64_t edits = 1 + random.below(4); edits > 0; --edits) {
      const std::size_t at = random.below(text.size());
      switch (random.below(4)) {
        case 0:
          text[at] = kBytes[random.below(kBytes.size())];
          break;
        case 1:
          text.insert(at, 1, kBytes[random.below(kBytes.size())]);
          break;
        case 2:
          text.erase(at, 1 + random.below(20));
          break;
        default:
          text.insert(at, text.substr(random.below(text.size()), random.below(40)));
      }
      if (text.empty()) text = "b";
    }
    const auto table = parse_device_table(text, "mine.yaml");
    if (!table.ok()) {
      EXPECT_TRUE(table.error().message.starts_with("mine.yaml:")) << table.error().message;
      continue;
    }
    ++accepted;
    for (const DeviceField& field : device_fields()) {
      EXPECT_GE(field.get(table->device), field.least) << field.name;
      EXPECT_LE(field.get(table->device), field.most) << field.name;
    }
  }
  EXPECT_GT(accepted, 40);
}

TEST(DeviceTable, IsReadFromAFile) {
  const auto folder = TemporaryDirectory::create("regraph-device-");
  ASSERT_TRUE(folder.ok());
  const std::string path = (folder->path() / "mine.yaml").string();
  EXPECT_EQ(read_device_table(path).error().code, ErrorCode::not_found);
  ASSERT_TRUE(write_file(path, "base: h200\nl1_latency: 40\n").ok());
  const auto table = read_device_table(path);
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->device.l1_latency, 40.0);
}

}  // namespace
}  // namespace regraph::device_table_test
