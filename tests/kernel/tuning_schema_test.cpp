#include "kernel/tuning_schema.h"

#include "base/random.h"

#include <gtest/gtest.h>

namespace regraph::tuning_schema_test {
namespace {

constexpr const char* kSchema = R"json({
  "General": {"BenchmarkName": "scale"},
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "block_size_x", "Type": "int", "Values": "[64, 128]", "Default": 128},
      {"Name": "factor", "Type": "int", "Values": [2, 4]}
    ]
  },
  "KernelSpecification": {
    "Language": "CUDA",
    "KernelName": "scale",
    "KernelFile": "scale.cu",
    "CompilerOptions": ["-DMODE=1", "--use_fast_math"],
    "GlobalSize": {"X": "4096"},
    "GlobalSizeType": "OpenCL",
    "LocalSize": {"X": "block_size_x", "Y": "1"},
    "Arguments": [
      {"Name": "in", "Type": "float", "Size": 4096, "MemoryType": "Vector",
       "AccessType": "ReadOnly", "FillType": "Random", "FillValue": 2.0},
      {"Name": "out", "Type": "float", "Size": 4096, "MemoryType": "Vector",
       "AccessType": "WriteOnly", "FillType": "Constant", "FillValue": 0.0},
      {"Name": "a", "Type": "float", "MemoryType": "Scalar", "FillType": "Constant",
       "FillValue": 3.5},
      {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillType": "Constant",
       "FillValue": 4096}
    ]
  }
}
)json";

const KernelSignature kSignature = {
    "scale",
    {{.name = "x", .type = ScalarType::f32, .is_pointer = true, .points_to_const = true},
     {.name = "y", .type = ScalarType::f32, .is_pointer = true},
     {.name = "alpha", .type = ScalarType::f32},
     {.name = "count", .type = ScalarType::i32}}};

TEST(TuningSchema, IsBoundToParametersByPosition) {
  const auto schema = parse_tuning_schema(kSchema, "t1.json");
  ASSERT_TRUE(schema.ok()) << schema.error().message;
  EXPECT_EQ(schema->kernel_file, "scale.cu");
  const auto manifest = bind_arguments(*schema, kSignature);
  ASSERT_TRUE(manifest.ok()) << manifest.error().message;
  EXPECT_EQ(manifest->launch->block, (Dim3{128, 1, 1}));
  EXPECT_EQ(manifest->launch->grid[0].text(), "32");
  EXPECT_EQ(manifest->sizes.at("count"), 4096);
  ASSERT_EQ(manifest->arguments.size(), 3u);
  EXPECT_EQ(manifest->arguments[0].first, "x");
  EXPECT_EQ(manifest->arguments[0].second.init->high, 2.0);
  EXPECT_EQ(manifest->arguments[1].second.direction, Direction::out);
  EXPECT_EQ(manifest->arguments[2].second.value, 3.5);
  const std::vector<std::pair<std::string, std::string>> defines = {
      {"block_size_x", "128"}, {"factor", "2"}, {"MODE", "1"}};
  EXPECT_EQ(manifest->defines, defines);
}

TEST(TuningSchema, EqualExpressionsReplaceNumbers) {
  auto manifest = bind_arguments(*parse_tuning_schema(kSchema, "t1.json"), kSignature);
  ASSERT_TRUE(manifest.ok());
  Manifest inferred;
  inferred.launch = Launch{.kernel = "", .block = {128, 1, 1}};
  inferred.launch->grid[0] = *IntegerExpression::parse("cdiv(count, bx)");
  ManifestArgument length;
  length.shape = std::vector<IntegerExpression>{IntegerExpression::symbol("count")};
  inferred.arguments.emplace_back("x", length);
  length.shape = std::vector<IntegerExpression>{*IntegerExpression::parse("count + 1")};
  inferred.arguments.emplace_back("y", length);
  prefer_expressions(inferred, *manifest);
  EXPECT_EQ(manifest->launch->grid[0].text(), "cdiv(count, bx)");
  EXPECT_EQ(manifest->arguments[0].second.shape->front().text(), "count");
  EXPECT_EQ(manifest->arguments[1].second.shape->front().text(), "4096");
}

TEST(TuningSchema, SaysWhereItIsWrong) {
  const auto complain = [](std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const auto schema = parse_tuning_schema(text, "t1.json");
    if (schema.ok()) {
      const auto bound = bind_arguments(*schema, kSignature);
      return bound.ok() ? std::string("accepted") : bound.error().message;
    }
    return schema.error().message;
  };
  EXPECT_EQ(complain(kSchema, "\"CUDA\"", "\"HIP\""),
            "t1.json:10: Language is 'HIP'; only CUDA can be read");
  EXPECT_EQ(complain(kSchema, "KernelSpecification", "KernelSpec"),
            "t1.json:1: KernelSpecification is missing");
  EXPECT_EQ(complain(kSchema, "\"Random\"", "\"BinaryHDF\"").find("t1.json:18: FillType"), 0u);
  EXPECT_NE(complain(kSchema, "\"block_size_x\", \"Y\"", "\"unknown\", \"Y\"").find("unknown"),
            std::string::npos);
  EXPECT_NE(complain(kSchema, "\"Scalar\"", "\"Vector\"").find("t1.json:22"), std::string::npos);
  EXPECT_NE(complain(kSchema, "{\n", "{{{\n").find("not a valid T1 file"), std::string::npos);
}

TEST(TuningSchema, SurvivesAnything) {
  const std::string source = kSchema;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    std::string text = source;
    for (std::uint64_t i = 0; i < 3; ++i) {
      const std::size_t at = random_bits(seed, 1, i) % text.size();
      text.replace(
          at, random_bits(seed, 2, i) % 12,
          source.substr(random_bits(seed, 3, i) % source.size(), random_bits(seed, 4, i) % 12));
    }
    const auto schema = parse_tuning_schema(text, "t1.json");
    if (schema.ok()) (void)bind_arguments(*schema, kSignature).ok();
  }
}

}  // namespace
}  // namespace regraph::tuning_schema_test
