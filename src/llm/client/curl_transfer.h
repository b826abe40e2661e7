// One POST on a curl easy handle. Includes curl's headers; include it in .cpp files only.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "llm/client/curl_api.h"
#include "llm/client/transfer.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace regraph::llm {

// Made and waited for by a caller's thread, everything between by the engine's thread.
class CurlTransfer {
 public:
  using Clock = std::chrono::steady_clock;

  // `options` and `cancellation` must outlive the transfer's end.
  CurlTransfer(std::shared_ptr<const CurlApi> api, const TransferOptions& options, HttpPost post,
               const Cancellation& cancellation);
  ~CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  // Sets all options. Error: internal, when libcurl does not take one that safety depends on.
  [[nodiscard]] Status prepare();
  // Blocks until finish() or abort().
  [[nodiscard]] HttpOutcome wait();

  [[nodiscard]] CURL* handle() const { return easy_; }
  [[nodiscard]] bool cancelled() const { return cancellation_.requested(); }
  // Whether the body has been too slow up to `now`.
  [[nodiscard]] bool too_slow(Clock::time_point now);
  // Ends the transfer with what libcurl says of it; the handle must be out of the multi handle.
  void finish(CURLcode code);
  // Ends the transfer for a reason of our own.
  void abort(TransferFault fault, std::string message);

 private:
  static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self);
  static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self);
  std::size_t take_body(std::string_view bytes);
  std::size_t take_header(std::string_view line);
  void set_connection_options();
  void set_safety_options();
  template <typename Value>
  void set(CURLoption option, Value value);
  [[nodiscard]] TransferFault fault_of(CURLcode code) const;
  [[nodiscard]] long info(CURLINFO what) const;
  void end();

  const std::shared_ptr<const CurlApi> api_;
  const TransferOptions& options_;
  const HttpPost post_;
  const Cancellation& cancellation_;
  CURL* easy_ = nullptr;
  curl_slist* headers_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
  CURLcode refused_ = CURLE_OK;  // the first option that was not taken
  HttpOutcome outcome_;
  std::size_t header_bytes_ = 0;
  bool too_long_ = false;
  bool body_begun_ = false;
  Clock::time_point started_;
  Clock::time_point window_start_;
  std::size_t window_bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
};

}  // namespace regraph::llm
