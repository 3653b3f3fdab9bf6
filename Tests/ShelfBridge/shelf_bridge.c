/*
 * A bridge that keeps the contract at the strictest level, and, built with -DWRONG_..., breaks one rule of it: the tests
 * of the conformance kit prove with each that its check can fail.
 *
 * The remote is a shelf of 300 items in this process's memory, behind a password.
 */
#include "shelf_batches.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { SHELF = 1024, PAGE = 100 };

struct item {
    int64_t id;
    char name[64], color[64];
    int is_there;
};

struct bmo_instance {
    const bmo_host *host;
    char password[64];
};

struct bmo_fetch {
    bmo_instance *instance;
    int64_t next;
    int explains, is_empty, seen;
    char parameter[8];
    int64_t wait; /* of a watch, milliseconds; -1 of any other fetch */
    atomic_int cancelled;
};

static struct item shelf[SHELF];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int is_filled, changes;
#ifdef WRONG_SHARED_POSITION
static int64_t shared_position;
#endif

static void fill(void) {
    for (int64_t i = 0; !is_filled && i < 300; i++) {
        shelf[i] = (struct item){.id = i + 1, .is_there = 1, .color = "red"};
        snprintf(shelf[i].name, sizeof shelf[i].name, "item %lld", (long long)i + 1);
    }
    is_filled = 1;
}

static int count(void) {
    int total = 0;
    for (int i = 0; i < SHELF; i++) total += shelf[i].is_there;
    return total;
}

/* ---------------------------------------------------------------- description */

static bmo_status describe(void *context, bmo_buffer *output) {
    (void)context;
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    text(&w, "name", "shelf");
    text(&w, "version", "1.0");
    text(&w, "summary", "Lists and changes the items of a shelf.");
#if defined WRONG_OPEN_SCHEMA
    text(&w, "options_schema",
         "{\"type\":\"object\",\"properties\":{\"password\":{\"type\":\"string\",\"writeOnly\":true,"
         "\"description\":\"Of the shelf\"}}}");
#elif defined WRONG_PLAIN_SECRET
    text(&w, "options_schema",
         "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"password\":{\"type\":\"string\","
         "\"description\":\"Of the shelf\"}}}");
#elif defined WRONG_UNDOCUMENTED
    text(&w, "options_schema",
         "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"password\":{\"type\":\"string\","
         "\"writeOnly\":true}}}");
#else
    text(&w, "options_schema",
         "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"password\":{\"type\":\"string\","
         "\"writeOnly\":true,\"description\":\"Of the shelf\"}}}");
#endif
    text(&w, "entity_schema",
         "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"shelf\":{\"type\":\"string\","
         "\"description\":\"Which one\"}}}");
    text(&w, "isolation", "in_process");
    flag(&w, "concurrent", 1);
    bmo_write_key(&w, "capabilities", 12);
    bmo_write_array_begin(&w);
    static const char *const all[] = {"check",  "discover", "fetch",       "create", "update",
                                      "delete", "resume",   "incremental", "plan",   "watch", "user_info", "parameters",
                                      "plan_write",
#ifdef WRONG_CAPABILITY
                                      "telepathy",
#endif
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) bmo_write_text(&w, all[i], strlen(all[i]));
    bmo_write_array_end(&w);
    bmo_write_object_end(&w);
    deliver(&w, output);
    return BMO_OK;
}

static bmo_status open_bridge(
    void *context, bmo_bytes options, const bmo_host *host, bmo_instance **instance, bmo_buffer *error) {
    (void)context, (void)error;
    bmo_instance *made = calloc(1, sizeof *made);
    bmo_view view;
    made->host = host;
    if (bmo_view_open(&view, options.data, options.size) && view.record_count == 1)
        copy_text(&view, view.records, "password", made->password, sizeof made->password);
    pthread_mutex_lock(&mutex);
    fill();
    pthread_mutex_unlock(&mutex);
#ifdef WRONG_LEAKS_LOG
    char line[128];
    snprintf(line, sizeof line, "opening with %s", made->password);
    host->log(host->context, BMO_LOG_INFO, (bmo_bytes){(const uint8_t *)line, strlen(line)});
#endif
    *instance = made;
    return BMO_OK;
}

static void close_bridge(void *context, bmo_instance *instance) {
    (void)context;
    free(instance);
}

static int is_allowed(const bmo_instance *instance) {
#ifdef WRONG_TAKES_ANY_PASSWORD
    (void)instance;
    return 1;
#else
    return strcmp(instance->password, "open sesame") == 0;
#endif
}

static bmo_status refuse(bmo_buffer *error) {
#ifdef WRONG_BARE_ERROR
    return fail(error, "internal", "error 42", NULL);
#else
    return fail(error, "authentication", "the shelf refuses the password", "set the option `password`");
#endif
}

static bmo_status check(void *context, bmo_instance *instance, bmo_buffer *output) {
    (void)context;
    if (!is_allowed(instance)) return refuse(output);
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    text(&w, "message", "a shelf of 300");
    bmo_write_object_end(&w);
    deliver(&w, output);
    return BMO_OK;
}

static bmo_status discover(void *context, bmo_instance *instance, bmo_buffer *output) {
    (void)context, (void)instance;
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    text(&w, "name", "Item");
    bmo_write_key(&w, "fields", 6);
    bmo_write_array_begin(&w);
    static const char *const fields[][2] = {{"id", "integer"}, {"name", "text"}, {"color", "text"}};
    for (size_t i = 0; i < 3; i++) {
        bmo_write_object_begin(&w);
        text(&w, "name", fields[i][0]);
#ifndef WRONG_DISCOVERS_NO_TYPES
        text(&w, "type", fields[i][1]);
#endif
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

/* ---------------------------------------------------------------- reading */

static bmo_status fetch_open(
    void *context, bmo_instance *instance, bmo_bytes request, bmo_fetch **fetch, bmo_buffer *error) {
    (void)context;
    bmo_view view;
    if (!bmo_view_open(&view, request.data, request.size) || view.record_count != 1)
        return fail(error, "internal", "the request is no batch of one object", NULL);
    if (!is_allowed(instance)) return refuse(error);
#ifdef WRONG_REFUSES_USER_INFO
    if (bmo_view_member(&view, view.records, "user_info")) return fail(error, "configuration", "it is unknown", NULL);
#endif
#ifdef WRONG_CRASHES_WITHOUT_SECTION
    const bmo_slot *section = bmo_view_member(&view, view.records, "section");
    if (!bmo_view_member(&view, section, "shelf")) abort();
#endif
    bmo_fetch *made = calloc(1, sizeof *made);
    made->instance = instance;
    char cursor[64] = "", token[64] = "";
    copy_text(&view, view.records, "cursor", cursor, sizeof cursor);
    copy_text(&view, view.records, "token", token, sizeof token);
    const bmo_slot *explain = bmo_view_member(&view, view.records, "explain");
#ifndef WRONG_IGNORES_PARAMETERS
    const bmo_slot *parameters = bmo_view_member(&view, view.records, "parameters");
    if (parameters) copy_text(&view, parameters, "bmo_conformance", made->parameter, sizeof made->parameter);
#endif
    made->explains = explain && bmo_slot_tag(explain) == BMO_BOOL;
    made->wait = -1;
#ifndef WRONG_IGNORES_WATCH
    const bmo_slot *wait = bmo_view_member(&view, view.records, "wait");
    if (wait) made->wait = bmo_view_int64(wait, 0);
#endif
    made->seen = changes;
    char *end = cursor;
    made->next = strtoll(cursor, &end, 10);
#ifndef WRONG_TAKES_ANY_CURSOR
    if (*end || made->next < 0) {
        free(made);
        return fail(error, "configuration", "the resume point is none of this bridge", "begin at the beginning");
    }
#endif
#ifdef WRONG_RESUMES_AT_START
    made->next = 0;
#endif
#ifdef WRONG_SKIPS_ON_RESUME
    if (made->next) made->next++;
#endif
#ifdef WRONG_SHARED_POSITION
    made->next = shared_position;
#endif
#ifndef WRONG_IGNORES_TOKEN
    pthread_mutex_lock(&mutex);
    made->is_empty = *token && atoi(token) == changes + 1;
    pthread_mutex_unlock(&mutex);
#endif
    *fetch = made;
    return BMO_OK;
}

static void write_item(bmo_writer *w, const struct item *item) {
    bmo_write_object_begin(w);
#if defined WRONG_TEXT_IDS
    text(w, "id", item->name);
#elif defined WRONG_SAME_KEY
    number(w, "id", item->id == 7 ? 8 : item->id);
#else
    number(w, "id", item->id);
#endif
    text(w, "name", item->name);
#ifdef WRONG_UNSTABLE
    static int calls;
    number(w, "color", ++calls + getpid());
#else
    text(w, "color", item->color);
#endif
    bmo_write_object_end(w);
}

static void write_page(bmo_fetch *fetch, int is_end, bmo_buffer *output) {
    char word[128];
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    snprintf(word, sizeof word, "%lld", (long long)fetch->next);
#ifdef WRONG_REPEATS_CURSOR
    text(&w, "cursor", "100");
#else
    if (!is_end) text(&w, "cursor", word);
#endif
    flag(&w, "page_end", 1);
    flag(&w, "end", is_end);
#ifdef WRONG_NEVER_COMPLETE
    flag(&w, "complete", 0);
#else
    flag(&w, "complete", is_end && !fetch->is_empty && !fetch->explains);
#endif
#ifdef WRONG_TOTAL
    number(&w, "total", count() + 1);
#else
    if (!fetch->is_empty && !fetch->explains) number(&w, "total", count());
#endif
    text(&w, "location", "shelf:/items");
    if (is_end) {
        snprintf(word, sizeof word, "%d", changes + 1);
        text(&w, "token", word);
        flag(&w, "unchanged", fetch->is_empty);
    }
    bmo_write_key(&w, "warnings", 8);
    bmo_write_array_begin(&w);
#ifdef WRONG_LEAKS_PAGE
    snprintf(word, sizeof word, "the password %s expires", fetch->instance->password);
    bmo_write_text(&w, word, strlen(word));
#endif
    bmo_write_array_end(&w);
    bmo_write_object_end(&w);
    deliver(&w, output);
}

/* Waits until something on the shelf moves. */
static bmo_status watch(bmo_fetch *fetch, bmo_buffer *page) {
#ifdef WRONG_SLEEPS_THROUGH_CANCEL
    /* Longer than any machine keeps the check from its turn: after the sleep, the wait below would hear of the cancel. */
    sleep(600);
#endif
    int has_moved = 0;
    for (int64_t waited = 0; waited < fetch->wait && !has_moved; waited += 10) {
        if (atomic_load(&fetch->cancelled)) return fail(page, "cancelled", "cancelled", NULL);
        usleep(10000);
        pthread_mutex_lock(&mutex);
        has_moved = changes != fetch->seen;
        fetch->seen = changes;
        pthread_mutex_unlock(&mutex);
    }
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    flag(&w, "page_end", 1);
    flag(&w, "unchanged", !has_moved);
    bmo_write_object_end(&w);
    deliver(&w, page);
    return BMO_OK;
}

static bmo_status fetch_next(void *context, bmo_fetch *fetch, bmo_buffer *records, bmo_buffer *page) {
    (void)context;
    if (fetch->wait >= 0) return watch(fetch, page);
#ifdef WRONG_PRINTS
    printf("reading from %lld\n", (long long)fetch->next);
    fflush(stdout);
#endif
#ifdef WRONG_HOGS
    for (void *block; (block = malloc(1 << 20));) memset(block, 1, 1 << 20);
    abort();
#endif
#ifdef WRONG_IGNORES_CANCEL
    if (fetch->next) sleep(2);
#else
    if (atomic_load(&fetch->cancelled)) return fail(page, "cancelled", "cancelled", NULL);
#endif
    bmo_writer w;
    bmo_writer_init(&w);
    pthread_mutex_lock(&mutex);
    int written = 0;
    if (fetch->explains) {
#ifndef WRONG_EMPTY_PLAN
        bmo_write_object_begin(&w);
        text(&w, "request", *fetch->parameter ? "look at the shelf, with bmo_conformance" : "look at the shelf");
        bmo_write_object_end(&w);
#endif
        fetch->next = SHELF;
    }
#ifdef WRONG_SINGLE_RECORDS
    int most = 1;
#else
    int most = PAGE;
#endif
    for (; !fetch->is_empty && fetch->next < SHELF && written < most; fetch->next++) {
        if (!shelf[fetch->next].is_there) continue;
        write_item(&w, &shelf[fetch->next]);
        written++;
    }
    int64_t rest = fetch->next;
    while (rest < SHELF && !shelf[rest].is_there) rest++;
    int is_end = fetch->is_empty || fetch->explains || rest >= SHELF;
#ifdef WRONG_SHARED_POSITION
    shared_position = fetch->next;
#endif
    bmo_writer_records(&w) ? deliver(&w, records) : bmo_writer_free(&w);
    write_page(fetch, is_end, page);
    pthread_mutex_unlock(&mutex);
    return BMO_OK;
}

static void fetch_close(void *context, bmo_fetch *fetch) { (void)context, free(fetch); }

static void cancel(void *context, bmo_fetch *fetch) {
    (void)context;
    atomic_store(&fetch->cancelled, 1);
}

/* ---------------------------------------------------------------- writing */

/* What a write would do. */
static bmo_status plan_write(const char *operation, int64_t id, int is_other, bmo_buffer *output) {
    char word[64];
    bmo_writer w;
    bmo_writer_init(&w);
    bmo_write_object_begin(&w);
    snprintf(word, sizeof word, "%s item %lld%s", operation, (long long)id, is_other ? " for somebody" : "");
    text(&w, "request", word);
    bmo_write_object_end(&w);
    deliver(&w, output);
    return BMO_OK;
}

static bmo_status write_object(void *context, bmo_instance *instance, bmo_bytes request, bmo_buffer *output) {
    (void)context;
    bmo_view view;
    if (!bmo_view_open(&view, request.data, request.size) || view.record_count != 1)
        return fail(output, "internal", "the request is no batch of one object", NULL);
    if (!is_allowed(instance)) return refuse(output);
    char operation[16] = "";
    copy_text(&view, view.records, "operation", operation, sizeof operation);
    const bmo_slot *key = bmo_view_member(&view, view.records, "key");
    const bmo_slot *values = bmo_view_member(&view, view.records, "values");
    int64_t id = key ? bmo_view_int64(bmo_view_member(&view, key, "id"), -1) : -1;
    if (id < 1 && strcmp(operation, "create") == 0) id = 901;
    if (id < 1 || id > SHELF) return fail(output, "configuration", "an item's id is 1 to 1024", "give `id`");
    struct item *item = &shelf[id - 1];
    const bmo_slot *info = bmo_view_member(&view, view.records, "user_info");
    (void)info;
#ifdef WRONG_REFUSES_USER_INFO_OF_WRITE
    if (info) return fail(output, "configuration", "it is unknown", NULL);
#endif
    const bmo_slot *explain = bmo_view_member(&view, view.records, "explain");
    if (explain && bmo_slot_tag(explain) == BMO_BOOL) {
#ifdef WRONG_EXPLAINS_USER_INFO
        return plan_write(operation, id, info != NULL && strcmp(operation, "update") == 0, output);
#else
        return plan_write(operation, id, 0, output);
#endif
    }
    bmo_status status = BMO_OK;
    pthread_mutex_lock(&mutex);
    changes++;
    if (strcmp(operation, "delete") == 0) {
#ifdef WRONG_DELETE_AGAIN
        if (!item->is_there) status = fail(output, "not_found", "there is no such item", "look again");
#endif
#if defined WRONG_KEEPS_DELETED_WITH_USER_INFO
        if (!info) item->is_there = 0;
#elif !defined WRONG_KEEPS_DELETED
        item->is_there = 0;
#endif
#ifdef WRONG_DELETES_MORE
        shelf[0].is_there = 0;
#endif
    } else if (strcmp(operation, "create") == 0) {
        *item = (struct item){.id = id, .is_there = 1, .color = "red"};
        copy_text(&view, values, "name", item->name, sizeof item->name);
#if defined WRONG_DROPS_VALUE_WITH_USER_INFO
        if (!info) copy_text(&view, values, "color", item->color, sizeof item->color);
#elif !defined WRONG_DROPS_VALUE
        copy_text(&view, values, "color", item->color, sizeof item->color);
#endif
    } else if (!item->is_there) {
#ifndef WRONG_UPDATES_NOTHING
        status = fail(output, "not_found", "there is no such item", "look again");
#endif
    } else {
#ifdef WRONG_UPDATE_CLEARS
        item->color[0] = 0;
#endif
        copy_text(&view, values, "name", item->name, sizeof item->name);
        copy_text(&view, values, "color", item->color, sizeof item->color);
    }
    if (status == BMO_OK && item->is_there) {
        bmo_writer w;
        bmo_writer_init(&w);
        write_item(&w, item);
        deliver(&w, output);
    }
    pthread_mutex_unlock(&mutex);
    return status;
}

static void release(void *context, bmo_buffer buffer) {
    (void)context;
    free(buffer.data);
}

/* ---------------------------------------------------------------- the two exported symbols */

const bmo_bridge_info *bmo_bridge_info_v1(void);
const bmo_bridge_table *bmo_bridge_entry_v1(uint16_t host_major, uint16_t host_minor);

const bmo_bridge_info *bmo_bridge_info_v1(void) {
    static const bmo_bridge_info info = {
        BMO_BRIDGE_MAGIC, sizeof info, BMO_BRIDGE_ABI_MAJOR, BMO_BRIDGE_ABI_MINOR, "shelf", "1.0", "none", "cc"};
    return &info;
}

const bmo_bridge_table *bmo_bridge_entry_v1(uint16_t host_major, uint16_t host_minor) {
    (void)host_minor;
    static const bmo_bridge_table table = {
        sizeof table, NULL,       describe,     open_bridge, close_bridge, check,  discover,
        fetch_open,   fetch_next, fetch_close,  write_object, cancel,      release};
    return host_major == BMO_BRIDGE_ABI_MAJOR ? &table : NULL;
}
