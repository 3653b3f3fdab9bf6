/* The bridge `accounts`: the accounts of a system as records, from a file in the format of passwd(5).
 *
 * A whole bridge in plain C, with the two headers of the kit and nothing else: resumable, with rejected lines.
 * docs/your-first-bridge.md of bmo builds it step by step; bmo_bridge.h says what each function is called for. */
#include <bmo_batch.h>
#include <bmo_bridge.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bmo_instance {
    char path[4096];
};

struct bmo_fetch {
    FILE *file;
    const char *path;
    char *line;
    size_t capacity;
    int64_t done, page_size;
    atomic_int cancelled;
};

/* The fields of a line, in their order. The password's has no name: it is not read. */
static const struct {
    const char *name;
    int is_number;
} fields[] = {{"name", 0}, {NULL, 0}, {"uid", 1}, {"gid", 1}, {"comment", 0}, {"home", 0}, {"shell", 0}};
#define FIELDS (sizeof fields / sizeof *fields)

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

/* Hands the writer's batch to the host, and frees the writer. */
static void deliver(bmo_writer *w, bmo_buffer *output) {
    uint8_t *data;
    size_t size;
    if (bmo_writer_finish(w, &data, &size)) *output = (bmo_buffer){data, size, NULL};
    bmo_writer_free(w);
}

static bmo_status report(
    bmo_buffer *error, const char *code, const char *message, const char *remedy, int is_retryable) {
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    text(&w, "code", code);
    text(&w, "message", message);
    if (remedy) text(&w, "remedy", remedy);
    flag(&w, "retryable", is_retryable);
    bmo_write_object_end(&w);
    deliver(&w, error);
    return BMO_FAILED;
}

static bmo_status fail(bmo_buffer *error, const char *code, const char *message, const char *remedy) {
    return report(error, code, message, remedy, 0);
}

static void copy_text(const bmo_view *view, const bmo_slot *object, const char *name, char *out, size_t capacity) {
    size_t length = 0;
    const char *value = object ? bmo_view_text(view, bmo_view_member(view, object, name), &length) : NULL;
    snprintf(out, capacity, "%.*s", (int)length, value ? value : "");
}

static FILE *open_lines(const char *path, bmo_buffer *error) {
    FILE *file = fopen(path, "r");
    if (!file) {
        char message[4200];
        snprintf(message, sizeof message, "%s cannot be read: %s", path, strerror(errno));
        fail(error, errno == ENOENT ? "not_found" : "permission", message, "check the option `path`");
    }
    return file;
}

/* ---------------------------------------------------------------- who it is */

static bmo_status describe(void *context, bmo_buffer *output) {
    (void)context;
    static const char *const capabilities[] = {"check", "discover", "fetch", "resume"};
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    text(&w, "name", "accounts");
    text(&w, "version", "0.1.0");
    text(&w, "summary", "The accounts of a system, from a file as passwd(5) describes it.");
    text(&w, "options_schema",
         "{\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"path\"], \"properties\": {"
         "\"path\": {\"type\": \"string\", \"minLength\": 1, \"description\": \"The file, such as /etc/passwd\"}}}");
    text(&w, "entity_schema",
         "{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {\"page_size\": {\"type\": "
         "\"integer\", \"minimum\": 1, \"default\": 100, \"description\": \"Lines a page\"}}}");
    text(&w, "isolation", "in_process");
    flag(&w, "concurrent", 1);
    bmo_write_key(&w, "capabilities", 12);
    bmo_write_array_begin(&w);
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
        bmo_write_text(&w, capabilities[i], strlen(capabilities[i]));
    bmo_write_array_end(&w);
    bmo_write_object_end(&w);
    deliver(&w, output);
    return BMO_OK;
}

static bmo_status open_bridge(
    void *context, bmo_bytes options, const bmo_host *host, bmo_instance **instance, bmo_buffer *error) {
    (void)context, (void)host;
    bmo_view view;
    if (!bmo_view_open(&view, options.data, options.size) || view.record_count != 1)
        return fail(error, "internal", "the options are not a batch of one object", NULL);
    bmo_instance *made = calloc(1, sizeof *made);
    if (!made) return fail(error, "limit", "out of memory", NULL);
    copy_text(&view, view.records, "path", made->path, sizeof made->path);
    *instance = made;
    return BMO_OK;
}

static void close_bridge(void *context, bmo_instance *instance) {
    (void)context;
    free(instance);
}

static bmo_status check(void *context, bmo_instance *instance, bmo_buffer *output) {
    (void)context;
    FILE *file = open_lines(instance->path, output);
    if (!file) return BMO_FAILED;
    fclose(file);
    return BMO_OK;
}

static bmo_status discover(void *context, bmo_instance *instance, bmo_buffer *output) {
    (void)context, (void)instance;
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    text(&w, "name", "Account");
    bmo_write_key(&w, "fields", 6);
    bmo_write_array_begin(&w);
    for (size_t i = 0; i < FIELDS; i++) {
        if (!fields[i].name) continue;
        bmo_write_object_begin(&w);
        text(&w, "name", fields[i].name);
        text(&w, "type", fields[i].is_number ? "integer" : "text");
        flag(&w, "key", i == 0);
        bmo_write_object_end(&w);
    }
    bmo_write_array_end(&w);
    bmo_write_key(&w, "section", 7);
    bmo_write_object_begin(&w);
    bmo_write_object_end(&w);
    bmo_write_object_end(&w);
    deliver(&w, output);
    return BMO_OK;
}

/* ---------------------------------------------------------------- a walk */

/* Writes a line as a record; returns what is wrong with it, or NULL. */
static const char *write_account(bmo_writer *rows, const char *line, size_t size) {
    bmo_write_object_begin(rows);
    if (memchr(line, 0, size)) return "a NUL in it";
    /* A text that is not UTF-8 would make the whole batch invalid. */
    if (bmo_utf8_prefix(line, size) < size) return "not UTF-8";
    for (size_t i = 0; i < FIELDS; i++) {
        size_t length = strcspn(line, ":");
        if (line[length] != (i + 1 < FIELDS ? ':' : 0)) return "not seven fields with colons between them";
        if (fields[i].name && fields[i].is_number) {
            char *end;
            errno = 0;
            long long value = strtoll(line, &end, 10);
            if (end != line + length || !length || errno) return "its user or group is not a number";
            number(rows, fields[i].name, value);
        } else if (fields[i].name) {
            bmo_write_key(rows, fields[i].name, strlen(fields[i].name));
            bmo_write_text(rows, line, length);
        }
        line += length + 1;
    }
    bmo_write_object_end(rows);
    return NULL;
}

static void fetch_close(void *context, bmo_fetch *fetch) {
    (void)context;
    fclose(fetch->file);
    free(fetch->line);
    free(fetch);
}

/* Reads the next line, without its end, and its length: a line may hold NUL. Returns 0 at the end of the file, and -1 if
 * reading fails: what it would have read is not gone, so the scan must not count as complete. */
static int next_line(bmo_fetch *fetch, size_t *length) {
    ssize_t size = getline(&fetch->line, &fetch->capacity, fetch->file);
    if (ferror(fetch->file) || (size < 0 && !feof(fetch->file))) return -1;
    if (size < 0) return 0;
    if (fetch->line[size - 1] == '\n') fetch->line[--size] = 0;
    *length = (size_t)size;
    return 1;
}

static bmo_status fail_reading(bmo_buffer *error, const char *path) {
    char message[4200];
    snprintf(message, sizeof message, "%s cannot be read: %s", path, strerror(errno));
    return report(error, "remote", message, NULL, 1);
}

static bmo_status fetch_open(
    void *context, bmo_instance *instance, bmo_bytes request, bmo_fetch **fetch, bmo_buffer *error) {
    (void)context;
    bmo_view view;
    if (!bmo_view_open(&view, request.data, request.size) || view.record_count != 1)
        return fail(error, "internal", "the request is not a batch of one object", NULL);
    char cursor[64];
    copy_text(&view, view.records, "cursor", cursor, sizeof cursor);
    char *end = cursor;
    long long skip = strtoll(cursor, &end, 10);
    if (*end || skip < 0) return fail(error, "configuration", "this is not a resume point", "start from the beginning");
    FILE *file = open_lines(instance->path, error);
    if (!file) return BMO_FAILED;
    bmo_fetch *made = calloc(1, sizeof *made);
    if (!made) {
        fclose(file);
        return fail(error, "limit", "out of memory", NULL);
    }
    made->file = file;
    made->path = instance->path;
    const bmo_slot *section = bmo_view_member(&view, view.records, "section");
    made->page_size = section ? bmo_view_int64(bmo_view_member(&view, section, "page_size"), 100) : 100;
    size_t length;
    int found = 1;
    while (made->done < skip && (found = next_line(made, &length)) > 0) made->done++;
    if (found < 0) {
        bmo_status failed = fail_reading(error, made->path);
        fetch_close(context, made);
        return failed;
    }
    *fetch = made;
    return BMO_OK;
}

static bmo_status fetch_next(void *context, bmo_fetch *fetch, bmo_buffer *records, bmo_buffer *page) {
    (void)context;
    char cursor[32];
    if (atomic_load(&fetch->cancelled)) return fail(page, "cancelled", "cancelled", NULL);
    bmo_writer rows, state;
    bmo_writer_init(&rows);
    bmo_writer_init(&state);
    bmo_write_object_begin(&state);
    bmo_write_key(&state, "rejected", 8);
    bmo_write_array_begin(&state);
    int64_t index = 0;
    off_t start = ftello(fetch->file);
    size_t length;
    int found = 1;
    for (; index < fetch->page_size && (found = next_line(fetch, &length)) > 0; index++) {
        const char *line = fetch->line;
        const char *reason = write_account(&rows, line, length);
        if (!reason) continue;
        /* What cannot be represented is never dropped in silence. */
        bmo_writer_abandon_record(&rows);
        bmo_write_object_begin(&state);
        number(&state, "index", index);
        text(&state, "reason", reason);
        bmo_write_key(&state, "representation", 14);
        bmo_write_text_repaired(&state, line, length);
        bmo_write_object_end(&state);
    }
    bmo_write_array_end(&state);
    int letter = found > 0 ? fgetc(fetch->file) : EOF;
    if (letter != EOF) ungetc(letter, fetch->file);
    if (found < 0 || ferror(fetch->file)) {
        bmo_writer_free(&rows);
        bmo_writer_free(&state);
        bmo_status failed = fail_reading(page, fetch->path);
        /* The host may ask for this page again. */
        clearerr(fetch->file);
        fseeko(fetch->file, start, SEEK_SET);
        return failed;
    }
    fetch->done += index;
    snprintf(cursor, sizeof cursor, "%lld", (long long)fetch->done);
    if (letter != EOF) text(&state, "cursor", cursor);
    flag(&state, "page_end", 1);
    flag(&state, "end", letter == EOF);
    flag(&state, "complete", letter == EOF);
    text(&state, "location", fetch->path);
    bmo_write_object_end(&state);
    if (bmo_writer_records(&rows)) deliver(&rows, records);
    else bmo_writer_free(&rows);
    deliver(&state, page);
    return BMO_OK;
}

static bmo_status write_object(void *context, bmo_instance *instance, bmo_bytes request, bmo_buffer *output) {
    (void)context, (void)instance, (void)request;
    return fail(output, "unsupported", "accounts cannot write", NULL);
}

static void cancel(void *context, bmo_fetch *fetch) {
    (void)context;
    atomic_store(&fetch->cancelled, 1);
}

static void release(void *context, bmo_buffer buffer) {
    (void)context;
    free(buffer.data);
}

/* ---------------------------------------------------------------- the two symbols that the host looks for */

const bmo_bridge_info *bmo_bridge_info_v1(void) {
    static const bmo_bridge_info info = {
        BMO_BRIDGE_MAGIC, sizeof info, BMO_BRIDGE_ABI_MAJOR, BMO_BRIDGE_ABI_MINOR, "accounts", "0.1.0", "none", __VERSION__};
    return &info;
}

const bmo_bridge_table *bmo_bridge_entry_v1(uint16_t host_major, uint16_t host_minor) {
    (void)host_minor;
    static const bmo_bridge_table table = {
        sizeof table, NULL,       describe,    open_bridge,  close_bridge, check, discover,
        fetch_open,   fetch_next, fetch_close, write_object, cancel,       release};
    return host_major == BMO_BRIDGE_ABI_MAJOR ? &table : NULL;
}
