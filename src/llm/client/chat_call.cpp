#include "llm/client/chat_call.h"

#include "base/hash.h"
#include "llm/client/encode_request.h"
#include "llm/client/pause.h"
#include "llm/client/retry_after.h"
#include "llm/client/scrub.h"
#include "llm/client/token_estimate.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph::llm {
namespace {

constexpr std::size_t kLongestQuote = 400;
// What an answer is taken for when nobody says how long it may be.
constexpr std::int64_t kUsualAnswer = 1024;

std::int64_t estimate(const ChatRequest& request) {
  const std::int64_t answer = request.max_tokens > 0 ? request.max_tokens : kUsualAnswer;
  return estimate_prompt_tokens(request) + answer * request.choices;
}

std::optional<double> wait_of(const HttpOutcome& outcome) {
  if (outcome.retry_after.empty()) return std::nullopt;
  // Dates are the server's, and its clock need not be ours.
  const auto now = parse_http_date(outcome.date);
  return parse_retry_after(
      outcome.retry_after,
      now.value_or(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())));
}

std::uint64_t call_number(const ChatRequest& request) {
  return hash_text(request_key(request)).low;
}

}  // namespace

ClientShared::ClientShared(ChatClientOptions given, Endpoint where,
                           std::unique_ptr<TransferEngine> transfers)
    : options(std::move(given)),
      endpoint(std::move(where)),
      engine(std::move(transfers)),
      gate(options.in_flight),
      limiter(options.rates, std::chrono::steady_clock::now()),
      dialect_(options.dialect) {}

ServerDialect ClientShared::dialect() const {
  const std::lock_guard lock(mutex_);
  return dialect_;
}

void ClientShared::learn(const ServerDialect& dialect) {
  const std::lock_guard lock(mutex_);
  dialect_ = dialect;
}

ChatCall::ChatCall(ClientShared& shared, const ChatRequest& request,
                   const Cancellation& cancellation)
    : shared_(shared),
      request_(request),
      cancellation_(cancellation),
      started_(Clock::now()),
      end_(started_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                          std::min(shared.options.total_seconds, 1e8)))),
      dialect_(shared.dialect()) {}

double ChatCall::remaining() const {
  return std::chrono::duration<double>(end_ - Clock::now()).count();
}

ChatResult ChatCall::run() {
  ChatAnswer result;
  const auto wanted = static_cast<std::size_t>(std::max(request_.choices, 1));
  ChatRequest missing = request_;
  // Each round brings at least one choice or ends.
  for (std::uint64_t round = 0; result.choices.size() < wanted; ++round) {
    missing.choices = request_.choices - static_cast<int>(result.choices.size());
    // With the same seed it would be the same answer.
    if (request_.seed) missing.seed = *request_.seed + static_cast<std::int64_t>(round);
    Attempt outcome = ask(missing, round);
    if (!outcome) {
      if (result.choices.empty()) return std::move(outcome).error();
      break;
    }
    DecodedAnswer& answer = *outcome;
    if (answer.choices.size() > static_cast<std::size_t>(missing.choices))
      answer.choices.resize(static_cast<std::size_t>(missing.choices));
    if (round == 0) {
      result.usage = answer.usage;
      result.model = answer.model;
    } else {
      result.usage += answer.usage;
    }
    for (ChatChoice& choice : answer.choices)
      result.choices.push_back(std::move(choice));
  }
  result.attempts = attempts_;
  result.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  return result;
}

ChatCall::Attempt ChatCall::ask(const ChatRequest& wanted, std::uint64_t part) {
  RetrySchedule schedule(shared_.options.retry, call_number(request_) + part);
  for (;;) {
    adapted_ = false;
    retry_ = RetryClass::never;
    retry_after_.reset();
    Attempt outcome = attempt(wanted);
    if (outcome) return outcome;
    if (adapted_) continue;
    const auto wait = schedule.next(retry_, retry_after_, remaining());
    if (!wait) return outcome;
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(*wait));
    if (!pause_until(until, cancellation_))
      return give_up(ChatFailure::cancelled, "cancelled while waiting to try again");
  }
}

std::optional<ChatError> ChatCall::enter(std::int64_t tokens) {
  if (auto error = useless()) return error;
  const auto entry = shared_.gate.enter(end_, cancellation_);
  if (entry == InFlightGate::Entry::cancelled)
    return give_up(ChatFailure::cancelled, "cancelled while other requests were in flight");
  if (entry == InFlightGate::Entry::timed_out)
    return give_up(ChatFailure::timed_out, "the time was over before a request could be sent");
  // The limits per minute come last, so that a request is sent when its turn is and not in a heap
  // with others that had theirs while they waited to enter.
  std::optional<ChatError> error;
  const auto may_send = shared_.limiter.take(tokens, Clock::now());
  if (may_send >= end_) {
    error = give_up(ChatFailure::timed_out, "the limits per minute leave no time for the request");
  } else if (!pause_until(may_send, cancellation_)) {
    error = give_up(ChatFailure::cancelled, "cancelled while waiting for the limits per minute");
  } else {
    // Meanwhile another call may have found out that it is of no use.
    error = useless();
  }
  if (error) {
    shared_.limiter.give_back(tokens, Clock::now());
    shared_.gate.leave();
  }
  return error;
}

std::optional<ChatError> ChatCall::useless() const {
  if (cancellation_.requested()) return give_up(ChatFailure::cancelled, "cancelled");
  auto error = shared_.breaker.open(request_.model);
  if (error) {
    error->attempts = attempts_;
    error->usage = lost_;
  }
  return error;
}

ChatCall::Attempt ChatCall::attempt(const ChatRequest& wanted) {
  auto body = encode_request(wanted, dialect_);
  if (!body.ok()) return give_up(ChatFailure::rejected, body.error().message);
  const std::int64_t tokens = estimate(wanted);
  if (auto error = enter(tokens)) return std::move(*error);
  HttpPost post{shared_.endpoint.chat_url, std::move(*body), shared_.options.key,
                std::max(0.001, std::min(shared_.options.request_seconds, remaining()))};
  ++attempts_;
  HttpOutcome outcome = shared_.engine->perform(std::move(post), cancellation_);
  shared_.gate.leave();
  shared_.statistics.count_request(failed_before_, outcome.seconds);
  const TokenUsage lost_before = lost_;
  Attempt result = read(wanted, std::move(outcome));
  std::int64_t used = 0;
  if (result) {
    used = result->usage.prompt_tokens + result->usage.completion_tokens;
    shared_.statistics.count_answered_request(result->usage);
    failed_before_ = false;
  } else {
    failed_before_ = true;
    used = lost_.prompt_tokens + lost_.completion_tokens - lost_before.prompt_tokens -
           lost_before.completion_tokens;
    shared_.breaker.note(request_.model, result.error());
  }
  shared_.limiter.settle(tokens, used, Clock::now());
  return result;
}

ChatCall::Attempt ChatCall::read(const ChatRequest& wanted, HttpOutcome outcome) {
  retry_after_ = wait_of(outcome);
  const bool has_status = outcome.status >= 300;
  // A status says more than that its page was cut or too long.
  const bool page_only =
      outcome.fault == TransferFault::cut || outcome.fault == TransferFault::too_long;
  if (outcome.fault != TransferFault::none && !(has_status && page_only)) {
    const Judgement judgement = judge_fault(outcome.fault);
    TokenUsage lost;
    if (judgement.failure == ChatFailure::malformed && outcome.status != 0)
      lost = {.prompt_tokens = estimate_prompt_tokens(wanted),
              .completion_tokens = estimate_tokens(outcome.body)};
    return failed(judgement, outcome.message, lost);
  }
  if (outcome.status < 200 || has_status)
    return read_error(outcome, outcome.status, read_server_error(outcome.body));
  auto decoded = decode_answer(outcome.body);
  if (decoded) {
    finish(*decoded, wanted);
    return std::move(*decoded);
  }
  const UndecodedAnswer& undecoded = decoded.error();
  if (undecoded.error) return read_error(outcome, undecoded.error->status, *undecoded.error);
  TokenUsage lost = undecoded.usage;
  if (!lost.reported)
    lost = {.prompt_tokens = estimate_prompt_tokens(wanted),
            .completion_tokens = estimate_tokens(outcome.body)};
  // Scrubbed before it is cut, so that no part of a key is left.
  const std::string quote = excerpt(scrub(outcome.body, shared_.options.key), kLongestQuote / 2);
  return failed({ChatFailure::malformed, RetryClass::malformed},
                undecoded.why + (quote.empty() ? "" : ": " + quote), lost);
}

ChatCall::Attempt ChatCall::read_error(const HttpOutcome& outcome, int status,
                                       const ServerError& error) {
  const Judgement judgement = judge_status(status, error);
  adapted_ = adapt(status, error);
  const std::string text =
      status >= 300 && status < 400 ? "Location: " + outcome.location : error.message;
  const std::string quote = excerpt(scrub(text, shared_.options.key), kLongestQuote);
  const std::string number = status == 0 ? "an error" : fmt::format("status {}", status);
  return failed(judgement,
                fmt::format("the server answered with {}{}{}{}", number, quote.empty() ? "" : ": ",
                            quote, advice(status, judgement)),
                {});
}

bool ChatCall::adapt(int status, const ServerError& error) {
  const auto parameter = refused_parameter(status, error);
  if (!parameter) return false;
  // A weaker form of response_format may be refused as well: two steps.
  const bool first = given_up_.insert(*parameter).second;
  if (!first && *parameter != RequestParameter::response_format) return false;
  const bool both_limits = given_up_.contains(RequestParameter::max_tokens) &&
                           given_up_.contains(RequestParameter::max_completion_tokens);
  const auto weaker = without(dialect_, *parameter, both_limits);
  if (!weaker) return false;
  dialect_ = *weaker;
  shared_.learn(dialect_);
  return true;
}

ChatError ChatCall::failed(const Judgement& judgement, const std::string& why,
                           const TokenUsage& lost) {
  retry_ = judgement.retry;
  shared_.statistics.count_failed_request(judgement.failure, lost);
  if (lost.prompt_tokens > 0 || lost.completion_tokens > 0) lost_ += lost;
  return give_up(judgement.failure, why);
}

ChatError ChatCall::give_up(ChatFailure failure, const std::string& why) const {
  ChatError error;
  error.failure = failure;
  error.attempts = attempts_;
  error.usage = lost_;
  error.message = scrub(fmt::format("{}: {}{}", shared_.endpoint.chat_url, why,
                                    attempts_ > 1 ? fmt::format(" (attempt {})", attempts_) : ""),
                        shared_.options.key);
  return error;
}

void ChatCall::finish(DecodedAnswer& answer, const ChatRequest& wanted) const {
  if (!answer.usage.reported) {
    answer.usage = {.prompt_tokens = estimate_prompt_tokens(wanted),
                    .completion_tokens = estimate_completion_tokens(answer.choices)};
  }
  const auto clean = [&](std::string& text) { text = scrub(text, shared_.options.key); };
  clean(answer.model);
  for (ChatChoice& choice : answer.choices) {
    clean(choice.text);
    clean(choice.refusal);
    clean(choice.reasoning);
  }
}

}  // namespace regraph::llm
