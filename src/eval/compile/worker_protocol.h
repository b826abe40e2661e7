// What the compiler and its worker process say to each other: length-prefixed fields on pipes. The
// worker has read foreign source, so its answer is parsed as foreign too.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::compile_internal {

// What compilers that are programs need beyond NVRTC, which is a library.
struct ToolRequest {
  std::string program;    // nvcc or Python, an absolute path; empty: NVRTC compiles
  std::string script;     // of Python's; empty: the program is nvcc
  std::string assembler;  // ptxas
  std::vector<std::string> assembler_options;
  std::vector<std::string> runnable_directories;  // programs below may be read and run
  std::string folder;  // fresh and empty: the only place where anything may be written
};

struct WorkerRequest {
  std::string nvrtc_library;                     // absolute path
  std::vector<std::string> include_directories;  // the only files the worker may read
  std::vector<std::pair<std::string, std::string>>
      headers;            // name -> text, win over the directories
  std::string file_name;  // of the source, in messages
  std::string source;
  std::string kernel;                // name expression
  std::vector<std::string> options;  // of the compiler; for a script one, the job it reads
  bool want_cubin = true;
  ToolRequest tools;
};

struct WorkerResponse {
  enum class Status : unsigned char {
    compiled,
    rejected,  // the compiler found an error in the source; `log` says which
    failed,    // the worker could not do its work; `log` says why
  };
  Status status = Status::failed;
  std::string log;
  std::string ptx;
  std::string cubin;
  std::string entry;    // lowered name of the kernel
  std::string sandbox;  // empty when the sandbox is whole, else what is missing
};

[[nodiscard]] std::string encode(const WorkerRequest& request);
[[nodiscard]] std::string encode(const WorkerResponse& response);
// Nothing on malformed bytes.
[[nodiscard]] std::optional<WorkerRequest> decode_request(std::string_view bytes);
[[nodiscard]] std::optional<WorkerResponse> decode_response(std::string_view bytes);

}  // namespace regraph::compile_internal
