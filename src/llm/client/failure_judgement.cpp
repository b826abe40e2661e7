#include "llm/client/failure_judgement.h"

namespace regraph::llm {

Judgement judge_fault(TransferFault fault) {
  switch (fault) {
    case TransferFault::resolve:
    case TransferFault::handshake:  // also what is seen of a connection that breaks meanwhile
    case TransferFault::proxy:
      return {ChatFailure::unreachable, RetryClass::once};
    case TransferFault::connect:
    case TransferFault::reset:
      return {ChatFailure::unreachable, RetryClass::transient};
    case TransferFault::timed_out:
    case TransferFault::slow:
      return {ChatFailure::timed_out, RetryClass::transient};
    case TransferFault::cut:
      return {ChatFailure::malformed, RetryClass::malformed};
    case TransferFault::too_long:
    case TransferFault::protocol:
      return {ChatFailure::malformed, RetryClass::once};
    case TransferFault::cancelled:
      return {ChatFailure::cancelled, RetryClass::never};
    case TransferFault::certificate:
    case TransferFault::internal:
    case TransferFault::none:
      break;
  }
  return {ChatFailure::unreachable, RetryClass::never};
}

Judgement judge_status(int status, const ServerError& error) {
  // Of the account, whatever the status: OpenAI says 429, DeepSeek 402.
  if (status == 401 || status == 402 || status == 403 || says_out_of_credit(error))
    return {ChatFailure::unauthorised, RetryClass::never};
  if (status == 404 || (status == 400 && says_unknown_model(error)))
    return {ChatFailure::unknown_model, RetryClass::never};
  if (status == 408) return {ChatFailure::timed_out, RetryClass::transient};
  if (status == 409 || status == 425 || status == 429)
    return {ChatFailure::overloaded, RetryClass::transient};
  if (status == 407) return {ChatFailure::unreachable, RetryClass::never};
  if (status >= 400 && status < 500) return {ChatFailure::rejected, RetryClass::never};
  if (status == 501 || status == 505) return {ChatFailure::rejected, RetryClass::never};
  if (status >= 500 || status == 0) return {ChatFailure::overloaded, RetryClass::transient};
  // 1xx and 3xx: whoever answers, it is not a server of this protocol.
  return {ChatFailure::unreachable, RetryClass::never};
}

const char* advice(int status, const Judgement& judgement) {
  if (status >= 300 && status < 400)
    return "; redirects are not followed: give the address that is meant";
  if (status == 407) return "; the proxy wants a user name and password, in its URL";
  switch (judgement.failure) {
    case ChatFailure::unauthorised:
      return "; check the key and the account";
    case ChatFailure::unknown_model:
      return "; check the name of the model and the address (is /v1 right?)";
    default:
      return "";
  }
}

}  // namespace regraph::llm
