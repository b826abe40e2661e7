#include "llm/client/curl_transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace regraph::llm {
namespace {

// A reply's headers are a few hundred bytes; libcurl itself limits lines only.
constexpr std::size_t kLongestHeaders = std::size_t{64} << 10;
// Numbers of options that newer headers mark as deprecated; older libraries have nothing else.
constexpr auto kProtocolBits = static_cast<CURLoption>(CURLOPTTYPE_LONG + 181);
constexpr auto kRedirectProtocolBits = static_cast<CURLoption>(CURLOPTTYPE_LONG + 182);

long milliseconds(double seconds) {
  constexpr double kLongest = 1e9;
  return static_cast<long>(std::clamp(seconds * 1e3, 1.0, kLongest));
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

const char* name(TransferFault fault) {
  constexpr std::array kNames = {"none",  "resolve",  "connect",   "certificate", "handshake",
                                 "proxy", "reset",    "timed_out", "slow",        "too_long",
                                 "cut",   "protocol", "cancelled", "internal"};
  const auto index = static_cast<std::size_t>(fault);
  return index < kNames.size() ? kNames[index] : "?";
}

CurlTransfer::CurlTransfer(std::shared_ptr<const CurlApi> api, const TransferOptions& options,
                           HttpPost post, const Cancellation& cancellation)
    : api_(std::move(api)),
      options_(options),
      post_(std::move(post)),
      cancellation_(cancellation),
      started_(Clock::now()) {}

CurlTransfer::~CurlTransfer() {
  if (easy_ != nullptr) api_->easy_cleanup(easy_);
  if (headers_ != nullptr) api_->slist_free_all(headers_);
}

template <typename Value>
void CurlTransfer::set(CURLoption option, Value value) {
  const CURLcode code = api_->easy_setopt(easy_, option, value);
  if (refused_ == CURLE_OK) refused_ = code;
}

void CurlTransfer::set_safety_options() {
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!options_.ca_file.empty()) set(CURLOPT_CAINFO, options_.ca_file.c_str());
  set(CURLOPT_FOLLOWLOCATION, 0L);
  // The names came with 7.85, the bits went after it.
  if (api_->easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https") != CURLE_OK)
    set(kProtocolBits, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
  if (api_->easy_setopt(easy_, CURLOPT_REDIR_PROTOCOLS_STR, "http,https") != CURLE_OK)
    set(kRedirectProtocolBits, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
  // Empty strings, so that libcurl does not ask the environment.
  set(CURLOPT_PROXY, options_.proxy.c_str());
  set(CURLOPT_NOPROXY, options_.no_proxy.c_str());
  // A proxy that is tunnelled through does not see the key.
  set(CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
}

void CurlTransfer::set_connection_options() {
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(options_.connect_seconds));
  if (post_.seconds > 0.0) set(CURLOPT_TIMEOUT_MS, milliseconds(post_.seconds));
  // A model thinks for minutes in which nothing is sent; routers forget such connections.
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, 30L);
  set(CURLOPT_TCP_KEEPINTVL, 15L);
  set(CURLOPT_TCP_NODELAY, 1L);
  // Unknown to libraries before 7.87, which wait for a name that is being looked up.
  (void)api_->easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);
}

Status CurlTransfer::prepare() {
  easy_ = api_->easy_init();
  if (easy_ == nullptr) return fail(ErrorCode::internal, "libcurl gives no handle");
  const std::string authorization = "Authorization: Bearer " + post_.key;
  // "Expect:" without a value: large requests are not to wait for a word of the server first.
  for (const char* header : {"Content-Type: application/json", "Accept: application/json",
                             "Expect:", authorization.c_str()}) {
    if (post_.key.empty() && header == authorization.c_str()) continue;
    curl_slist* const longer = api_->slist_append(headers_, header);
    if (longer == nullptr) return fail(ErrorCode::internal, "libcurl has no memory");
    headers_ = longer;
  }
  set(CURLOPT_ERRORBUFFER, error_text_.data());
  set(CURLOPT_PRIVATE, static_cast<void*>(this));
  set(CURLOPT_URL, post_.url.c_str());
  set(CURLOPT_POST, 1L);
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(post_.body.size()));
  set(CURLOPT_POSTFIELDS, post_.body.c_str());
  set(CURLOPT_HTTPHEADER, headers_);
  set(CURLOPT_USERAGENT, "regraph");
  set(CURLOPT_ACCEPT_ENCODING, "");
  set(CURLOPT_WRITEFUNCTION, &CurlTransfer::on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(CURLOPT_HEADERFUNCTION, &CurlTransfer::on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set_safety_options();
  set_connection_options();
  if (refused_ != CURLE_OK)
    return fail(ErrorCode::internal, fmt::format("libcurl {} refuses an option that is needed: {}",
                                                 api_->version, api_->easy_strerror(refused_)));
  return {};
}

HttpOutcome CurlTransfer::wait() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return over_; });
  return std::move(outcome_);
}

std::size_t CurlTransfer::on_body(char* bytes, std::size_t size, std::size_t count, void* self) {
  return static_cast<CurlTransfer*>(self)->take_body({bytes, size * count});
}

std::size_t CurlTransfer::on_header(char* bytes, std::size_t size, std::size_t count, void* self) {
  return static_cast<CurlTransfer*>(self)->take_header({bytes, size * count});
}

std::size_t CurlTransfer::take_body(std::string_view bytes) {
  if (bytes.size() > options_.body_bytes - outcome_.body.size()) {
    too_long_ = true;
    return 0;  // makes libcurl end the transfer
  }
  if (!body_begun_ && !std::all_of(bytes.begin(), bytes.end(), is_blank)) {
    body_begun_ = true;
    window_start_ = Clock::now();
    window_bytes_ = outcome_.body.size();
  }
  outcome_.body.append(bytes);
  return bytes.size();
}

std::size_t CurlTransfer::take_header(std::string_view line) {
  const std::size_t taken = line.size();
  header_bytes_ += taken;
  if (header_bytes_ > kLongestHeaders) {
    too_long_ = true;
    return 0;
  }
  // A status line: of a proxy, of an interim reply, or the reply itself. The last one counts.
  if (line.starts_with("HTTP/")) {
    outcome_.retry_after.clear();
    outcome_.date.clear();
    outcome_.location.clear();
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return taken;
  const std::string_view header = line.substr(0, colon);
  line.remove_prefix(colon + 1);
  while (!line.empty() && is_blank(line.front()))
    line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back()))
    line.remove_suffix(1);
  if (same_name(header, "retry-after")) outcome_.retry_after = line;
  if (same_name(header, "date")) outcome_.date = line;
  if (same_name(header, "location")) outcome_.location = line;
  return taken;
}

bool CurlTransfer::too_slow(Clock::time_point now) {
  if (!body_begun_ || options_.slow_seconds <= 0.0) return false;
  if (std::chrono::duration<double>(now - window_start_).count() < options_.slow_seconds)
    return false;
  const std::size_t came = outcome_.body.size() - window_bytes_;
  window_start_ = now;
  window_bytes_ = outcome_.body.size();
  return came < static_cast<std::size_t>(std::max<std::int64_t>(options_.slow_bytes, 0));
}

long CurlTransfer::info(CURLINFO what) const {
  long value = 0;
  (void)api_->easy_getinfo(easy_, what, &value);
  return value;
}

TransferFault CurlTransfer::fault_of(CURLcode code) const {
  switch (code) {
    case CURLE_OK:
      return TransferFault::none;
    case CURLE_COULDNT_RESOLVE_HOST:
      return TransferFault::resolve;
    case CURLE_COULDNT_CONNECT:
      return TransferFault::connect;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY:
      return TransferFault::proxy;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
      return TransferFault::certificate;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CIPHER:
      return TransferFault::handshake;
    case CURLE_OPERATION_TIMEDOUT:
      // Nothing was sent yet: it is the connection that did not come about.
      return info(CURLINFO_REQUEST_SIZE) == 0 ? TransferFault::connect : TransferFault::timed_out;
    case CURLE_WRITE_ERROR:
    case CURLE_FILESIZE_EXCEEDED:
      return too_long_ ? TransferFault::too_long : TransferFault::cut;
    case CURLE_PARTIAL_FILE:
    case CURLE_BAD_CONTENT_ENCODING:
      return TransferFault::cut;
    case CURLE_UNSUPPORTED_PROTOCOL:  // an answer without a status line
    case CURLE_WEIRD_SERVER_REPLY:
      return TransferFault::protocol;
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      if (info(CURLINFO_HTTP_CONNECTCODE) >= 300) return TransferFault::proxy;
      return outcome_.body.empty() ? TransferFault::reset : TransferFault::cut;
    default:
      return too_long_ ? TransferFault::too_long : TransferFault::internal;
  }
}

void CurlTransfer::finish(CURLcode code) {
  outcome_.status = static_cast<int>(info(CURLINFO_RESPONSE_CODE));
  outcome_.fault = fault_of(code);
  if (outcome_.fault == TransferFault::too_long) {
    outcome_.message = fmt::format("the answer is longer than {} bytes", options_.body_bytes);
  } else if (outcome_.fault != TransferFault::none) {
    outcome_.message = error_text_[0] != '\0' ? error_text_.data() : api_->easy_strerror(code);
  }
  end();
}

void CurlTransfer::abort(TransferFault fault, std::string message) {
  if (easy_ != nullptr) outcome_.status = static_cast<int>(info(CURLINFO_RESPONSE_CODE));
  outcome_.fault = fault;
  outcome_.message = std::move(message);
  end();
}

void CurlTransfer::end() {
  outcome_.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_all();
}

}  // namespace regraph::llm
