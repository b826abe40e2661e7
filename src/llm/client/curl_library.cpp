#include "llm/client/curl_library.h"

#include "base/symbol_resolver.h"
#include "llm/client/curl_api.h"

#include <fmt/format.h>

#include <dlfcn.h>
#include <mutex>

namespace regraph::llm {
namespace {

namespace fs = std::filesystem;

// curl_multi_wakeup came with 7.68.
constexpr unsigned kOldestVersion = 0x074400;

// Resolves all functions; names the first that is missing.
std::string resolve(void* handle, CurlApi& api) {
  SymbolResolver symbol(handle);
  symbol("curl_global_init", api.global_init);
  symbol("curl_version_info", api.version_info);
  symbol("curl_slist_append", api.slist_append);
  symbol("curl_slist_free_all", api.slist_free_all);
  symbol("curl_easy_init", api.easy_init);
  symbol("curl_easy_setopt", api.easy_setopt);
  symbol("curl_easy_getinfo", api.easy_getinfo);
  symbol("curl_easy_cleanup", api.easy_cleanup);
  symbol("curl_easy_strerror", api.easy_strerror);
  symbol("curl_multi_init", api.multi_init);
  symbol("curl_multi_setopt", api.multi_setopt);
  symbol("curl_multi_add_handle", api.multi_add_handle);
  symbol("curl_multi_remove_handle", api.multi_remove_handle);
  symbol("curl_multi_perform", api.multi_perform);
  symbol("curl_multi_poll", api.multi_poll);
  symbol("curl_multi_wakeup", api.multi_wakeup);
  symbol("curl_multi_info_read", api.multi_info_read);
  symbol("curl_multi_cleanup", api.multi_cleanup);
  symbol("curl_multi_strerror", api.multi_strerror);
  return symbol.missing();
}

// Empty, or why this library will not do.
std::string objection(const CurlApi& api, const std::string& missing) {
  if (!missing.empty()) return "has no " + missing + " (7.68 or newer is needed)";
  const curl_version_info_data* const info = api.version_info(CURLVERSION_NOW);
  if (info->version_num < kOldestVersion)
    return fmt::format("version {} is too old (7.68 or newer is needed)", info->version);
  if ((info->features & CURL_VERSION_SSL) == 0) return "was built without TLS";
  // Else looking up one name would stop all transfers.
  if ((info->features & CURL_VERSION_ASYNCHDNS) == 0) return "was built without asynchronous DNS";
  return "";
}

}  // namespace

std::vector<fs::path> curl_candidates() {
  return {"libcurl.so.4", "libcurl-gnutls.so.4"};
}

Result<std::shared_ptr<const CurlApi>> load_curl(std::span<const fs::path> candidates) {
  // curl_global_init is not thread-safe in older versions.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::string tried;
  ErrorCode code = ErrorCode::not_found;
  for (const fs::path& candidate : candidates) {
    const auto refuse = [&](const std::string& why) {
      tried += fmt::format("\n  {}: {}", candidate.string(), why);
    };
    void* const handle = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const why = ::dlerror();
      refuse(why == nullptr ? "cannot be loaded" : why);
      continue;
    }
    const auto api = std::make_shared<CurlApi>();
    api->library = candidate.string();
    const std::string why = objection(*api, resolve(handle, *api));
    if (!why.empty()) {
      code = ErrorCode::unsupported;
      refuse(why);
      continue;
    }
    if (api->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
      refuse("does not start");
      continue;
    }
    api->version = api->version_info(CURLVERSION_NOW)->version;
    return std::shared_ptr<const CurlApi>(api);
  }
  return fail(code, "no usable libcurl, so language models cannot be asked; tried:" + tried +
                        "\nInstall the package libcurl4 (Debian, Ubuntu) or libcurl (Fedora, "
                        "RHEL).");
}

}  // namespace regraph::llm
