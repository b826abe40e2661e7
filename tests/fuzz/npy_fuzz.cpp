// Feeds damaged heads of NumPy files to their reader. What it accepts must lie inside of the text,
// and count as many elements as its shape says.
#include "fuzz/mutate.h"
#include "kernel/npy_header.h"

#include <string>
#include <string_view>

namespace {

using namespace regraph;  // NOLINT: a program of its own

constexpr std::string_view kWords[] = {
    "\x93NUMPY", "'descr': ", "'<f4'", "'fortran_order': ",      "False", "True",
    "'shape': ", "(3, 4)",    "(),",   "9223372036854775807",    "-1",    "{",
    "}",         "\\",        "'",     "4294967296, 4294967296", "\n",    "\"",
};

// Version `major`.0, as NumPy writes it.
std::string sound(unsigned major, std::string_view dictionary) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(major);
  text += '\0';
  for (std::size_t i = 0; i < (major == 1 ? 2 : 4); ++i)
    text += static_cast<char>(dictionary.size() >> (8 * i) & 0xffU);
  return text + std::string(dictionary);
}

constexpr std::string_view kDictionaries[] = {
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }          \n",
    "{'descr': '|b1', 'fortran_order': True, 'shape': (7,), }\n",
    "{'shape': (), 'descr': \"<i8\", 'fortran_order': False}\n",
};

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(fuzz::settings(argc, argv));
  for (const std::string_view dictionary : kDictionaries) {
    for (const unsigned major : {1U, 2U}) {
      if (!parse_npy_header(sound(major, dictionary)).ok()) rounds.fail("what is sound is refused");
    }
  }
  return rounds.run([&](fuzz::Random& random) {
    // The dictionary damaged and its length as it is then, or the whole of it.
    std::string text(kDictionaries[random() % std::size(kDictionaries)]);
    const unsigned major = random() % 2 == 0 ? 1 : 2;
    const bool inside = random() % 2 == 0;
    if (inside) fuzz::damage(text, random, kWords);
    text = sound(major, text);
    if (!inside) fuzz::damage(text, random, kWords);
    const Result<NpyHeader> header = parse_npy_header(text);
    if (!header.ok()) {
      if (header.error().message.find("NumPy header") == std::string::npos)
        rounds.fail(header.error().message);
      return;
    }
    if (header->data_begin > text.size()) rounds.fail("the data begin behind the file");
    std::int64_t elements = 1;
    for (const std::int64_t extent : header->shape) {
      if (extent < 0) rounds.fail("an extent is negative");
      elements *= extent;
    }
    if (elements != header->elements) rounds.fail("the shape is another one");
    (void)scalar_type_from_npy(header->type);
  });
}
