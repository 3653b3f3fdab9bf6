/*
 * Requests URL0, URL1, ... with libcurl's multi interface, so many at a time: parents-floor URL COUNT CONCURRENCY
 *
 * What a walk by parent is compared with: it reuses connections, and throws away what it receives.
 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

static const char *base;
static long count, next_number, done;

static void fail(const char *message) {
    fprintf(stderr, "parents-floor: %s\n", message);
    exit(1);
}

static size_t take(char *bytes, size_t size, size_t number, void *data) {
    (void)bytes;
    (void)data;
    return size * number;
}

static void start(CURLM *multi, CURL *request) {
    char url[512];
    if (snprintf(url, sizeof url, "%s%ld", base, next_number++) >= (int)sizeof url) {
        fail("the URL is too long");
    }
    curl_easy_setopt(request, CURLOPT_URL, url);
    if (curl_multi_add_handle(multi, request) != CURLM_OK) {
        fail("a request cannot be added");
    }
}

int main(int argument_count, char **arguments) {
    if (argument_count != 4) {
        fail("usage: parents-floor URL COUNT CONCURRENCY");
    }
    base = arguments[1];
    count = atol(arguments[2]);
    long concurrency = atol(arguments[3]);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    for (long number = 0; number < concurrency && number < count; number++) {
        CURL *request = curl_easy_init();
        curl_easy_setopt(request, CURLOPT_WRITEFUNCTION, take);
        curl_easy_setopt(request, CURLOPT_FAILONERROR, 1L);
        start(multi, request);
    }
    while (done < count) {
        int running;
        if (curl_multi_perform(multi, &running) != CURLM_OK) {
            fail("libcurl failed");
        }
        int waiting;
        CURLMsg *message;
        while ((message = curl_multi_info_read(multi, &waiting))) {
            if (message->data.result != CURLE_OK) {
                fail(curl_easy_strerror(message->data.result));
            }
            CURL *request = message->easy_handle;
            curl_multi_remove_handle(multi, request);
            done++;
            if (next_number < count) {
                start(multi, request);
            } else {
                curl_easy_cleanup(request);
            }
        }
        if (done < count) {
            curl_multi_poll(multi, NULL, 0, 1000, NULL);
        }
    }
    curl_multi_cleanup(multi);
    printf("%ld\n", done);
}
