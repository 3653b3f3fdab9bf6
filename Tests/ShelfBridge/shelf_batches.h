/* How the shelf bridge reads and writes batches. */
#include <bmo_batch.h>
#include <bmo_bridge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void text(bmo_writer *w, const char *key, const char *value) {
    bmo_write_key(w, key, strlen(key));
    bmo_write_text(w, value, strlen(value));
}

static void number(bmo_writer *w, const char *key, int64_t value) {
    bmo_write_key(w, key, strlen(key));
    bmo_write_int64(w, value);
}

static void flag(bmo_writer *w, const char *key, int value) {
    bmo_write_key(w, key, strlen(key));
    bmo_write_bool(w, value);
}

static void deliver(bmo_writer *w, bmo_buffer *output) {
    uint8_t *data;
    size_t size;
    if (bmo_writer_finish(w, &data, &size)) *output = (bmo_buffer){data, size, NULL};
    bmo_writer_free(w);
}

static bmo_status fail(bmo_buffer *error, const char *code, const char *message, const char *remedy) {
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    text(&w, "code", code);
    text(&w, "message", message);
    if (remedy) text(&w, "remedy", remedy);
    flag(&w, "retryable", 0);
    bmo_write_object_end(&w);
    deliver(&w, error);
    return BMO_FAILED;
}

static void copy_text(const bmo_view *view, const bmo_slot *object, const char *name, char *out, size_t capacity) {
    size_t length = 0;
    const char *value = object ? bmo_view_text(view, bmo_view_member(view, object, name), &length) : NULL;
    if (value) snprintf(out, capacity, "%.*s", (int)length, value);
}
