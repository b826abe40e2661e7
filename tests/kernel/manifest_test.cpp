#include "kernel/manifest.h"

#include "base/random.h"

#include <gtest/gtest.h>

namespace regraph::manifest_test {
namespace {

constexpr const char* kSgemm = R"yaml(
kernel: sgemm
sizes: {M: 4096, N: 4096, K: 4096}
args:
  A: {dir: in, shape: [M, K], init: normal}
  B: {dir: in, shape: [K, N], init: "uniform(-1, 1)"}
  C: {dir: inout, shape: [M, N], init: "int(-3,3)"}
  alpha: 1.5
launch: {block: [16, 16], grid: ["cdiv(N, bx)", "cdiv(M, by)"], smem: 0}
tests: [{M: 70, N: 50, K: 45}, {M: 256, N: 256, K: 256}, {M: 1, N: 1, K: 1}]
bench: [{M: 4096}]
reference: self
check: {tolerance: auto, seeds: 5}
assume: {noalias: true, align: 16, reassociate: false, fast_math: false, precision: keep}
counters: {flops: 2*M*N*K, bytes: 4*(M*K + K*N + 2*M*N)}
)yaml";

std::string message_of(std::string_view yaml) {
  const auto manifest = parse_manifest(yaml, "k.yaml");
  EXPECT_FALSE(manifest.ok()) << yaml;
  return manifest.ok() ? "" : manifest.error().message;
}

void expect_message(std::string_view yaml, std::initializer_list<std::string_view> parts) {
  const std::string message = message_of(yaml);
  for (const std::string_view part : parts) {
    EXPECT_NE(message.find(part), std::string::npos)
        << "'" << message << "' lacks '" << part << "'";
  }
}

TEST(Manifest, ReadsEveryKey) {
  const auto manifest = parse_manifest(kSgemm, "k.yaml");
  ASSERT_TRUE(manifest.ok()) << manifest.error().message;
  EXPECT_EQ(manifest->kernel, "sgemm");
  EXPECT_EQ(manifest->sizes, (Symbols{{"M", 4096}, {"N", 4096}, {"K", 4096}}));
  ASSERT_EQ(manifest->arguments.size(), 4u);
  EXPECT_EQ(manifest->arguments[1].first, "B");
  EXPECT_EQ(manifest->arguments[1].second.init, (BufferInit{BufferInit::Kind::uniform, -1.0, 1.0}));
  EXPECT_EQ(manifest->arguments[2].second.direction, Direction::inout);
  EXPECT_EQ(manifest->arguments[2].second.line, 7);
  EXPECT_EQ(manifest->arguments[3].second.value, 1.5);
  ASSERT_TRUE(manifest->launch.has_value());
  EXPECT_EQ(manifest->launch->block, (Dim3{16, 16, 1}));
  EXPECT_EQ(manifest->launch->grid[1].text(), "cdiv(M, by)");
  EXPECT_EQ(manifest->tests.size(), 3u);
  EXPECT_EQ(manifest->bench.size(), 1u);
  EXPECT_FALSE(manifest->assume.reassociate);
  EXPECT_TRUE(manifest->assume.noalias);
  EXPECT_FALSE(manifest->check.relative_tolerance.has_value());
  EXPECT_EQ(manifest->flops->evaluate({{"M", 2}, {"N", 3}, {"K", 4}}).value(), 48);
  EXPECT_TRUE(parse_manifest("", "k.yaml").ok());
}

TEST(Manifest, BlockHasThreeSpellings) {
  for (const char* block : {"32x8", "[32, 8]", "[32, 8, 1]"}) {
    const auto manifest =
        parse_manifest(std::string("launch: {grid: 4, block: ") + block + "}", "k.yaml");
    ASSERT_TRUE(manifest.ok()) << manifest.error().message;
    EXPECT_EQ(manifest->launch->block, (Dim3{32, 8, 1}));
  }
}

TEST(Manifest, ErrorsNamePathLineAndCure) {
  expect_message("kernel: f\nsize: {N: 4}\n", {"k.yaml:2:", "'size'", "sizes"});
  expect_message("sizes: {N: four}\n", {"k.yaml:1:", "sizes.N", "four"});
  expect_message("sizes:\n  N: 1\n  N: 2\n", {"k.yaml:3:", "twice"});
  expect_message("sizes: {bx: 1}\n", {"bx"});
  expect_message("args:\n  A: {dir: input}\n", {"k.yaml:2:", "args.A.dir", "inout"});
  expect_message("args: {A: {shape: [cdiv(N, 2)]}}", {"quotes"});
  expect_message("args: {A: {init: uniform(0,1)}}", {"quotes"});
  expect_message("args: {A: {init: \"int(0.5,2)\"}}", {"integers"});
  expect_message("args: {A: {init: \"int(0,N-)\"}}", {"k.yaml:1:", "args.A.init", "'N-'"});
  expect_message("args: {A: {init: \"int(0, cdiv(bx, 2))\"}}", {"expressions of sizes"});
  expect_message("args: {A: {init: \"constant(a)\"}}", {"constant(value)", "'a'"});
  expect_message("args: {A: {init: \"csr_offsets(bx)\"}}", {"csr_offsets", "'bx'"});
  expect_message("args: {A: {init: \"csr_offsets(1, 2)\"}}", {"csr_offsets(entries)"});
  expect_message("args: {A: {init: \"ones(\"}}", {"zeros"});
  expect_message("args: {A: {init: {data: x.bin}}}", {"'data'", "file"});
  expect_message("args: {A: {init: {hash: abc}}}", {"'file' is missing"});
  expect_message("args: {A: {init: {file: x, hash: abc}}}", {"'hash'"});
  expect_message("args: {a: M /}", {"k.yaml:1:", "args.a", "'M /'"});
  expect_message("args: {a: {value: bx / 2}}", {"args.a.value", "not the block"});
  expect_message("launch: {block: [2048], grid: [1]}", {"1024"});
  expect_message("launch: {block: [256]}", {"grid"});
  expect_message("launch: {block: 64, grid: [1, 1, 1, 1]}", {"at most 3"});
  expect_message("check: {seeds: 2}", {"5"});
  expect_message("check: {tolerance: -1}", {"tolerance"});
  expect_message("assume: {align: 24}", {"power of two"});
  expect_message("tests: {N: 3}", {"list"});
  expect_message("a: [", {"k.yaml:", "YAML"});
  for (const char* yaml : {"reference: ref.cu", "launch: {block: auto, grid: 1}"}) {
    expect_message(yaml, {"not supported yet"});
    EXPECT_EQ(parse_manifest(yaml, "k.yaml").error().code, ErrorCode::unsupported);
  }
}

TEST(Manifest, ReadingAMissingFileNamesIt) {
  const auto manifest = read_manifest("/nonexistent/k.yaml");
  ASSERT_FALSE(manifest.ok());
  EXPECT_EQ(manifest.error().code, ErrorCode::not_found);
  EXPECT_NE(manifest.error().message.find("/nonexistent/k.yaml"), std::string::npos);
}

TEST(Manifest, SurvivesGarbage) {
  const std::string original = kSgemm;
  EXPECT_FALSE(parse_manifest(std::string(100000, '['), "k.yaml").ok());
  EXPECT_FALSE(parse_manifest(std::string(100000, '{'), "k.yaml").ok());
  EXPECT_FALSE(parse_manifest(std::string(2 << 20, 'a'), "k.yaml").ok());
  for (std::uint64_t round = 0; round < 3000; ++round) {
    std::string text = original;
    for (std::uint64_t edit = 0; edit < 1 + round % 8; ++edit) {
      const std::size_t place = random_bits(round, edit, 1) % text.size();
      switch (random_bits(round, edit, 2) % 3) {
        case 0:
          text[place] = static_cast<char>(random_bits(round, edit, 3));
          break;
        case 1:
          text.erase(place, 1 + random_bits(round, edit, 4) % 9);
          break;
        default:
          text.insert(place, original.substr(random_bits(round, edit, 5) % original.size(), 12));
      }
    }
    const auto manifest = parse_manifest(text, "k.yaml");
    if (manifest.ok()) continue;
    EXPECT_EQ(manifest.error().message.substr(0, 7), "k.yaml:");
  }
}

}  // namespace
}  // namespace regraph::manifest_test
