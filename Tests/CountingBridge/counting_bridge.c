/*
 * A bridge in plain C that counts: it needs no API, and misbehaves on request, so that the host can be tested.
 *
 * Options, each of which an entity's section can override:
 *
 *     count         how many records there are (default 10)
 *     batch_size    records per fetch_next (default 4)
 *     page_size     records per page, when the request names none (default 8)
 *     crash_at      abort() before this record
 *     fail_at       fail retryably before this record, fail_times times in the life of the process
 *     fail_times    default 1
 *     fail_code     default unreachable
 *     stale_at      ask to start over before this record, stale_times times in the life of the process (default 1)
 *     stale_gone    after that, the records below this one are not listed
 *     fail_open     fail retryably in fetch_open, so many times in the life of the process
 *     garbage_at    answer with bytes that are no batch instead of this record's batch
 *     bad_page_at   answer with a page whose members have wrong types
 *     bad_error_at  fail with bytes that are no error
 *     block_at      wait before this record until the fetch is cancelled; forever with `stubborn`
 *     leave_group   before it waits, the process leaves its process group for that of its parent
 *     print_at      print to standard output and standard error before this record
 *     delegate      have another process of the host make so many records, before which it may crash: worker_crash_at;
 *                   before that, so many threads ask for the same (delegate_threads), and so many requests go right to
 *                   the host's socket (flood)
 *     moves_after   of a watch: something moves so many milliseconds after each of the first `moves` calls (default 1)
 *     watch_refused of a watch: the remote does not tell of changes
 *     secret        text that is put into errors, logs, warnings, locations and metadata
 *     refuse        text: open fails with it
 *     reveal        check tells the process, its environment and its open files
 *     world         a file that says what there is, read by each fetch_open, which also adds its request to `FILE.log`:
 *                   an API that changes between two syncs of one configuration. A line each:
 *                       count N             as above; with a parent, of each parent
 *                       gone N              record N is not listed
 *                       deleted N           nor is this one, and the last page has a tombstone of it
 *                       dead N              record N has `dead: true`
 *                       name N TEXT         record N has another name
 *                       stamp N TEXT        record N has another `changed`: with `since`, older ones are not listed
 *                       owner N M           record N has `owner: M`
 *                       bad N               record N's name is an object
 *                       reject N            record N is rejected: nobody knows its key
 *                       token TEXT          what the last page gives; a request with it finds everything unchanged
 *                       incomplete          the last page does not say that all was listed
 *                       spare FIELD TEXT    the last page spares these; spare_prefix for how FIELD begins
 *                       missing N           the remote does not know the parent N
 *                       broken N            the parent N fails
 *                   With a parent N, the records are N * 1000, N * 1000 + 1, ...
 *
 * Built with -DCOUNTING_LOAD_LOG="FILE" it adds a line to that file each time that it is loaded.
 *
 * Built with -DCOUNTING_... it breaks one rule of the handshake. That is for tests too: a bridge of yours needs none.
 */
#include "bmo_batch.h"
#include "bmo_bridge.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef COUNTING_NAME
#define COUNTING_NAME "counting"
#endif
#ifndef COUNTING_MAGIC
#define COUNTING_MAGIC BMO_BRIDGE_MAGIC
#endif
#ifndef COUNTING_ABI_MAJOR
#define COUNTING_ABI_MAJOR BMO_BRIDGE_ABI_MAJOR
#endif
#ifndef COUNTING_INFO_SIZE
#define COUNTING_INFO_SIZE sizeof(bmo_bridge_info)
#endif
#ifndef COUNTING_ISOLATION
#define COUNTING_ISOLATION "in_process"
#endif
#ifndef COUNTING_CONCURRENT
#define COUNTING_CONCURRENT 0
#endif
#ifndef COUNTING_CAPABILITIES
#define COUNTING_CAPABILITIES "check", "discover", "fetch", "create", "resume", "incremental", "parent", "x-later"
#endif
#ifdef COUNTING_NULL_FETCH_NEXT
#define COUNTING_FETCH_NEXT NULL
#else
#define COUNTING_FETCH_NEXT counting_fetch_next
#endif

extern char **environ;

/* Buffers that were given out and not released yet: the host must bring this back to 0. */
static atomic_int buffers_out;
static atomic_int failures;
static atomic_int stale_scans;
static atomic_int open_failures;

struct bmo_instance {
    uint8_t *options;
    bmo_view view;
    const bmo_host *host;
};

struct bmo_fetch {
    bmo_instance *instance;
    uint8_t *request;
    bmo_view view;
    int64_t next, count, batch_size, page_size;
    int64_t base;       /* the number of the first record */
    char *world;        /* lines, each with a NUL at its end */
    size_t world_size;
    char since[64];
    int unchanged;
    const char *token;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int cancelled;
    int64_t wait;       /* of a watch, milliseconds; -1 of any other fetch */
};

#ifdef COUNTING_LOAD_LOG
__attribute__((constructor)) static void note_load(void) {
    FILE *log = fopen(COUNTING_LOAD_LOG, "a");
    if (!log) return;
    fputs("loaded\n", log);
    fclose(log);
}
#endif

/* ---------------------------------------------------------------- writing */

static void key(bmo_writer *w, const char *name) { bmo_write_key(w, name, strlen(name)); }

static void member_text(bmo_writer *w, const char *name, const char *value) {
    key(w, name);
    bmo_write_text(w, value, strlen(value));
}

static void member_int64(bmo_writer *w, const char *name, int64_t value) {
    key(w, name);
    bmo_write_int64(w, value);
}

static void member_bool(bmo_writer *w, const char *name, int value) {
    key(w, name);
    bmo_write_bool(w, value);
}

/* Hands the writer's batch to the host, and frees the writer. */
static void deliver(bmo_writer *w, bmo_buffer *output) {
    uint8_t *data;
    size_t size;
    if (bmo_writer_finish(w, &data, &size)) {
        *output = (bmo_buffer){data, size, NULL};
        atomic_fetch_add(&buffers_out, 1);
    }
    bmo_writer_free(w);
}

static void deliver_garbage(bmo_buffer *output) {
    uint8_t *data = malloc(100);
    memset(data, 0xA5, 100);
    *output = (bmo_buffer){data, 100, NULL};
    atomic_fetch_add(&buffers_out, 1);
}

static bmo_status fail_as(
    bmo_buffer *error, const char *code, const char *message, const char *location, int retryable, int start_over) {
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    member_text(&w, "code", code);
    member_text(&w, "message", message);
    if (location) member_text(&w, "location", location);
    member_bool(&w, "retryable", retryable);
    if (start_over) member_bool(&w, "start_over", 1);
    bmo_write_object_end(&w);
    deliver(&w, error);
    return BMO_FAILED;
}

static bmo_status fail(bmo_buffer *error, const char *code, const char *message, const char *location, int retryable) {
    return fail_as(error, code, message, location, retryable, 0);
}

/* ---------------------------------------------------------------- reading */

static int parse(bmo_bytes bytes, uint8_t **copy, bmo_view *view) {
    *copy = malloc(bytes.size + 1);
    memcpy(*copy, bytes.data, bytes.size);
    return bmo_view_open(view, *copy, bytes.size) && view->record_count == 1;
}

static const bmo_slot *option(const bmo_instance *instance, const bmo_fetch *fetch, const char *name) {
    if (fetch) {
        const bmo_slot *section = bmo_view_member(&fetch->view, fetch->view.records, "section");
        const bmo_slot *found = bmo_view_member(&fetch->view, section, name);
        if (found) return found;
    }
    return bmo_view_member(&instance->view, instance->view.records, name);
}

static int64_t number(const bmo_fetch *fetch, const char *name, int64_t otherwise) {
    return bmo_view_int64(option(fetch->instance, fetch, name), otherwise);
}

static void text_option(const bmo_instance *instance, const char *name, char *out, size_t capacity) {
    size_t length = 0;
    const char *text = bmo_view_text(&instance->view, option(instance, NULL, name), &length);
    snprintf(out, capacity, "%.*s", (int)length, text ? text : "");
}

/* ---------------------------------------------------------------- the world */

static void read_world(bmo_fetch *fetch, const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) return;
    fetch->world = calloc(1, 1 << 20);
    fetch->world_size = fread(fetch->world, 1, (1 << 20) - 1, file);
    fclose(file);
    for (size_t i = 0; i < fetch->world_size; i++)
        if (fetch->world[i] == '\n') fetch->world[i] = 0;
}

/* What stands after `word` in the line after `*line`, which begins at NULL; NULL when there is none. */
static const char *next_line(const bmo_fetch *fetch, const char *word, const char **line) {
    size_t length = strlen(word);
    const char *at = *line ? *line + strlen(*line) + 1 : fetch->world;
    for (; at && at < fetch->world + fetch->world_size; at += strlen(at) + 1) {
        if (strncmp(at, word, length) != 0 || (at[length] && at[length] != ' ')) continue;
        *line = at;
        return at[length] ? at + length + 1 : at + length;
    }
    return NULL;
}

/* What stands after `word N` in the world; NULL when there is no such line. */
static const char *said_of(const bmo_fetch *fetch, const char *word, int64_t id) {
    const char *line = NULL, *rest;
    while ((rest = next_line(fetch, word, &line))) {
        char *end;
        if (strtoll(rest, &end, 10) == id) return *end == ' ' ? end + 1 : end;
    }
    return NULL;
}

static const char *said(const bmo_fetch *fetch, const char *word) {
    const char *line = NULL;
    return next_line(fetch, word, &line);
}

static void text_member(const bmo_view *view, const char *name, char *out, size_t capacity) {
    size_t length = 0;
    const char *text = bmo_view_text(view, bmo_view_member(view, view->records, name), &length);
    snprintf(out, capacity, "%.*s", (int)length, text ? text : "");
}

/* Reads the world and what the request wants of it; returns what is wrong with that. */
static const char *enter_world(bmo_fetch *fetch, const char *path) {
    read_world(fetch, path);
    char token[256], cursor[64], name[600];
    text_member(&fetch->view, "token", token, sizeof token);
    text_member(&fetch->view, "since", fetch->since, sizeof fetch->since);
    char time[64] = "";
    text_member(&fetch->view, "since_time", time, sizeof time);
    text_member(&fetch->view, "cursor", cursor, sizeof cursor);
    const bmo_slot *parent = bmo_view_member(&fetch->view, fetch->view.records, "parent");
    int64_t number = parent ? bmo_view_int64(bmo_view_member(&fetch->view, parent, "id"), -1) : -1;
    snprintf(name, sizeof name, "%s.log", path);
    FILE *log = fopen(name, "a");
    if (log) {
        fprintf(log, "token=%s since=%s%s%s parent=%lld cursor=%s\n", token, fetch->since, *time ? " time=" : "", time,
                (long long)number, cursor);
        fclose(log);
    }
    const char *count = said(fetch, "count");
    if (count) fetch->count = atoll(count);
    if (parent) fetch->base = number * 1000;
    fetch->token = said(fetch, "token");
    if (fetch->token && *token && strcmp(fetch->token, token) == 0) {
        fetch->unchanged = 1;
        fetch->count = 0;
    }
    if (parent && said_of(fetch, "missing", number)) return "not_found";
    if (parent && said_of(fetch, "broken", number)) return "remote";
    return NULL;
}

/* Whether a record is listed. */
static int is_listed(const bmo_fetch *fetch, int64_t id) {
    if (said_of(fetch, "gone", id) || said_of(fetch, "deleted", id) || said_of(fetch, "reject", id)) return 0;
    if (atomic_load(&stale_scans) && id < number(fetch, "stale_gone", 0)) return 0;
    if (!*fetch->since) return 1;
    const char *stamp = said_of(fetch, "stamp", id);
    return strcmp(stamp ? stamp : "2026-01-01T00:00:00Z", fetch->since) >= 0;
}

/* ---------------------------------------------------------------- the table's functions */

static bmo_status counting_describe(void *context, bmo_buffer *output) {
    (void)context;
#ifdef COUNTING_BAD_DESCRIPTION
    deliver_garbage(output);
    return BMO_OK;
#endif
    static const char *const capabilities[] = {COUNTING_CAPABILITIES};
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    member_text(&w, "name", COUNTING_NAME);
    member_text(&w, "version", "1.2.3");
    member_text(&w, "summary", "Counts.");
    member_text(
        &w, "options_schema",
        "{\"type\":\"object\",\"properties\":{\"count\":{\"type\":\"integer\"},"
        "\"secret\":{\"type\":\"string\",\"writeOnly\":true}}}");
    member_text(&w, "entity_schema", "{\"type\":\"object\"}");
    member_text(&w, "isolation", COUNTING_ISOLATION);
    member_bool(&w, "concurrent", COUNTING_CONCURRENT);
    key(&w, "capabilities");
    bmo_write_array_begin(&w);
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
        bmo_write_text(&w, capabilities[i], strlen(capabilities[i]));
    bmo_write_array_end(&w);
    bmo_write_object_end(&w);
    deliver(&w, output);
    return BMO_OK;
}

static bmo_status counting_open(
    void *context, bmo_bytes options, const bmo_host *host, bmo_instance **instance, bmo_buffer *error) {
    (void)context;
    bmo_instance *made = calloc(1, sizeof *made);
    made->host = host;
    if (!parse(options, &made->options, &made->view)) {
        free(made->options);
        free(made);
        return fail(error, "internal", "the options are no batch of one object", NULL, 0);
    }
    if (option(made, NULL, "refuse")) {
        char message[512];
        text_option(made, "refuse", message, sizeof message);
        free(made->options);
        free(made);
        return fail(error, "configuration", message, NULL, 0);
    }
    *instance = made;
    return BMO_OK;
}

static void counting_close(void *context, bmo_instance *instance) {
    (void)context;
    free(instance->options);
    free(instance);
}

static void append(char *out, size_t capacity, const char *prefix, const char *text) {
    size_t used = strlen(out);
    snprintf(out + used, capacity - used, "%s%s", prefix, text);
}

static bmo_status counting_check(void *context, bmo_instance *instance, bmo_buffer *output) {
    (void)context;
    char message[4000];
    snprintf(message, sizeof message, "buffers=%d", atomic_load(&buffers_out));
    if (option(instance, NULL, "reveal")) {
        snprintf(message, sizeof message, "pid=%d parent=%d files=", (int)getpid(), (int)getppid());
        for (int file = 0; file < 256; file++) {
            char link[64], target[256], number[16];
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            ssize_t length = readlink(link, target, sizeof target - 1);
            if (length < 0) continue;
            target[length] = 0;
            snprintf(number, sizeof number, "%d:", file);
            append(message, sizeof message, number, target);
            append(message, sizeof message, ",", "");
        }
        append(message, sizeof message, " environment=", "");
        for (char **variable = environ; *variable; variable++) append(message, sizeof message, "|", *variable);
    }
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    member_text(&w, "message", message);
    bmo_write_object_end(&w);
    deliver(&w, output);
    return BMO_OK;
}

static bmo_status counting_discover(void *context, bmo_instance *instance, bmo_buffer *output) {
    (void)context, (void)instance;
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    member_text(&w, "name", "Number");
    key(&w, "fields");
    bmo_write_array_begin(&w);
    bmo_write_object_begin(&w);
    member_text(&w, "name", "id");
    member_text(&w, "type", "integer");
    member_bool(&w, "key", 1);
    bmo_write_object_end(&w);
    bmo_write_array_end(&w);
    key(&w, "section");
    bmo_write_object_begin(&w);
    bmo_write_object_end(&w);
    bmo_write_object_end(&w);
    deliver(&w, output);
    return BMO_OK;
}

static bmo_status counting_fetch_open(
    void *context, bmo_instance *instance, bmo_bytes request, bmo_fetch **fetch, bmo_buffer *error) {
    (void)context;
    bmo_fetch *made = calloc(1, sizeof *made);
    made->instance = instance;
    if (!parse(request, &made->request, &made->view)) {
        free(made->request);
        free(made);
        return fail(error, "internal", "the request is no batch of one object", NULL, 0);
    }
    if (atomic_load(&open_failures) < number(made, "fail_open", 0)) {
        atomic_fetch_add(&open_failures, 1);
        free(made->request);
        free(made);
        return fail(error, "unreachable", "asked to fail in fetch_open", "counting:/", 1);
    }
    made->wait = -1;
    if (bmo_view_member(&made->view, made->view.records, "watch"))
        made->wait = bmo_view_int64(bmo_view_member(&made->view, made->view.records, "wait"), 0);
    if (made->wait >= 0 && number(made, "watch_refused", 0)) {
        free(made->request);
        free(made);
        return fail(error, "unsupported", "the remote does not tell of changes", "counting:/", 0);
    }
    made->count = number(made, "count", 10);
    made->batch_size = number(made, "batch_size", 4);
    made->page_size = bmo_view_int64(
        bmo_view_member(&made->view, made->view.records, "page_size"), number(made, "page_size", 8));
    size_t length = 0;
    const char *cursor =
        bmo_view_text(&made->view, bmo_view_member(&made->view, made->view.records, "cursor"), &length);
    if (cursor) {
        char text[32];
        snprintf(text, sizeof text, "%.*s", (int)length, cursor);
        made->next = atoll(text);
    }
    char world[512];
    size_t path_length = 0;
    const char *path = NULL;
    const bmo_slot *place = bmo_view_member(
        &made->view, bmo_view_member(&made->view, made->view.records, "section"), "world");
    if (place) path = bmo_view_text(&made->view, place, &path_length);
    if (path) {
        snprintf(world, sizeof world, "%.*s", (int)path_length, path);
        const char *fault = enter_world(made, world);
        if (fault) {
            free(made->world);
            free(made->request);
            free(made);
            return fail(error, fault, "the world says so", "counting:/", 0);
        }
    }
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->changed, NULL);
    *fetch = made;
    return BMO_OK;
}

static int is_cancelled(bmo_fetch *fetch) {
    pthread_mutex_lock(&fetch->mutex);
    int cancelled = fetch->cancelled;
    pthread_mutex_unlock(&fetch->mutex);
    return cancelled;
}

static void block(bmo_fetch *fetch) {
    if (number(fetch, "leave_group", 0)) setpgid(0, getpgid(getppid()));
    if (number(fetch, "stubborn", 0)) {
        for (;;) pause();
    }
    pthread_mutex_lock(&fetch->mutex);
    while (!fetch->cancelled) pthread_cond_wait(&fetch->changed, &fetch->mutex);
    pthread_mutex_unlock(&fetch->mutex);
}

static void log_secret(bmo_fetch *fetch, const char *secret) {
    char message[600];
    snprintf(message, sizeof message, "logged in with %s", secret);
    const bmo_host *host = fetch->instance->host;
    host->log(host->context, BMO_LOG_WARNING, (bmo_bytes){(const uint8_t *)message, strlen(message)});
}

static void write_record(bmo_writer *w, const bmo_fetch *fetch, int64_t id) {
    char name[32];
    snprintf(name, sizeof name, "number %lld", (long long)id);
    bmo_write_object_begin(w);
    member_int64(w, "id", id);
    if (said_of(fetch, "bad", id)) {
        key(w, "name");
        bmo_write_object_begin(w);
        bmo_write_object_end(w);
    } else {
        const char *other = said_of(fetch, "name", id);
        member_text(w, "name", other ? other : name);
    }
    if (fetch->world) {
        const char *stamp = said_of(fetch, "stamp", id), *owner = said_of(fetch, "owner", id);
        member_text(w, "changed", stamp ? stamp : "2026-01-01T00:00:00Z");
        if (owner) member_int64(w, "owner", atoll(owner));
        if (said_of(fetch, "dead", id)) member_bool(w, "dead", 1);
    }
    key(w, "nested");
    bmo_write_object_begin(w);
    member_bool(w, "even", id % 2 == 0);
    key(w, "digits");
    bmo_write_array_begin(w);
    for (int64_t rest = id; rest > 0; rest /= 10) bmo_write_int64(w, rest % 10);
    bmo_write_array_end(w);
    bmo_write_object_end(w);
    bmo_write_object_end(w);
}

/* What ABI 1.1 added to a walk's last page. */
static void write_movement(bmo_writer *w, const bmo_fetch *fetch) {
    if (fetch->token) member_text(w, "token", fetch->token);
    if (fetch->unchanged) member_bool(w, "unchanged", 1);
    key(w, "deleted");
    bmo_write_array_begin(w);
    const char *line = NULL, *rest;
    while (!fetch->unchanged && (rest = next_line(fetch, "deleted", &line))) {
        bmo_write_object_begin(w);
        member_int64(w, "id", atoll(rest));
        bmo_write_object_end(w);
    }
    bmo_write_array_end(w);
    key(w, "spared");
    bmo_write_array_begin(w);
    const char *const kinds[][2] = {{"spare", "equals"}, {"spare_prefix", "prefix"}};
    for (int kind = 0; kind < 2; kind++) {
        line = NULL;
        while ((rest = next_line(fetch, kinds[kind][0], &line))) {
            const char *space = strchr(rest, ' ');
            if (!space) continue;
            char field[64];
            snprintf(field, sizeof field, "%.*s", (int)(space - rest), rest);
            bmo_write_object_begin(w);
            member_text(w, "field", field);
            member_text(w, kinds[kind][1], space + 1);
            bmo_write_object_end(w);
        }
    }
    bmo_write_array_end(w);
}

static void write_page(bmo_fetch *fetch, bmo_buffer *page, const char *secret) {
    int end = fetch->next >= fetch->count;
    int page_end = end || fetch->next % fetch->page_size == 0;
    char text[600];
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    if (page_end) {
        snprintf(text, sizeof text, "%lld", (long long)fetch->next);
        member_text(&w, "cursor", text);
    }
    member_bool(&w, "page_end", page_end);
    member_bool(&w, "end", end);
    member_bool(&w, "complete", end && !said(fetch, "incomplete"));
    member_int64(&w, "total", fetch->count);
    snprintf(text, sizeof text, "counting:/numbers?key=%s", secret);
    member_text(&w, "location", text);
    key(&w, "warnings");
    bmo_write_array_begin(&w);
    if (*secret) {
        snprintf(text, sizeof text, "the key %s expires", secret);
        bmo_write_text(&w, text, strlen(text));
    }
    bmo_write_array_end(&w);
    key(&w, "rejected");
    bmo_write_array_begin(&w);
    const char *line = NULL, *rest;
    while (end && (rest = next_line(fetch, "reject", &line))) {
        bmo_write_object_begin(&w);
        member_text(&w, "reason", "the world says so");
        member_text(&w, "representation", rest);
        bmo_write_object_end(&w);
    }
    bmo_write_array_end(&w);
    if (end) write_movement(&w, fetch);
    key(&w, "metadata");
    bmo_write_object_begin(&w);
    member_text(&w, "key", secret);
    bmo_write_object_end(&w);
    bmo_write_object_end(&w);
    deliver(&w, page);
}

static bmo_status write_bad_page(bmo_buffer *page) {
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    member_text(&w, "page_end", "yes");
    bmo_write_object_end(&w);
    deliver(&w, page);
    return BMO_OK;
}

typedef struct {
    const bmo_host *host;
    bmo_bytes request;
    bmo_status status;
} delegation;

static void *delegate_once(void *argument) {
    delegation *mine = argument;
    bmo_buffer answer = {NULL, 0, NULL}, page = {NULL, 0, NULL};
    mine->status = mine->host->work(mine->host->context, mine->request, &answer, &page);
    mine->host->release(mine->host->context, answer);
    mine->host->release(mine->host->context, page);
    return NULL;
}

/* So many threads ask at the same time; whether all have an answer. */
static int delegate_in_threads(const bmo_host *host, bmo_bytes request, int64_t count) {
    if (count > 512) count = 512;
    pthread_t threads[512];
    delegation delegations[512];
    int answered = 1;
    for (int64_t index = 0; index < count; index++) {
        delegations[index] = (delegation){host, request, BMO_FAILED};
        pthread_create(&threads[index], NULL, delegate_once, &delegations[index]);
    }
    for (int64_t index = 0; index < count; index++) {
        pthread_join(threads[index], NULL);
        if (delegations[index].status != BMO_OK) answered = 0;
    }
    return answered;
}

/* Writes so many requests to other processes right on the host's socket, which is no business of a bridge. */
static void flood(bmo_bytes request, int64_t count) {
    for (int descriptor = 3; descriptor < 64; descriptor++) {
        struct stat status;
        if (fstat(descriptor, &status) != 0 || !S_ISSOCK(status.st_mode)) continue;
        for (int64_t index = 0; index < count; index++) {
            /* BridgeHost's Frame.swift: length, kind (work) and flags, call, fetch, length of the first part, zero. */
            uint32_t header[6] = {(uint32_t)request.size, 12, 1000 + (uint32_t)index, 0, (uint32_t)request.size, 0};
            if (send(descriptor, header, sizeof header, MSG_NOSIGNAL) < 0) return;
            if (send(descriptor, request.data, request.size, MSG_NOSIGNAL) < 0) return;
        }
        return;
    }
}

/* Another process's records, through the host. */
static bmo_status delegate(bmo_fetch *fetch, int64_t count, bmo_buffer *records, bmo_buffer *page, const char *secret) {
    const bmo_host *host = fetch->instance->host;
    if (!host->work) return fail(page, "unsupported", "the host has no other process", NULL, 0);
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    key(&w, "section");
    bmo_write_object_begin(&w);
    member_int64(&w, "count", count);
    member_int64(&w, "batch_size", count);
    member_int64(&w, "page_size", count);
    member_int64(&w, "delegate", 0);
    member_int64(&w, "crash_at", number(fetch, "worker_crash_at", -1));
    bmo_write_object_end(&w);
    bmo_write_object_end(&w);
    bmo_buffer request = {NULL, 0, NULL}, answer = {NULL, 0, NULL}, its_page = {NULL, 0, NULL};
    bmo_writer_finish(&w, &request.data, &request.size);
    bmo_writer_free(&w);
    bmo_bytes bytes = {request.data, request.size};
    flood(bytes, number(fetch, "flood", 0));
    int answered = delegate_in_threads(host, bytes, number(fetch, "delegate_threads", 0));
    bmo_status status = answered ? host->work(host->context, bytes, &answer, &its_page) : BMO_FAILED;
    free(request.data);
    if (status == BMO_OK) {
        records->data = malloc(answer.size);
        memcpy(records->data, answer.data, answer.size);
        records->size = answer.size;
        atomic_fetch_add(&buffers_out, 1);
    }
    host->release(host->context, answer);
    host->release(host->context, its_page);
    if (status != BMO_OK) return fail(page, "unreachable", "the other process gave nothing", NULL, 0);
    fetch->next = fetch->count;
    write_page(fetch, page, secret);
    return BMO_OK;
}

/* Waits until something moves, the time is over, or the fetch is cancelled. */
static bmo_status watch(bmo_fetch *fetch, bmo_buffer *page) {
    int moves = fetch->next++ < number(fetch, "moves", 1) && number(fetch, "moves_after", -1) >= 0;
    int64_t wait = moves ? number(fetch, "moves_after", 0) : fetch->wait;
    if (number(fetch, "stubborn", 0)) block(fetch);
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += wait / 1000 + (limit.tv_nsec + wait % 1000 * 1000000) / 1000000000;
    limit.tv_nsec = (limit.tv_nsec + wait % 1000 * 1000000) % 1000000000;
    pthread_mutex_lock(&fetch->mutex);
    while (!fetch->cancelled && pthread_cond_timedwait(&fetch->changed, &fetch->mutex, &limit) == 0) {}
    pthread_mutex_unlock(&fetch->mutex);
    if (is_cancelled(fetch)) return fail(page, "cancelled", "cancelled", NULL, 0);
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    member_bool(&w, "page_end", 1);
    member_bool(&w, "end", number(fetch, "watch_ends", 0) != 0);
    if (!moves) member_bool(&w, "unchanged", 1);
    bmo_write_object_end(&w);
    deliver(&w, page);
    return BMO_OK;
}

bmo_status counting_fetch_next(void *context, bmo_fetch *fetch, bmo_buffer *records, bmo_buffer *page);

bmo_status counting_fetch_next(void *context, bmo_fetch *fetch, bmo_buffer *records, bmo_buffer *page) {
    (void)context;
    char secret[512], message[600];
#ifdef COUNTING_HOG
    for (void *block; (block = malloc(1 << 20));) memset(block, 1, 1 << 20);
    fprintf(stderr, "out of memory\n");
    abort();
#endif
    text_option(fetch->instance, "secret", secret, sizeof secret);
    if (*secret) log_secret(fetch, secret);
    if (fetch->wait >= 0) return watch(fetch, page);
    int64_t delegated = number(fetch, "delegate", 0);
    if (delegated > 0) return delegate(fetch, delegated, records, page, secret);
    int64_t page_left = fetch->page_size - fetch->next % fetch->page_size;
    int64_t left = fetch->count - fetch->next;
    int64_t size = fetch->batch_size < page_left ? fetch->batch_size : page_left;
    if (left < size) size = left;
    bmo_writer w;
    bmo_writer_init(&w);
    int64_t stop = fetch->next + size;
    for (int64_t id = fetch->next; id < stop; id++) {
        if (id == number(fetch, "print_at", -1)) {
            printf("{\"noise\": \"on standard output\"}\n");
            fflush(stdout);
            fprintf(stderr, "noise on standard error %s\n", secret);
        }
        if (id == number(fetch, "crash_at", -1)) {
            fprintf(stderr, "about to abort at %lld %s\n", (long long)id, secret);
            abort();
        }
        if (id == number(fetch, "block_at", -1)) block(fetch);
        if (is_cancelled(fetch)) {
            bmo_writer_free(&w);
            return fail(page, "cancelled", "cancelled", NULL, 0);
        }
        if (id == number(fetch, "fail_at", -1) && atomic_load(&failures) < number(fetch, "fail_times", 1)) {
            atomic_fetch_add(&failures, 1);
            bmo_writer_free(&w);
            snprintf(message, sizeof message, "asked to fail at %lld with %s", (long long)id, secret);
            return fail(page, "unreachable", message, "counting:/numbers", 1);
        }
        if (id == number(fetch, "stale_at", -1) && atomic_load(&stale_scans) < number(fetch, "stale_times", 1)) {
            atomic_fetch_add(&stale_scans, 1);
            bmo_writer_free(&w);
            snprintf(message, sizeof message, "the records changed before %lld", (long long)id);
            return fail_as(page, "conflict", message, "counting:/numbers", 0, 1);
        }
        if (id == number(fetch, "bad_error_at", -1)) {
            bmo_writer_free(&w);
            deliver_garbage(page);
            return BMO_FAILED;
        }
        if (id == number(fetch, "bad_page_at", -1)) {
            bmo_writer_free(&w);
            return write_bad_page(page);
        }
        if (is_listed(fetch, fetch->base + id)) write_record(&w, fetch, fetch->base + id);
    }
    int garbage = number(fetch, "garbage_at", -1) >= fetch->next && number(fetch, "garbage_at", -1) < stop;
    fetch->next = stop;
    if (garbage) {
        bmo_writer_free(&w);
        deliver_garbage(records);
    } else {
        deliver(&w, records);
    }
    write_page(fetch, page, secret);
    return BMO_OK;
}

static void counting_fetch_close(void *context, bmo_fetch *fetch) {
    (void)context;
    pthread_cond_destroy(&fetch->changed);
    pthread_mutex_destroy(&fetch->mutex);
    free(fetch->world);
    free(fetch->request);
    free(fetch);
}

/* Answers with the values that it got, as an API does that stored them. */
static bmo_status counting_write(void *context, bmo_instance *instance, bmo_bytes request, bmo_buffer *output) {
    (void)context, (void)instance;
    uint8_t *copy;
    bmo_view view;
    if (!parse(request, &copy, &view)) {
        free(copy);
        return fail(output, "internal", "the request is no batch of one object", NULL, 0);
    }
    size_t length = 0;
    const bmo_slot *values = bmo_view_member(&view, view.records, "values");
    const char *name = bmo_view_text(&view, bmo_view_member(&view, values, "name"), &length);
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    member_int64(&w, "id", 1);
    key(&w, "name");
    bmo_write_text(&w, name ? name : "", length);
    bmo_write_object_end(&w);
    deliver(&w, output);
    free(copy);
    return BMO_OK;
}

static void counting_cancel(void *context, bmo_fetch *fetch) {
    (void)context;
    pthread_mutex_lock(&fetch->mutex);
    fetch->cancelled = 1;
    pthread_cond_broadcast(&fetch->changed);
    pthread_mutex_unlock(&fetch->mutex);
}

static void counting_release(void *context, bmo_buffer buffer) {
    (void)context;
    atomic_fetch_sub(&buffers_out, 1);
    free(buffer.data);
}

/* ---------------------------------------------------------------- the two exported symbols */

#ifdef COUNTING_NO_INFO
#define bmo_bridge_info_v1 bmo_bridge_info_misspelt
#endif
const bmo_bridge_info *bmo_bridge_info_v1(void);
const bmo_bridge_info *bmo_bridge_info_v1(void) {
    static const bmo_bridge_info info = {
        COUNTING_MAGIC, COUNTING_INFO_SIZE, COUNTING_ABI_MAJOR, 0, COUNTING_NAME, "1.2.3", "none", __VERSION__};
    return &info;
}

#ifdef COUNTING_NO_ENTRY
#define bmo_bridge_entry_v1 bmo_bridge_entry_misspelt
#endif
const bmo_bridge_table *bmo_bridge_entry_v1(uint16_t host_major, uint16_t host_minor);
const bmo_bridge_table *bmo_bridge_entry_v1(uint16_t host_major, uint16_t host_minor) {
    (void)host_minor;
    static const bmo_bridge_table table = {
        sizeof table,        NULL,
        counting_describe,   counting_open,       counting_close,      counting_check,  counting_discover,
        counting_fetch_open, COUNTING_FETCH_NEXT, counting_fetch_close, counting_write, counting_cancel,
        counting_release};
#ifdef COUNTING_NULL_ENTRY
    (void)host_major;
    (void)table;
    return NULL;
#else
    return host_major == BMO_BRIDGE_ABI_MAJOR ? &table : NULL;
#endif
}

#ifdef COUNTING_CRASH_ON_LOAD
__attribute__((constructor)) static void crash(void) { abort(); }
#endif
#ifdef COUNTING_HANG_ON_LOAD
__attribute__((constructor)) static void hang(void) {
    for (;;) pause();
}
#endif
