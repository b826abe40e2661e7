#include "base/result.h"

namespace regraph {

const char* name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::parse:
      return "parse";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::refused:
      return "refused";
    case ErrorCode::declined:
      return "declined";
    case ErrorCode::compile:
      return "compile";
    case ErrorCode::resource:
      return "resource";
    case ErrorCode::io:
      return "io";
    case ErrorCode::permission:
      return "permission";
    case ErrorCode::busy:
      return "busy";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace regraph
