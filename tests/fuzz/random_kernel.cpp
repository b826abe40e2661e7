#include "fuzz/random_kernel.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace regraph::fuzz {
namespace {

struct ElementType {
  std::string_view name;
  std::string_view wide;  // what sums of it are kept in
  int bytes;
};
constexpr std::array<ElementType, 11> kTypes = {{
    {"__half", "float", 2},
    {"__half", "__half", 2},
    {"half", "float", 2},
    {"__nv_bfloat16", "float", 2},
    {"__nv_bfloat16", "__nv_bfloat16", 2},
    {"float", "float", 4},
    {"double", "double", 8},
    {"int", "int", 4},
    {"unsigned int", "unsigned int", 4},
    {"short", "int", 2},
    {"unsigned char", "int", 1},
}};

constexpr int kPackBytes = 16;

// How threads find their elements.
enum class Shape { flat, strided, row_of_block, row_of_thread, plane, packed, dealt };

class Maker {
 public:
  explicit Maker(Random& random) : random_(random), type_(kTypes[below(kTypes.size())]) {
    constexpr std::array<Shape, 7> kShapes = {
        Shape::flat,  Shape::strided, Shape::row_of_block, Shape::row_of_thread,
        Shape::plane, Shape::packed,  Shape::dealt};
    shape_ = kShapes[below(kShapes.size())];
    constexpr std::array<int, 4> kThreads = {32, 64, 128, 256};
    threads_ = kThreads[below(kThreads.size())];
    copies_bits_ = chance(2);
  }

  RandomKernel run() {
    const std::string body = kernel_body();
    RandomKernel result;
    result.source =
        "#include <cassert>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
        "constexpr bool kOn = true, kOff = false;\n";
    if (shape_ == Shape::packed) result.source += pack();
    if (calls_) {
      result.source += fmt::format(
          "__device__ {0} changed({0} v) {{ return v > ({0})1.0f ? v : v * v; }}\n", wide());
    }
    result.source += fmt::format(
        "__global__ void k({0}* {1}out, const {0}* {1}in, const {0}* {1}other, int n, int m) {{\n",
        type(), chance(2) ? "__restrict__ " : "");
    result.source += body + "}\n";
    result.manifest = manifest();
    return result;
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  bool chance(std::size_t of) { return below(of) == 0; }
  std::string_view type() const { return type_.name; }
  std::string_view wide() const { return type_.wide; }

  // A value of the wide type made of what is read at `index`.
  std::string value(const std::string& index, int depth = 0) {
    switch (below(depth < 2 ? 8 : 3)) {
      case 0:
        return fmt::format("({})other[{}]", wide(), index);
      case 1:
        return fmt::format("({})2.0f", wide());
      case 2:
      case 3:
        return fmt::format("({})in[{}]", wide(), index);
      case 4:
        return fmt::format("({} + {})", value(index, depth + 1), value(index, depth + 1));
      case 5:
        return fmt::format("{} * {}", value(index, depth + 1), value(index, depth + 1));
      case 6:
        return fmt::format("(in[{}] > other[{}] ? {} : {})", index, index, value(index, depth + 1),
                           value(index, depth + 1));
      default:
        calls_ = true;
        return fmt::format("changed({})", value(index, depth + 1));
    }
  }

  std::string stored(const std::string& value) { return fmt::format("({})({})", type(), value); }

  // What is done for the element at `index`, `indent` deep; leaves a result in out[index].
  std::string element(const std::string& index) {
    switch (below(8)) {
      case 6:  // what the compiler decides
        return fmt::format(
            "if (kOff || in[{0}] > ({1})1.0f) out[{0}] = kOn ? in[{0}] : other[{0}]; else if (kOn) "
            "out[{0}] = {2};\n",
            index, type(), stored(value(index)));
      case 7:
        return fmt::format("assert(n > 0 && m > 0); out[{}] = {};\n", index, stored(value(index)));
      case 0:  // implicit conversions
        return fmt::format("{} v = in[{}]; v += ({})other[{}]; out[{}] = v;\n", wide(), index,
                           wide(), index, index);
      case 1:
        return fmt::format("{0} v = in[{1}]; if (v < ({0})0.0f) v = -v; out[{1}] = v;\n", type(),
                           index);
      case 2:
        return fmt::format("out[{0}] = {1}; if (in[{0}] > ({2})1.0f) out[{0}] = other[{0}];\n",
                           index, stored(value(index)), type());
      case 3:
        return fmt::format(
            "{0} s{{}}; for (int j = 0; j < 4; ++j) {{ s += ({0})in[{1}] * ({0})(j + 1); }} "
            "out[{1}] "
            "= {2};\n",
            wide(), index, stored("s"));
      case 4:
        return fmt::format(
            "switch (m % 3) {{ case 0: out[{0}] = in[{0}]; break; default: out[{0}] = "
            "{1}; }}\n",
            index, stored(value(index)));
      default:
        return fmt::format("out[{}] = {};\n", index, stored(value(index)));
    }
  }

  [[nodiscard]] int elements_of_pack() const { return kPackBytes / type_.bytes; }

  // Elements that are loaded and stored 16 bytes at once: bits that are copied, or a vector that is
  // seen as elements.
  std::string pack() {
    if (copies_bits_) {
      return fmt::format(
          "struct alignas(16) Pack {{\n  Pack() = default;\n"
          "  __device__ explicit Pack(int4 bits) {{ memcpy(&values, &bits, sizeof(bits)); }}\n"
          "  __device__ {0}& operator[](int i) {{ return values[i]; }}\n"
          "  __device__ int4 bits() const {{ int4 b; memcpy(&b, &values, sizeof(b)); return b; }}\n"
          "  {0} values[{1}];\n}};\n"
          "__device__ Pack load(const {0}* p) {{ return Pack{{*reinterpret_cast<const int4*>(p)}}; "
          "}}\n__device__ void store({0}* p, Pack v) {{ *reinterpret_cast<int4*>(p) = v.bits(); "
          "}}\n",
          type(), elements_of_pack());
    }
    return fmt::format(
        "struct Pack {{\n  {2} data[1];\n"
        "  __device__ {0}& operator[](int i) {{ return (({0}*)data)[i]; }}\n"
        "  __device__ void load(const {0}* p) {{ for (int i = 0; i < {1}; ++i) data[i] = ((const "
        "{2}*)p)[i]; }}\n"
        "  __device__ void store({0}* p) {{ for (int i = 0; i < {1}; ++i) (({2}*)p)[i] = data[i]; "
        "}}\n}};\n",
        type(), 1, chance(2) ? "int4" : "uint4");
  }

  std::string packed() {
    const int count = elements_of_pack();
    std::string result = fmt::format(
        "  int i = (blockIdx.x * blockDim.x + threadIdx.x) * {};\n  if (i >= n) return;\n", count);
    result += copies_bits_ ? "  Pack a = load(in + i), b = load(other + i);\n"
                           : "  Pack a, b;\n  a.load(in + i);\n  b.load(other + i);\n";
    if (chance(2)) {
      result += fmt::format("  for (int k = 0; k < {}; ++k) a[k] = {};\n", count,
                            stored(fmt::format("({0})a[k] + ({0})b[k]", wide())));
      return result + (copies_bits_ ? "  store(out + i, a);\n" : "  a.store(out + i);\n");
    }
    result += fmt::format("  Pack c;\n  for (int k = 0; k < {}; ++k) c[k] = {};\n", count,
                          stored(fmt::format("({0})a[k] * ({0})b[k]", wide())));
    if (chance(2)) result += "  c[0] = a[1];\n";
    return result + (copies_bits_ ? "  store(out + i, c);\n" : "  c.store(out + i);\n");
  }

  // A tile in shared memory that threads fill and read crosswise; `index` is the thread's element,
  // `guard` when it is one.
  std::string exchanged(const std::string& index, const std::string& guard) {
    std::string result = fmt::format("  __shared__ {} tile[{}];\n", type(), threads_);
    const std::string fill = fmt::format("tile[threadIdx.x] = in[{}];", index);
    switch (below(4)) {
      case 0:
        result += fmt::format("  if ({}) {}\n", guard, fill);
        break;
      case 1:
        result +=
            fmt::format("  if ({}) {} else tile[threadIdx.x] = ({})0.0f;\n", guard, fill, type());
        break;
      case 2:
        result +=
            fmt::format("  tile[threadIdx.x] = {0} ? in[{1}] : ({2})0.0f;\n", guard, index, type());
        break;
      default:
        result += fmt::format("  {} v = ({})0.0f; if ({}) v = in[{}]; tile[threadIdx.x] = v;\n",
                              type(), type(), guard, index);
    }
    result += "  __syncthreads();\n";
    // Of a partner whose element is one whenever the thread's own is.
    const std::string from =
        chance(2) ? "threadIdx.x & ~1" : "threadIdx.x > 0 ? threadIdx.x - 1 : 0";
    result += fmt::format(
        "  if ({}) out[{}] = {};\n", guard, index,
        chance(2) ? fmt::format("tile[{}]", from)
                  : stored(fmt::format("({0})tile[{1}] + ({0})other[{2}]", wide(), from, index)));
    return result;
  }

  // The block's sum of `sum`, in its first thread.
  std::string block_sum(const std::string& sum) {
    if (chance(2)) {
      return fmt::format(
          "  __shared__ {0} part[{1}];\n  part[threadIdx.x] = {2};\n  __syncthreads();\n"
          "  for (int half = {1} / 2; half > 0; half /= 2) {{\n"
          "    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];\n"
          "    __syncthreads();\n  }}\n  {2} = part[0];\n",
          wide(), threads_, sum);
    }
    return fmt::format(
        "  __shared__ {0} part[32];\n"
        "  for (int d = 16; d > 0; d /= 2) {2} += __shfl_down_sync(0xffffffffu, {2}, d);\n"
        "  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = {2};\n  __syncthreads();\n"
        "  {2} = ({0})0.0f;\n  for (int w = 0; w < {1} / 32; ++w) {2} += part[w];\n",
        wide(), threads_, sum);
  }

  std::string kernel_body() {
    switch (shape_) {
      case Shape::flat: {
        const std::string first = chance(3) ? fmt::format("blockIdx.x * {} + threadIdx.x", threads_)
                                            : "blockIdx.x * blockDim.x + threadIdx.x";
        std::string result = fmt::format("  int i = {};\n", first);
        if (chance(2)) return result + exchanged("i", "i < n");
        if (chance(2)) return result + "  if (i >= n) return;\n  " + element("i");
        return result + "  if (i < n) {\n    " + element("i") + "  }\n";
      }
      case Shape::strided: {
        std::string result =
            "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
            "blockDim.x) {\n    " +
            element("i") + "  }\n";
        return result;
      }
      case Shape::row_of_block: {
        std::string result = fmt::format("  {} sum = ({})0.0f;\n", wide(), wide());
        result += "  for (int c = threadIdx.x; c < m; c += blockDim.x) {\n    sum += " +
                  value("blockIdx.x * m + c") + ";\n  }\n" + block_sum("sum");
        result +=
            "  for (int c = threadIdx.x; c < m; c += blockDim.x) {\n    out[blockIdx.x * m + c] "
            "= " +
            stored(value("blockIdx.x * m + c") + " + sum") + ";\n  }\n";
        return result;
      }
      case Shape::row_of_thread: {
        std::string result =
            "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row < n) {\n";
        result += fmt::format("    {0} sum = ({0})0.0f;\n", wide());
        result += "    for (int c = 0; c < m; ++c) sum += " + value("row * m + c") + ";\n";
        if (chance(2)) {
          result += "    for (int c = 0; c < m; ++c) out[row * m + c] = " +
                    stored(value("row * m + c") + " + sum") + ";\n";
        } else {
          result += "    out[row * m] = " + stored("sum") + ";\n";
        }
        return result + "  }\n";
      }
      case Shape::packed:
        return packed();
      case Shape::dealt: {
        std::string result = fmt::format(
            "  const {0}* base = in + blockIdx.x * m;\n  const {0}* row = base;\n"
            "  {0}* to = out + blockIdx.x * m;\n",
            type());
        result += fmt::format(
            "  for (int c = threadIdx.x; c < m; c += {}) {{\n    {} v = __ldg(row + c);\n    to[c] "
            "= {};\n  }}\n",
            chance(2) ? "blockDim.x" : std::to_string(threads_), type(),
            stored(fmt::format("({0})v + ({0})other[blockIdx.x * m + c]", wide())));
        return result;
      }
      case Shape::plane: {
        std::string result =
            "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n  int y = blockIdx.y * blockDim.y + "
            "threadIdx.y;\n";
        if (chance(2)) {  // a border alone, as copies of halos are
          return result +
                 "  if (x < m && y < n) {\n    if (x == 0 || x == m - 1 || y == 0 || y == n - 1) "
                 "out[x * n + y] = in[x * n + y];\n  }\n";
        }
        if (chance(2)) {
          return result +
                 fmt::format(
                     "  if (x > 0 && x < m - 1 && y < n) {{\n    {0} s = ({0})in[y * m + x - 1] + "
                     "({0})in[y * m + x] + ({0})in[y * m + x + 1];\n    out[y * m + x] = {1};\n  "
                     "}}\n",
                     wide(), stored("s"));
        }
        return result + "  if (x < m && y < n) {\n    " + element("y * m + x") + "  }\n";
      }
    }
    return "";
  }

  std::string manifest() {
    std::string shape = "[n]";
    std::string sizes = "{n: 1048576, m: 7}";
    std::string tests = "[{n: 1000, m: 7}, {n: 257, m: 3}, {n: 1, m: 5}]";
    std::string launch = fmt::format("{{block: {}, grid: \"cdiv(n, bx)\"}}", threads_);
    if (shape_ == Shape::strided)
      launch = fmt::format("{{block: {}, grid: \"min(64, cdiv(n, bx))\"}}", threads_);
    if (shape_ == Shape::packed) {
      tests = "[{n: 1008, m: 7}, {n: 256, m: 3}, {n: 16, m: 5}]";
      launch =
          fmt::format("{{block: {}, grid: \"cdiv(n, {} * bx)\"}}", threads_, elements_of_pack());
    }
    if (shape_ == Shape::row_of_block || shape_ == Shape::row_of_thread || shape_ == Shape::dealt) {
      shape = "[n, m]";
      sizes = "{n: 4096, m: 512}";
      tests = "[{n: 9, m: 300}, {n: 70, m: 33}, {n: 1, m: 64}]";
      if (shape_ != Shape::row_of_thread) launch = fmt::format("{{block: {}, grid: n}}", threads_);
    }
    if (shape_ == Shape::plane) {
      shape = "[n, m]";
      sizes = "{n: 2048, m: 2048}";
      tests = "[{n: 33, m: 70}, {n: 64, m: 64}, {n: 2, m: 5}]";
      launch =
          fmt::format("{{block: [{}, 4], grid: [\"cdiv(m, bx)\", \"cdiv(n, by)\"]}}", threads_ / 4);
    }
    // Small integers: sums of them are exact in all types.
    const std::string init = "\"int(0, 2)\"";
    return fmt::format(
        "sizes: {}\nargs:\n  out: {{dir: inout, shape: {}, init: {}}}\n  in: {{dir: in, shape: {}, "
        "init: "
        "{}}}\n  other: {{dir: in, shape: {}, init: {}}}\nlaunch: {}\ntests: {}\nassume: "
        "{{noalias: "
        "true, reassociate: {}}}\n",
        sizes, shape, init, shape, init, shape, init, launch, tests, chance(4) ? "false" : "true");
  }

  Random& random_;
  ElementType type_;
  Shape shape_ = Shape::flat;
  int threads_ = 0;
  bool calls_ = false;
  bool copies_bits_ = false;
};

}  // namespace

RandomKernel random_kernel(Random& random) {
  return Maker(random).run();
}

}  // namespace regraph::fuzz
