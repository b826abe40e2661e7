// Where the programs and files that come with the library are, and where it may keep things.
#pragma once

#include <filesystem>
#include <string_view>

namespace regraph {

struct Installation {
  std::filesystem::path programs;      // folder of the worker programs
  std::filesystem::path shared_files;  // folder of the shipped ReGraph, prompts and prices
  std::filesystem::path
      cache_directory;  // compiled kernels and paid answers; empty: nothing is kept

  // That of a program started by the path `program`: the others lie beside it, files in
  // ../share/regraph or, for a program that was built here and not installed, in the sources.
  [[nodiscard]] static Installation of_program(const std::filesystem::path& program);
  // What `cmake --install --prefix PREFIX` made.
  [[nodiscard]] static Installation at(const std::filesystem::path& prefix);

  [[nodiscard]] std::filesystem::path compile_worker() const;
  [[nodiscard]] std::filesystem::path gpu_worker() const;
  // Folder of the library that takes libcudart's place in a program that is captured.
  [[nodiscard]] std::filesystem::path capture_runtime() const;
  // The library that looks on in a program on a GPU.
  [[nodiscard]] std::filesystem::path capture_injection() const;
  // "cuda.yaml", "prices.yaml", "prompts", "prompts-triton", "prompts-small".
  [[nodiscard]] std::filesystem::path shipped(std::string_view name) const;
  // A script of python/, e.g. "regraph_parquet.py".
  [[nodiscard]] std::filesystem::path python_script(std::string_view name) const;
};

// REGRAPH_CACHE_DIR, else regraph/ in XDG_CACHE_HOME or in ~/.cache; empty without any of them.
[[nodiscard]] std::filesystem::path default_cache_directory();

}  // namespace regraph
