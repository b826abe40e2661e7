// Looks up the functions of a library that was loaded at run time.
#pragma once

#include <dlfcn.h>
#include <string>

namespace regraph {

// Fills function pointers one by one and remembers the name of the first that the library lacks.
class SymbolResolver {
 public:
  // `handle` is dlopen's.
  explicit SymbolResolver(void* handle) : handle_(handle) {}

  template <typename Function>
  void operator()(const char* symbol, Function& function) {
    // POSIX gives functions as void*.
    function = reinterpret_cast<Function>(::dlsym(handle_, symbol));
    if (function == nullptr && missing_.empty()) missing_ = symbol;
  }

  // Empty when nothing is missing.
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  void* handle_;
  std::string missing_;
};

}  // namespace regraph
