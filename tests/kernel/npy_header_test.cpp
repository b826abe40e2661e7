#include "kernel/npy_header.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace regraph::npy_header_test {
namespace {

// A file's head as NumPy writes it: padded so that the data begin at a multiple of 64.
std::string head(std::string dictionary, int major = 1) {
  const std::size_t width = major == 1 ? 2 : 4;
  while ((8 + width + dictionary.size() + 1) % 64 != 0)
    dictionary += ' ';
  dictionary += '\n';
  std::string text = "\x93NUMPY";
  text += static_cast<char>(major);
  text += '\0';
  for (std::size_t i = 0; i < width; ++i)
    text += static_cast<char>(dictionary.size() >> (8 * i) & 0xff);
  return text + dictionary;
}

constexpr const char* kPlain = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";

std::string error_of(const std::string& content) {
  const auto header = parse_npy_header(content);
  EXPECT_FALSE(header.ok()) << content;
  return header.ok() ? "" : header.error().message;
}

TEST(NpyHeader, ReadsWhatNumPyWrites) {
  for (const int major : {1, 2}) {
    const std::string text = head(kPlain, major);
    const auto header = parse_npy_header(text + "data");
    ASSERT_TRUE(header.ok()) << header.error().message;
    EXPECT_EQ(header->type, "<f4");
    EXPECT_FALSE(header->fortran_order);
    EXPECT_EQ(header->shape, (std::vector<std::int64_t>{3, 4}));
    EXPECT_EQ(header->elements, 12);
    EXPECT_EQ(header->data_begin, text.size());
  }
  const auto vector =
      parse_npy_header(head("{'descr': '|b1', 'fortran_order': True, 'shape': (7,), }"));
  ASSERT_TRUE(vector.ok()) << vector.error().message;
  EXPECT_TRUE(vector->fortran_order);
  EXPECT_EQ(vector->elements, 7);
  const auto scalar =
      parse_npy_header(head("{'shape': (), \"descr\": '<i8', 'fortran_order': False}"));
  ASSERT_TRUE(scalar.ok()) << scalar.error().message;
  EXPECT_EQ(scalar->elements, 1);
  const auto empty =
      parse_npy_header(head("{'descr': '<i8', 'fortran_order': False, 'shape': (0, 5)}"));
  ASSERT_TRUE(empty.ok()) << empty.error().message;
  EXPECT_EQ(empty->elements, 0);
}

TEST(NpyHeader, SaysWhatIsWrong) {
  EXPECT_NE(error_of("PK\x03\x04").find("no .npy file"), std::string::npos);
  EXPECT_NE(error_of(head(kPlain).substr(0, 7)).find("cut off"), std::string::npos);
  EXPECT_NE(error_of(head(kPlain).substr(0, 9)).find("cut off"), std::string::npos);
  EXPECT_NE(error_of(head(kPlain).substr(0, 40)).find("cut off"), std::string::npos);
  EXPECT_NE(error_of(head(kPlain, 3)).find("3.0"), std::string::npos);
  std::string long_one = head(kPlain, 2);
  long_one[11] = '\x7f';
  EXPECT_NE(error_of(long_one).find("bytes long"), std::string::npos);
  const std::pair<const char*, const char*> cases[] = {
      {"['descr']", "no dictionary"},
      {"{'descr': '<f4', 'fortran_order': False}", "lacks one of"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", "twice"},
      {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': ()}", "structures"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", "neither True nor False"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3)}", "no tuple"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': [3, 4]}", "no tuple"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}", "no number"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3L,)}", "no tuple"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4 5)}", "does not end"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "64 bits"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': ()} + evil()", "goes on"},
      {"{'descr': '<f4' 'fortran_order': False, 'shape': ()}", "comma"},
      {"{'descr': '<f4', 'order': False, 'shape': ()}", "does not belong"},
      {"{descr: '<f4'}", "cannot be read"},
  };
  for (const auto& [dictionary, reason] : cases)
    EXPECT_NE(error_of(head(dictionary)).find(reason), std::string::npos)
        << dictionary << ": " << error_of(head(dictionary));
}

TEST(NpyHeader, TypesThereAndBack) {
  for (const char* code : {"|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2",
                           "<V2", "<f4", "<f8"}) {
    const auto type = scalar_type_from_npy(code);
    ASSERT_TRUE(type.has_value()) << code;
    EXPECT_EQ(npy_type(*type), code);
  }
  for (const char* code : {">f4", "<c8", "|S4", "<U3", "|V4", "", "f4"})
    EXPECT_FALSE(scalar_type_from_npy(code).has_value()) << code;
  EXPECT_EQ(scalar_type_from_npy("|V2"), ScalarType::bf16);
}

}  // namespace
}  // namespace regraph::npy_header_test
