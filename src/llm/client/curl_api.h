// libcurl, loaded at run time: a table of its functions. Includes curl's headers (types only);
// include it in .cpp files, and forward-declare CurlApi elsewhere.
#pragma once

#include <curl/curl.h>
#include <string>

namespace regraph::llm {

// What is used of libcurl, 7.68 or newer. Thread-safe as far as libcurl is. Never unloaded: its TLS
// library registers handlers that run when the program ends.
struct CurlApi {
  std::string library;  // the path or soname that was loaded
  std::string version;  // e.g. "7.88.1"

  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_version_info) version_info = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;

  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;

  decltype(&::curl_multi_init) multi_init = nullptr;
  decltype(&::curl_multi_setopt) multi_setopt = nullptr;
  decltype(&::curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&::curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&::curl_multi_perform) multi_perform = nullptr;
  decltype(&::curl_multi_poll) multi_poll = nullptr;
  decltype(&::curl_multi_wakeup) multi_wakeup = nullptr;
  decltype(&::curl_multi_info_read) multi_info_read = nullptr;
  decltype(&::curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&::curl_multi_strerror) multi_strerror = nullptr;
};

}  // namespace regraph::llm
