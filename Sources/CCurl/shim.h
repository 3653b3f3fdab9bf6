#ifndef BMO_CCURL_SHIM_H
#define BMO_CCURL_SHIM_H

#include <curl/curl.h>

/* Swift cannot call variadic C functions: one typed function per kind of argument. */

typedef size_t (*bmo_curl_data_callback)(char *data, size_t size, size_t count, void *context);

static inline CURLcode bmo_curl_global_init(void) { return curl_global_init(CURL_GLOBAL_ALL); }

static inline CURLcode bmo_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode bmo_curl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode bmo_curl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode bmo_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode bmo_curl_set_write(CURL *handle, bmo_curl_data_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, callback);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_WRITEDATA, context) : code;
}
static inline CURLcode bmo_curl_set_header(CURL *handle, bmo_curl_data_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, callback);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_HEADERDATA, context) : code;
}
static inline CURLcode bmo_curl_set_debug(CURL *handle, curl_debug_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, callback);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_DEBUGDATA, context) : code;
}
static inline CURLcode bmo_curl_set_sockets(
    CURL *handle, curl_opensocket_callback open, curl_closesocket_callback close, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, close);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_CLOSESOCKETDATA, context) : code;
}
static inline curl_off_t bmo_curl_get_offset(CURL *handle, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}
static inline long bmo_curl_get_long(CURL *handle, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}
static inline const char *bmo_curl_get_string(CURL *handle, CURLINFO info) {
    char *value = NULL;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : NULL;
}

#endif
