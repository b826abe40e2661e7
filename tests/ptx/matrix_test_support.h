// Shared by tests of matrix products: values of all types that tensor cores take, as bits and back,
// written down from the formats' definitions; and kernels that do something to registers.
#pragma once

#include "ptx/ptx_test_support.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace regraph::ptx {

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
};
inline FloatFormat format_of(const std::string& type) {
  if (type == "f16") return {5, 10};
  if (type == "bf16") return {8, 7};
  if (type == "tf32") return {8, 23};  // a float whose lower 13 bits nobody reads
  if (type == "e4m3") return {4, 3};
  if (type == "e5m2") return {5, 2};
  return {8, 23};
}
inline int bits_of_type(const std::string& type) {
  if (type == "f64") return 64;
  if (type == "s32" || type == "f32" || type == "tf32") return 32;
  return type == "f16" || type == "bf16" ? 16 : 8;
}
inline int values_of_type(const std::string& type) {
  return type == "f64" ? 1 : 32 / bits_of_type(type);
}

// Of values that the type holds exactly.
inline std::uint64_t encode(const std::string& type, double value) {
  if (type == "f64") return std::bit_cast<std::uint64_t>(value);
  if (type == "s32" || type == "s8" || type == "u8") {
    const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    return bits & ((1ULL << bits_of_type(type)) - 1);
  }
  const FloatFormat format = format_of(type);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const std::uint64_t sign = std::signbit(value) ? 1 : 0;
  std::uint64_t magnitude = 0;
  if (value != 0.0) {
    int exponent = std::max(std::ilogb(value), 1 - bias);
    const auto mantissa = static_cast<std::uint64_t>(
        std::llround(std::ldexp(std::fabs(value), format.mantissa_bits - exponent)));
    magnitude =
        (static_cast<std::uint64_t>(exponent + bias - 1) << format.mantissa_bits) + mantissa;
  }
  return sign << (format.exponent_bits + format.mantissa_bits) | magnitude;
}

inline double decode(const std::string& type, std::uint64_t bits) {
  if (type == "f64") return std::bit_cast<double>(bits);
  if (type == "s32") return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
  const FloatFormat format = format_of(type);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const std::uint64_t mantissa = bits & ((1ULL << format.mantissa_bits) - 1);
  const auto exponent =
      static_cast<int>((bits >> format.mantissa_bits) & ((1U << format.exponent_bits) - 1));
  const bool negative = ((bits >> (format.exponent_bits + format.mantissa_bits)) & 1U) != 0;
  const double value =
      exponent == 0 ? std::ldexp(static_cast<double>(mantissa), 1 - bias - format.mantissa_bits)
                    : std::ldexp(static_cast<double>(mantissa + (1ULL << format.mantissa_bits)),
                                 exponent - bias - format.mantissa_bits);
  return negative ? -value : value;
}

// A value that the type holds exactly: a small integer, or one of any bits near one.
inline double random_value(const std::string& type, std::uint64_t draw, bool integers) {
  const bool is_unsigned = type == "u8";
  if (integers || type[0] == 's' || is_unsigned) {
    const auto value = static_cast<double>(draw % 8);
    return is_unsigned ? value : value - 4;
  }
  const double value = to_unit_interval(draw) * 2.0 - 1.0;
  if (type == "f64") return value;
  const std::string kept = type == "tf32" ? "f16" : type;
  const FloatFormat format = format_of(kept);
  // Rounded to the type by cutting the mantissa.
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  exponent = std::max(exponent, -4);
  const double steps = std::ldexp(1.0, format.mantissa_bits);
  return std::ldexp(std::trunc(std::ldexp(fraction, 0) * steps) / steps, exponent);
}

// Lane l loads word r * 32 + l for each of its registers %r, runs `body`, and stores registers %d.
inline std::string register_kernel(const std::string& body, int registers, int results, bool wide) {
  const std::string type = wide ? "b64" : "b32";
  const int bytes = wide ? 8 : 4;
  std::string text =
      ".version 8.7\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n  .reg .pred %p;\n  .reg ." +
      type + " %r<" + std::to_string(registers + 8) + ">, %d<" + std::to_string(results + 4) +
      ">;\n  .reg .b32 %t;\n  .reg .b64 %in, %out, %at;\n"
      "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  mov.u32 %t, %tid.x;\n"
      "  mul.wide.u32 %at, %t, " +
      std::to_string(bytes) + ";\n  add.s64 %in, %in, %at;\n  add.s64 %out, %out, %at;\n";
  for (int d = 0; d < results; ++d)
    text += "  mov." + type + " %d" + std::to_string(d) + ", 0;\n";
  for (int r = 0; r < registers; ++r)
    text += "  ld.global." + type + " %r" + std::to_string(r) + ", [%in+" +
            std::to_string(32 * bytes * r) + "];\n";
  text += body + "\n";
  for (int d = 0; d < results; ++d)
    text += "  st.global." + type + " [%out+" + std::to_string(32 * bytes * d) + "], %d" +
            std::to_string(d) + ";\n";
  return text + "  ret;\n}\n";
}

inline std::vector<std::uint64_t> run_on_registers(const std::string& body, int registers,
                                                   int results,
                                                   const std::vector<std::uint64_t>& words,
                                                   bool wide) {
  const Program program = load_or_die(register_kernel(body, registers, results, wide), "k");
  DeviceMemory memory;
  const auto count = static_cast<std::size_t>(32 * results);
  const std::vector<std::uint32_t> narrow(words.begin(), words.end());
  const auto in = wide ? make_buffer(memory, "in", words) : make_buffer(memory, "in", narrow);
  const auto out = wide ? make_buffer(memory, "out", std::vector<std::uint64_t>(count))
                        : make_buffer(memory, "out", std::vector<std::uint32_t>(count));
  const RunResult run =
      run_kernel(program, memory, {1, 1, 1}, {32, 1, 1}, Parameters().add(in).add(out));
  EXPECT_TRUE(run.ok()) << run.fault.message;
  if (wide) return read_buffer<std::uint64_t>(memory, out);
  const auto values = read_buffer<std::uint32_t>(memory, out);
  return {values.begin(), values.end()};
}

}  // namespace regraph::ptx
