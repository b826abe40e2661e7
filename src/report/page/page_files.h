// The page's own files and the library that draws, as the build put them into the program
// (embed.cmake). Internal.
#pragma once

#include <string_view>

namespace regraph {

struct PageFile {
  std::string_view text;
  std::string_view sha256;  // hexadecimal
};

extern const PageFile kPageTemplate;  // page.html, with {{NAME}} where something belongs
extern const PageFile kPageStyle;
extern const PageFile kPageLibrary;  // D3, with its notice
extern const PageFile kPageScript;

}  // namespace regraph
