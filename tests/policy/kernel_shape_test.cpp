#include "policy/kernel_shape.h"

#include "policy/policy_case.h"
#include "source/build.h"

#include <gtest/gtest.h>

#include <set>

namespace regraph::policy::kernel_shape_test {
namespace {

// A shape by name.
class Shape {
 public:
  explicit Shape(const std::string& code, const Dim3& block = {.x = 32, .y = 8})
      : shape_(shape_of(test::parse(code).kernel, block)) {}

  explicit Shape(const KernelShape& shape) : shape_(shape) {}

  float value(std::string_view name) const {
    for (std::size_t at = 0; at < kShapeSize; ++at) {
      if (kShapeNames[at] == name) return shape_.values[at];
    }
    ADD_FAILURE() << "no number is called " << name;
    return 0.0F;
  }
  // What a number that is stored as log2(1 + count) counts.
  int count(std::string_view name) const {
    return static_cast<int>(std::lround(std::exp2(value(name)) - 1.0F));
  }
  const KernelShape& all() const { return shape_; }

 private:
  KernelShape shape_;
};

TEST(KernelShape, NamesAreUnique) {
  EXPECT_EQ(std::set(std::begin(kShapeNames), std::end(kShapeNames)).size(), kShapeSize);
}

TEST(KernelShape, CountsLoopsAndMultipliesLiteralTripsOfTheDeepestNest) {
  const Shape shape(R"(__global__ void f(float* a, int n) {
    for (int i = 0; i < 16; ++i) {
      #pragma unroll
      for (int j = 0; j < 4; ++j) a[i * 4 + j] = 0.0f;
    }
    for (int i = 0; i < 32; ++i) a[i] = 1.0f;
    for (int i = 0; i < n; ++i) a[i] = 2.0f;
    while (n > 1) { n = n / 2; }
  })");
  EXPECT_EQ(shape.count("loops"), 5);
  EXPECT_EQ(shape.value("loop_depth"), 2.0F);
  EXPECT_EQ(shape.count("unrolled_loops"), 1);
  EXPECT_EQ(shape.value("constant_trips"), 6.0F);  // 16 * 4, more than 32
  EXPECT_EQ(shape.count("divisions"), 1);
}

TEST(KernelShape, HeadersOfLoopsAreNoStatementsAndNoAccumulations) {
  const Shape shape(R"(__global__ void f(float* a, const int* ends, int n) {
    for (int i = ends[0]; i < n; i += 2) a[i] = 1.0f;
  })");
  EXPECT_EQ(shape.count("statements"), 1);
  EXPECT_EQ(shape.count("inner_statements"), 1);
  EXPECT_EQ(shape.count("accumulations"), 0);
  EXPECT_EQ(shape.count("global_loads"), 1);
  EXPECT_EQ(shape.count("inner_global_loads"), 0);  // the start is read once
}

TEST(KernelShape, TellsStridesOfLoadsApart) {
  const Shape shape(R"(__global__ void f(const float* a, const int* b, float* out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * n + x] = a[y * n + x] + a[y * n - x]  // neighbours, either way
        + a[y]                                    // the same
        + a[y + 2 * x] + a[y + 3 * x] + a[4 * x]  // literal
        + a[x * n + y]                            // symbolic
        + a[b[x]] + a[x * x];                     // no polynomial, and b's neighbours
  })");
  EXPECT_EQ(shape.count("global_loads"), 10);
  EXPECT_EQ(shape.count("unit_stride_loads"), 3);
  EXPECT_EQ(shape.count("same_address_loads"), 1);
  EXPECT_EQ(shape.count("constant_stride_loads"), 3);
  EXPECT_EQ(shape.count("symbolic_stride_loads"), 1);
  EXPECT_EQ(shape.count("unknown_stride_loads"), 2);
  EXPECT_EQ(shape.count("inner_global_loads"), 0);
  EXPECT_EQ(shape.count("global_stores"), 1);
  EXPECT_EQ(shape.count("unit_stride_stores"), 1);
}

TEST(KernelShape, AThreadsOwnElementIsNotReused) {
  const std::string code = R"(__global__ void f(const float* a, float* out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    out[x] = a[x] + a[threadIdx.y * 64 + x] + a[0];
  })";
  EXPECT_EQ(Shape(code, {.x = 32, .y = 8}).count("reused_loads"), 2);
  EXPECT_EQ(Shape(code, {.x = 256}).count("reused_loads"), 1);  // nobody else in y
}

TEST(KernelShape, CompoundStoresReadToo) {
  const Shape shape(R"(__global__ void f(float* out, float4* wide, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; ++k) {
      out[x] += 1.0f;
      out[x * n] *= 2.0f;
      wide[x].y -= 3.0f;
    }
  })");
  EXPECT_EQ(shape.count("global_stores"), 3);
  EXPECT_EQ(shape.count("unit_stride_stores"), 2);
  EXPECT_EQ(shape.count("other_stride_stores"), 1);
  EXPECT_EQ(shape.count("global_loads"), 3);
  EXPECT_EQ(shape.count("inner_global_loads"), 3);
  EXPECT_EQ(shape.count("accumulations"), 0);  // that is memory
}

TEST(KernelShape, TellsSharedArraysFromThoseOfAThread) {
  const Shape shape(R"(__global__ void f(const float* a, float* out) {
    __shared__ float tile[8][33];
    __shared__ float row[32];
    float kept[4][2];
    kept[0][1] = a[threadIdx.x];
    tile[threadIdx.y][threadIdx.x] = kept[0][1];
    __syncthreads();
    row[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
    __syncthreads();
    out[threadIdx.x] = row[0];
  })");
  EXPECT_EQ(shape.count("shared_arrays"), 2);
  EXPECT_EQ(shape.count("shared_accesses"), 4);
  EXPECT_EQ(shape.count("local_array_elements"), 8);
  EXPECT_EQ(shape.count("barriers"), 2);
  EXPECT_EQ(shape.count("global_loads"), 1);
  EXPECT_EQ(shape.count("global_stores"), 1);
}

TEST(KernelShape, CountsAccumulationsInLoops) {
  const Shape shape(R"(__global__ void f(const float* a, float* out, int n) {
    float sum = 0.0f;
    float kept[2];
    kept[0] = 0.0f;
    sum += 1.0f;
    for (int i = 0; i < n; ++i) {
      kept[0] += a[i];
      for (int j = 0; j < n; ++j) {
        sum += a[i * n + j];
      }
      out[i] += 1.0f;
    }
    out[threadIdx.x] = sum + kept[0];
  })");
  EXPECT_EQ(shape.count("accumulations"), 2);
  EXPECT_EQ(shape.count("inner_accumulations"), 1);
  EXPECT_EQ(shape.count("inner_global_loads"), 1);
}

TEST(KernelShape, CountsBranchesCallsAndDivisions) {
  const Shape shape(R"(__global__ void f(float* a, float* sum, int n) {
    int x = threadIdx.x;
    float value = x < n ? sqrtf(a[x / n]) : a[x % n] / 3.0f;
    value = __shfl_down_sync(0xffffffffu, value, 1);
    if (x == 0) atomicAdd(&sum[0], value);
  })");
  EXPECT_EQ(shape.count("conditionals"), 1);
  EXPECT_EQ(shape.count("branches"), 1);
  EXPECT_EQ(shape.count("functions"), 1);
  EXPECT_EQ(shape.count("warp_intrinsics"), 1);
  EXPECT_EQ(shape.count("atomics"), 1);
  EXPECT_EQ(shape.count("divisions"), 2);  // that of floats is none
}

// ((float4*)&array[4 * threadIdx.x])[0], as vectorize_global writes it.
source::ExprPtr wide(const std::string& array) {
  const auto first = source::multiply(source::integer(4), source::builtin("threadIdx.x"));
  const auto place = source::element(source::variable(array, ScalarType::f32), {first});
  return source::element(source::cast("float4*", source::address(place)), {source::integer(0)});
}

TEST(KernelShape, SeesAccessesThroughCasts) {
  source::Kernel kernel = test::parse("__global__ void f(const float* a, float* b) {}").kernel;
  source::Variable whole;
  whole.name = "whole";
  whole.type = "float4";
  const auto pair = [](const std::string& array, const std::string& type) {
    return source::element(source::cast(type, source::variable(array, ScalarType::f32)),
                           {source::builtin("threadIdx.x")});
  };
  const auto set = source::AssignmentOperator::assign;
  kernel.body = {source::declare(whole, wide("a")),
                 source::assign(wide("b"), set, source::variable("whole", std::nullopt)),
                 source::assign(pair("b", "float2*"), set, pair("a", "const float2 *"))};
  const Shape shape(shape_of(kernel, {.x = 64}));
  EXPECT_EQ(shape.count("global_loads"), 2);
  EXPECT_EQ(shape.count("unit_stride_loads"), 2);
  EXPECT_EQ(shape.count("global_stores"), 2);
  EXPECT_EQ(shape.count("unit_stride_stores"), 2);
  EXPECT_EQ(shape.count("vector_accesses"), 2);
  EXPECT_EQ(shape.count("widest_element"), 16);
}

TEST(KernelShape, KnowsHowWideElementsAre) {
  source::Kernel kernel =
      test::parse("__global__ void f(float4* a) { a[threadIdx.x].y = 1; }").kernel;
  const auto widest = [&](const std::string& type, std::optional<ScalarType> scalar = {}) {
    kernel.parameters.front().type = type;
    kernel.parameters.front().scalar = scalar;
    return Shape(shape_of(kernel, {.x = 32})).count("widest_element");
  };
  EXPECT_EQ(kernel.parameters.front().type, "float4");
  EXPECT_EQ(widest("float4"), 16);
  EXPECT_EQ(widest("byte", ScalarType::u8), 1);  // a typedef
  EXPECT_EQ(widest("double", ScalarType::f64), 8);
  EXPECT_EQ(widest("float2"), 8);
  EXPECT_EQ(widest("uchar4"), 4);
  EXPECT_EQ(widest("longlong2"), 16);
}

TEST(KernelShape, TakesExtentsOfTheBlock) {
  const Shape shape("__global__ void f(float* a) { a[0] = 1.0f; }", {.x = 64, .y = 4, .z = 2});
  EXPECT_EQ(shape.value("block_x"), 6.0F);
  EXPECT_EQ(shape.value("block_y"), 2.0F);
  EXPECT_EQ(shape.value("block_threads"), 9.0F);
}

TEST(KernelShape, ReadsTheSignature) {
  const Shape some(R"(__global__ void __launch_bounds__(256)
      f(const float* __restrict__ a, float* b, int n) { b[n] = a[n]; })");
  EXPECT_EQ(some.value("restrict_parameters"), 0.5F);
  EXPECT_EQ(some.value("launch_bounds"), 1.0F);
  const Shape none("__global__ void f() {}");
  EXPECT_EQ(none.value("restrict_parameters"), 0.0F);
  EXPECT_EQ(none.value("launch_bounds"), 0.0F);
  EXPECT_EQ(none.value("loop_depth"), 0.0F);
}

TEST(KernelShape, DoesNotDependOnNamesAndSizesOfAProblem) {
  const auto with = [](const std::string& array, const std::string& size) {
    return Shape("__global__ void " + array + "_kernel(float* " + array + ", int " + size +
                 ") { for (int i = threadIdx.x; i < " + size + "; i += 32) " + array +
                 "[i] += 1.0f; }")
        .all()
        .values;
  };
  EXPECT_EQ(with("matrix", "rows"), with("v", "n"));
}

}  // namespace
}  // namespace regraph::policy::kernel_shape_test
