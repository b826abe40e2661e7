// What nvcc is given and what it gives, put into NVRTC's terms: NVRTC is asked for a kernel by its
// C++ name and says the name in PTX; nvcc has no such question, so the source asks it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace regraph::compile_internal {

// The source with one variable behind it that points to the kernel: it instantiates a template,
// and its initial value in the PTX is the kernel's lowered name. An empty `kernel` points nowhere.
[[nodiscard]] std::string with_entry_marker(std::string_view source, std::string_view kernel);

struct MarkedPtx {
  std::string ptx;    // without the marker and what nvcc wrote because of it
  std::string entry;  // lowered name; empty where the marker points nowhere
};

// Takes the marker out of nvcc's PTX, and whatever differs from run to run: `folder`, where it ran,
// and the hash of that path in the names of things with internal linkage. Nothing when the source
// meddled with any of that, so that what is taken out would not be nvcc's own.
[[nodiscard]] std::optional<MarkedPtx> read_marked_ptx(std::string ptx, std::string_view folder);

}  // namespace regraph::compile_internal
