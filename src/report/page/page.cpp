#include "report/page/page.h"

#include "base/files.h"
#include "report/page/page_files.h"
#include "report/page/payload.h"
#include "report/page/run_files.h"

#include <array>
#include <cstdint>
#include <utility>

namespace regraph {
namespace {

unsigned digit(char hexadecimal) {
  return static_cast<unsigned>(hexadecimal <= '9' ? hexadecimal - '0' : hexadecimal - 'a' + 10);
}

// A hash as policies of pages name it.
std::string base64(std::string_view hexadecimal) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : hexadecimal) {
    bits = (bits << 4) | digit(c);
    count += 4;
    if (count < 6) continue;
    count -= 6;
    result += kDigits[(bits >> count) & 63];
  }
  if (count > 0) result += kDigits[(bits << (6 - count)) & 63];
  while (result.size() % 4 != 0)
    result += '=';
  return result;
}

std::string source_of(const PageFile& file) {
  return "'sha256-" + base64(file.sha256) + "'";
}

// JSON within an element of a page: nothing that ends the element or begins another one is left.
std::string escaped(std::string_view json) {
  std::string result;
  result.reserve(json.size() + json.size() / 16);
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    const std::string_view rest = json.substr(at, 3);
    if (c == '<') {
      result += "\\u003c";
    } else if (c == '>') {
      result += "\\u003e";
    } else if (c == '&') {
      result += "\\u0026";
    } else if (rest == "\u2028" || rest == "\u2029") {
      result += rest == "\u2028" ? "\\u2028" : "\\u2029";
      at += 2;
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string page_html(std::string_view payload) {
  const std::string policy = "default-src 'none'; script-src " + source_of(kPageLibrary) + " " +
                             source_of(kPageScript) + "; style-src " + source_of(kPageStyle) +
                             "; base-uri 'none'; form-action 'none'";
  const std::string data = escaped(payload);
  const std::array<std::pair<std::string_view, std::string_view>, 5> parts = {{
      {"{{POLICY}}", policy},
      {"{{STYLE}}", kPageStyle.text},
      {"{{DATA}}", data},
      {"{{LIBRARY}}", kPageLibrary.text},
      {"{{SCRIPT}}", kPageScript.text},
  }};
  std::string page;
  std::string_view rest = kPageTemplate.text;
  // In the order of the template, so that nothing that was put in is looked at again.
  for (const auto& [mark, text] : parts) {
    const std::size_t at = rest.find(mark);
    page += rest.substr(0, at);
    page += text;
    rest.remove_prefix(at + mark.size());
  }
  page += rest;
  return page;
}

Status write_page(const std::filesystem::path& directory) {
  const Result<RunFiles> files = read_run_files(directory);
  if (!files) return files.error();
  const Result<std::string> payload = page_payload(*files);
  if (!payload)
    return fail(payload.error().code, directory.string() + ": " + payload.error().message);
  return write_file(directory / "report.html", page_html(*payload));
}

}  // namespace regraph
