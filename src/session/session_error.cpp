#include "session/session_error.h"

namespace regraph {

SessionError session_error(Error error) {
  switch (error.code) {
    case ErrorCode::io:
    case ErrorCode::internal:
      return {FailureCause::internal, std::move(error.message)};
    case ErrorCode::cancelled:
      return {FailureCause::interrupted, std::move(error.message)};
    default:
      return {FailureCause::usage, std::move(error.message)};
  }
}

}  // namespace regraph
