#include "sass/elf_image.h"

#include "sass/sass_test_support.h"

#include <gtest/gtest.h>

namespace regraph::sass::elf_image_test {
namespace {

const char* const kSource = "__global__ void k(float* p) { p[threadIdx.x] *= 2.0f; }";

std::vector<std::byte> cubin() {
  return test::compiled(kSource).cubin;
}

// Everything that can be asked of an image; must not leave the bytes.
std::size_t read_all(std::span<const std::byte> bytes) {
  const auto image = ElfImage::open(bytes);
  if (!image) return 0;
  std::size_t sum = 0;
  for (const Elf64_Shdr& section : image->sections()) {
    const std::string_view content = image->content(section);
    for (const char c : content)
      sum += static_cast<unsigned char>(c);
    sum += image->name(section).size() + image->table<Elf64_Rela>(section).size();
  }
  for (const Elf64_Sym& symbol : image->symbols())
    sum += image->name(symbol).size();
  return sum;
}

TEST(ElfImage, FindsWhatACubinHolds) {
  const std::vector<std::byte> bytes = cubin();
  const auto image = ElfImage::open(bytes);
  ASSERT_TRUE(image.has_value());
  const std::string entry = test::compiled(kSource).entry;
  const Elf64_Shdr* text = image->find(".text." + entry);
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(image->content(*text).size() % 16, 0u);
  EXPECT_GT(image->content(*text).size(), 0u);
  ASSERT_NE(image->find(".nv_debug_line_sass"), nullptr);
  EXPECT_EQ(image->find(".no_such_section"), nullptr);
  bool kernel = false;
  for (const Elf64_Sym& symbol : image->symbols())
    kernel = kernel || (image->name(symbol) == entry && (symbol.st_other & kKernelFlag) != 0);
  EXPECT_TRUE(kernel);
}

TEST(ElfImage, RefusesWhatIsNoElfFile) {
  EXPECT_FALSE(ElfImage::open({}).has_value());
  const std::vector<std::byte> zeros(4096);
  EXPECT_FALSE(ElfImage::open(zeros).has_value());
  std::vector<std::byte> bytes = cubin();
  for (const std::size_t at : {std::size_t{0}, std::size_t{EI_CLASS}, std::size_t{EI_DATA}}) {
    std::vector<std::byte> changed = bytes;
    changed[at] ^= std::byte{0x40};
    EXPECT_FALSE(ElfImage::open(changed).has_value()) << at;
  }
}

TEST(ElfImage, SurvivesTruncationAtEveryByte) {
  const std::vector<std::byte> bytes = cubin();
  ASSERT_GT(read_all(bytes), 0u);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    // A copy of its own, so that a sanitizer sees reads behind the end.
    const std::vector<std::byte> part(bytes.begin(), bytes.begin() + static_cast<long>(length));
    (void)read_all(part);
  }
}

TEST(ElfImage, OffsetsAndSizesBeyondTheFileAreEmptySections) {
  std::vector<std::byte> bytes = cubin();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    const std::size_t at = header.e_shoff + i * sizeof(section);
    std::memcpy(&section, bytes.data() + at, sizeof(section));
    if (i == header.e_shstrndx) continue;
    section.sh_offset = i % 2 == 0 ? ~std::uint64_t{0} - 3 : section.sh_offset;
    section.sh_size = ~std::uint64_t{0};
    std::memcpy(bytes.data() + at, &section, sizeof(section));
  }
  const auto image = ElfImage::open(bytes);
  ASSERT_TRUE(image.has_value());
  for (std::size_t i = 0; i < image->sections().size(); ++i) {
    if (i != header.e_shstrndx) {
      EXPECT_TRUE(image->content(image->sections()[i]).empty()) << i;
    }
  }
}

}  // namespace
}  // namespace regraph::sass::elf_image_test
