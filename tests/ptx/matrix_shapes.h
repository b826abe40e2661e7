// Every mma.sync that the interpreter knows.
#pragma once

#include "ptx/matrix_test_support.h"

#include <string>
#include <vector>

namespace regraph::ptx {

inline std::string list(const std::string& name, int first, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i > 0 ? ", " : "") + name + std::to_string(first + i);
  return text + "}";
}

struct Shape {
  std::string name;  // m16n8k16
  std::string a;
  std::string b;
  std::string sum;
  int rows;
  int depth;
  std::string modifier;  // .satfinite

  // Registers of a lane.
  [[nodiscard]] int a_words() const { return rows * depth / 32 / values_of_type(a); }
  [[nodiscard]] int b_words() const { return 8 * depth / 32 / values_of_type(b); }
  [[nodiscard]] int sum_words() const { return rows * 8 / 32 / values_of_type(sum); }
  // The instruction, of registers %r in this order: A, B, C; and %d.
  [[nodiscard]] std::string text() const {
    return "mma.sync.aligned." + name + ".row.col" + modifier + "." + sum + "." + a + "." + b +
           "." + sum + " " + list("%d", 0, sum_words()) + ", " + list("%r", 0, a_words()) + ", " +
           list("%r", a_words(), b_words()) + ", " +
           list("%r", a_words() + b_words(), sum_words()) + ";";
  }
};

inline std::vector<Shape> shapes() {
  std::vector<Shape> all = {
      {"m16n8k8", "f16", "f16", "f32", 16, 8, ""},
      {"m16n8k16", "f16", "f16", "f32", 16, 16, ""},
      {"m16n8k8", "f16", "f16", "f16", 16, 8, ""},
      {"m16n8k16", "f16", "f16", "f16", 16, 16, ""},
      {"m16n8k8", "bf16", "bf16", "f32", 16, 8, ""},
      {"m16n8k16", "bf16", "bf16", "f32", 16, 16, ""},
      {"m16n8k4", "tf32", "tf32", "f32", 16, 4, ""},
      {"m16n8k8", "tf32", "tf32", "f32", 16, 8, ""},
      {"m8n8k4", "f64", "f64", "f64", 8, 4, ""},
      {"m16n8k4", "f64", "f64", "f64", 16, 4, ""},
      {"m16n8k8", "f64", "f64", "f64", 16, 8, ""},
      {"m16n8k16", "f64", "f64", "f64", 16, 16, ""},
  };
  for (const std::string a : {"e4m3", "e5m2"}) {
    for (const std::string b : {"e4m3", "e5m2"}) {
      for (const std::string sum : {"f32", "f16"}) {
        all.push_back({"m16n8k32", a, b, sum, 16, 32, ""});
        all.push_back({"m16n8k16", a, b, sum, 16, 16, ""});
      }
    }
  }
  for (const std::string a : {"s8", "u8"}) {
    for (const std::string b : {"s8", "u8"}) {
      all.push_back({"m16n8k32", a, b, "s32", 16, 32, ""});
      all.push_back({"m16n8k16", a, b, "s32", 16, 16, ".satfinite"});
    }
  }
  return all;
}

}  // namespace regraph::ptx
