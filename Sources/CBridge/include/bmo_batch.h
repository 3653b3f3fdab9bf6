/*
 * bmo_batch.h - the flat batch, format 1: its layout, a writer and a small reader, header only, plain C.
 *
 * A batch holds records: trees of tagged values. All integers are little endian, every section is 8-byte aligned:
 *
 *     header   32 bytes   bmo_batch_header
 *     keys     key_count    x {u32 offset into text, u32 length}
 *     records  record_count x slot        the top-level values, usually objects
 *     slots    slot_count   x slot        the children of containers
 *     text     text_size bytes of UTF-8, padded with zeros to a multiple of 8
 *     bytes    bytes_size bytes, padded with zeros to a multiple of 8
 *
 * A slot is 16 bytes: u32 head (tag in the low 8 bits, key index in the high 24, BMO_NO_KEY without a key), u32 length,
 * u64 payload.
 *
 *     tag                 length             payload
 *     BMO_NULL            0                  0
 *     BMO_BOOL            0                  0 or 1
 *     BMO_INT64           0                  two's complement
 *     BMO_DOUBLE          0                  IEEE 754 bits
 *     BMO_DECIMAL         bytes of text      offset into text; a JSON number's grammar (RFC 8259, section 6)
 *     BMO_TEXT            bytes of text      offset into text
 *     BMO_BYTES           bytes              offset into bytes
 *     BMO_TIMESTAMP       0                  microseconds since 1970-01-01T00:00:00Z, two's complement
 *     BMO_ARRAY           children           index of the first child in slots
 *     BMO_OBJECT          children           index of the first child in slots; each child has a key
 *
 * The host checks these rules before it reads a record: the sections add up to the size; children precede their parent;
 * each slot has one parent (so there are no cycles and no sharing); the depth is at most BMO_MAX_DEPTH; text is valid
 * UTF-8, and no value begins or ends inside a scalar.
 *
 * Writing (all that a C bridge needs; every function returns 0 when memory or a limit is exhausted. The writer
 * remembers the failure: bmo_writer_finish then delivers a failure mark that the host refuses, so no data is lost
 * silently):
 *
 *     bmo_writer writer;
 *     bmo_writer_init(&writer);
 *     bmo_write_object_begin(&writer);
 *     bmo_write_key(&writer, "name", 4);
 *     bmo_write_text(&writer, "Aruba", 5);
 *     bmo_write_object_end(&writer);           // depth 0: this was a record
 *     bmo_writer_finish(&writer, &data, &size); // malloc'ed; free() it
 *     bmo_writer_free(&writer);
 *
 * Text from a file or the network must be checked by bmo_utf8_prefix first, or written by bmo_write_text_repaired.
 *
 * Reading what the host sends: bmo_view_open, then bmo_view_member for a member by name; bmo_view_text, _int64,
 * _double, _bool, _timestamp and _bytes for values; bmo_walk_begin and bmo_walk_next for all members of an object or
 * all elements of an array.
 */
#ifndef BMO_BATCH_H
#define BMO_BATCH_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BMO_BATCH_MAGIC 0x48435442u /* "BTCH" as little-endian bytes */
#define BMO_BATCH_FORMAT 1
#define BMO_NO_KEY 0xFFFFFFu
#define BMO_MAX_DEPTH 128 /* levels of a record; the last can hold scalars only */

enum {
    BMO_NULL = 1,
    BMO_BOOL = 2,
    BMO_INT64 = 3,
    BMO_DOUBLE = 4,
    BMO_DECIMAL = 5,
    BMO_TEXT = 6,
    BMO_BYTES = 7,
    BMO_TIMESTAMP = 8,
    BMO_ARRAY = 9,
    BMO_OBJECT = 10
};

typedef struct bmo_batch_header {
    uint32_t magic;
    uint16_t format;
    uint16_t flags; /* 0; in a failure mark, the reason: BMO_WRITER_... */
    uint32_t total_size;
    uint32_t key_count;
    uint32_t record_count;
    uint32_t slot_count;
    uint32_t text_size;
    uint32_t bytes_size;
} bmo_batch_header;

typedef struct bmo_batch_key {
    uint32_t offset;
    uint32_t length;
} bmo_batch_key;

typedef struct bmo_slot {
    uint32_t head;
    uint32_t length;
    uint64_t payload;
} bmo_slot;

/* ---------------------------------------------------------------- writer */

typedef struct bmo_region {
    uint8_t *data;
    size_t size;
    size_t capacity;
} bmo_region;

typedef struct bmo_frame {
    uint32_t first;   /* index of the container's first child on the pending stack */
    uint32_t head;    /* the container's own head */
} bmo_frame;

typedef struct bmo_writer {
    bmo_region keys, records, slots, text, bytes, pending;
    uint32_t *table;          /* open addressing: key index + 1, 0 is free */
    uint32_t table_size;      /* a power of two */
    uint32_t key_count;
    uint32_t next_key;        /* set by bmo_write_key, consumed by the next value */
    uint32_t last_key;        /* guess: records repeat their keys in the same order */
    uint32_t depth;
    int failed;               /* 0, or the reason why no more can be written: BMO_WRITER_... */
    bmo_frame frames[BMO_MAX_DEPTH];
    size_t max_bytes;         /* limit on the bytes written until the batch is finished */
    uint32_t max_keys;        /* limit on distinct names */
    size_t max_record_bytes;  /* limit on the bytes of one record, with the names that are new in it; 0 for none */
    size_t record_start;      /* the bytes written before the current record */
} bmo_writer;

/* A batch is usually about 1 MiB; only a hostile remote's record makes it much larger. */
#define BMO_DEFAULT_MAX_BYTES ((size_t)64 << 20)
#define BMO_DEFAULT_MAX_KEYS (1u << 18)

enum {
    BMO_WRITER_FAILED = 1,    /* out of memory, a limit of the format, or wrong use */
    BMO_WRITER_BYTES = 2,     /* over max_bytes */
    BMO_WRITER_KEYS = 3,      /* over max_keys */
    BMO_WRITER_OPEN = 4,      /* finished while a container was open */
    BMO_WRITER_MEMORY = 5,    /* malloc failed for the finished batch */
    BMO_WRITER_RECORD = 6     /* over max_record_bytes */
};

static inline void bmo_writer_init(bmo_writer *w) {
    memset(w, 0, sizeof *w);
    w->next_key = BMO_NO_KEY;
    w->last_key = BMO_NO_KEY;
    w->max_bytes = BMO_DEFAULT_MAX_BYTES;
    w->max_keys = BMO_DEFAULT_MAX_KEYS;
}

/* The number of bytes written so far, open containers included. */
static inline size_t bmo_writer_memory(const bmo_writer *w) {
    return w->keys.size + w->records.size + w->slots.size + w->text.size + w->bytes.size + w->pending.size;
}

static inline void bmo_writer_free(bmo_writer *w) {
    free(w->keys.data); free(w->records.data); free(w->slots.data);
    free(w->text.data); free(w->bytes.data); free(w->pending.data); free(w->table);
    bmo_writer_init(w);
}

/* Makes room for `more` bytes at the region's end; NULL if that fails. */
static inline uint8_t *bmo_region_grow(bmo_writer *w, bmo_region *r, size_t more) {
    if (r->capacity - r->size < more) {
        size_t used = bmo_writer_memory(w);
        size_t room = w->max_bytes > used ? w->max_bytes - used : 0;
        if (more > UINT32_MAX - r->size) { w->failed = BMO_WRITER_FAILED; return NULL; }
        if (more > room) { if (!w->failed) w->failed = BMO_WRITER_BYTES; return NULL; }
        /* A record's end checks its limit exactly. Until then, the children of an ending container count twice. */
        if (w->max_record_bytes && w->depth && used + more > w->record_start
            && (used + more - w->record_start) / 2 > w->max_record_bytes) {
            if (!w->failed) w->failed = BMO_WRITER_RECORD;
            return NULL;
        }
        size_t capacity = r->capacity < 512 ? 1024 : r->capacity * 2;
        while (capacity - r->size < more) capacity *= 2;
        /* Never reserve more than the limit allows: near it, doubling would waste half of the reservation. */
        if (capacity > r->size + room && r->size + room >= 1024) capacity = r->size + room;
        uint8_t *data = (uint8_t *)realloc(r->data, capacity);
        if (!data) { w->failed = 1; return NULL; }
        r->data = data;
        r->capacity = capacity;
    }
    uint8_t *at = r->data + r->size;
    r->size += more;
    return at;
}

static inline uint32_t bmo_hash(const char *text, size_t length) { /* FNV-1a */
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    return hash;
}

static inline int bmo_same_bytes(const uint8_t *a, const uint8_t *b, size_t length); /* in bmo_view.h */

static inline int bmo_key_is(const bmo_writer *w, uint32_t key, const char *text, size_t length) {
    const bmo_batch_key *k = (const bmo_batch_key *)(const void *)w->keys.data + key;
    return k->length == length && bmo_same_bytes(w->text.data + k->offset, (const uint8_t *)text, length);
}

static inline int bmo_writer_rehash(bmo_writer *w) {
    uint32_t size = w->table_size ? w->table_size * 2 : 64;
    uint32_t *table = (uint32_t *)calloc(size, sizeof *table);
    if (!table) { w->failed = 1; return 0; }
    const bmo_batch_key *keys = (const bmo_batch_key *)(const void *)w->keys.data;
    for (uint32_t i = 0; i < w->key_count; i++) {
        uint32_t at = bmo_hash((const char *)w->text.data + keys[i].offset, keys[i].length) & (size - 1);
        while (table[at]) at = (at + 1) & (size - 1);
        table[at] = i + 1;
    }
    free(w->table);
    w->table = table;
    w->table_size = size;
    return 1;
}

/* Returns the key's index in this batch. */
static inline uint32_t bmo_intern(bmo_writer *w, const char *text, size_t length) {
    uint32_t guess = w->last_key == BMO_NO_KEY ? 0 : w->last_key + 1;
    if (guess >= w->key_count) guess = 0;
    if (guess < w->key_count && bmo_key_is(w, guess, text, length)) return w->last_key = guess;
    if (w->key_count * 2 >= w->table_size && !bmo_writer_rehash(w)) return BMO_NO_KEY;
    uint32_t at = bmo_hash(text, length) & (w->table_size - 1);
    while (w->table[at]) {
        if (bmo_key_is(w, w->table[at] - 1, text, length)) return w->last_key = w->table[at] - 1;
        at = (at + 1) & (w->table_size - 1);
    }
    if (w->key_count + 1 >= BMO_NO_KEY || length > UINT32_MAX) { w->failed = BMO_WRITER_FAILED; return BMO_NO_KEY; }
    if (w->key_count >= w->max_keys) { if (!w->failed) w->failed = BMO_WRITER_KEYS; return BMO_NO_KEY; }
    size_t offset = w->text.size;
    uint8_t *copy = length ? bmo_region_grow(w, &w->text, length) : NULL;
    if (length && !copy) return BMO_NO_KEY;
    if (length) memcpy(copy, text, length);
    bmo_batch_key *key = (bmo_batch_key *)(void *)bmo_region_grow(w, &w->keys, sizeof *key);
    if (!key) return BMO_NO_KEY;
    key->offset = (uint32_t)offset;
    key->length = (uint32_t)length;
    w->table[at] = ++w->key_count;
    return w->last_key = w->key_count - 1;
}

/* Sets the key of the next value. Inside an object every value needs a key; elsewhere it has no effect. */
static inline int bmo_write_key(bmo_writer *w, const char *text, size_t length) {
    return (w->next_key = bmo_intern(w, text, length)) != BMO_NO_KEY;
}

static inline uint32_t bmo_take_head(bmo_writer *w, uint32_t tag) {
    uint32_t key = BMO_NO_KEY;
    if (w->depth && (w->frames[w->depth - 1].head & 0xFF) == BMO_OBJECT) {
        key = w->next_key;
        if (key == BMO_NO_KEY && !w->failed) w->failed = BMO_WRITER_FAILED;
    }
    w->next_key = BMO_NO_KEY;
    return tag | key << 8;
}

static inline int bmo_put(bmo_writer *w, uint32_t head, uint32_t length, uint64_t payload) {
    bmo_slot *slot = (bmo_slot *)(void *)bmo_region_grow(w, w->depth ? &w->pending : &w->records, sizeof *slot);
    if (!slot) return 0;
    slot->head = head;
    slot->length = length;
    slot->payload = payload;
    return 1;
}

/* Checks the limit of a record that ends at depth 0. */
static inline int bmo_check_record(bmo_writer *w) {
    if (w->depth || !w->max_record_bytes) return 1;
    if (bmo_writer_memory(w) - w->record_start <= w->max_record_bytes) return 1;
    if (!w->failed) w->failed = BMO_WRITER_RECORD;
    return 0;
}

static inline int bmo_write_scalar(bmo_writer *w, uint32_t tag, uint64_t payload) {
    return bmo_put(w, bmo_take_head(w, tag), 0, payload);
}

static inline int bmo_write_span(bmo_writer *w, uint32_t tag, bmo_region *region, const void *data, size_t length) {
    uint32_t head = bmo_take_head(w, tag);
    if (length > UINT32_MAX) { w->failed = 1; return 0; }
    if (!w->depth) w->record_start = bmo_writer_memory(w);
    size_t offset = region->size;
    if (length) {
        uint8_t *copy = bmo_region_grow(w, region, length);
        if (!copy) return 0;
        memcpy(copy, data, length);
    }
    return bmo_put(w, head, (uint32_t)length, offset) && bmo_check_record(w);
}

static inline int bmo_write_null(bmo_writer *w) { return bmo_write_scalar(w, BMO_NULL, 0); }
static inline int bmo_write_bool(bmo_writer *w, int value) { return bmo_write_scalar(w, BMO_BOOL, value != 0); }
static inline int bmo_write_int64(bmo_writer *w, int64_t v) { return bmo_write_scalar(w, BMO_INT64, (uint64_t)v); }
static inline int bmo_write_double(bmo_writer *w, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bmo_write_scalar(w, BMO_DOUBLE, bits);
}
/* Writes microseconds since 1970-01-01T00:00:00Z. */
static inline int bmo_write_timestamp(bmo_writer *w, int64_t microseconds) {
    return bmo_write_scalar(w, BMO_TIMESTAMP, (uint64_t)microseconds);
}
static inline int bmo_write_text(bmo_writer *w, const char *text, size_t length) {
    return bmo_write_span(w, BMO_TEXT, &w->text, text, length);
}
/* Writes a number as its exact text, which a double could not preserve. */
static inline int bmo_write_decimal(bmo_writer *w, const char *text, size_t length) {
    return bmo_write_span(w, BMO_DECIMAL, &w->text, text, length);
}
static inline int bmo_write_bytes(bmo_writer *w, const void *data, size_t length) {
    return bmo_write_span(w, BMO_BYTES, &w->bytes, data, length);
}

static inline int bmo_write_container_begin(bmo_writer *w, uint32_t tag) {
    uint32_t head = bmo_take_head(w, tag);
    if (w->depth == BMO_MAX_DEPTH - 1) { w->failed = 1; return 0; }
    if (!w->depth) w->record_start = bmo_writer_memory(w);
    w->frames[w->depth].first = (uint32_t)(w->pending.size / sizeof(bmo_slot));
    w->frames[w->depth].head = head;
    w->depth++;
    return 1;
}

static inline int bmo_write_container_end(bmo_writer *w, uint32_t tag) {
    if (!w->depth || (w->frames[w->depth - 1].head & 0xFF) != tag) { w->failed = 1; return 0; }
    w->depth--;
    bmo_frame frame = w->frames[w->depth];
    size_t start = (size_t)frame.first * sizeof(bmo_slot);
    size_t size = w->pending.size - start;
    uint64_t first = w->slots.size / sizeof(bmo_slot);
    if (size) {
        uint8_t *children = bmo_region_grow(w, &w->slots, size);
        if (!children) return 0;
        memcpy(children, w->pending.data + start, size);
        w->pending.size = start;
    }
    return bmo_put(w, frame.head, (uint32_t)(size / sizeof(bmo_slot)), first) && bmo_check_record(w);
}

static inline int bmo_write_object_begin(bmo_writer *w) { return bmo_write_container_begin(w, BMO_OBJECT); }
static inline int bmo_write_object_end(bmo_writer *w) { return bmo_write_container_end(w, BMO_OBJECT); }
static inline int bmo_write_array_begin(bmo_writer *w) { return bmo_write_container_begin(w, BMO_ARRAY); }
static inline int bmo_write_array_end(bmo_writer *w) { return bmo_write_container_end(w, BMO_ARRAY); }

/* Returns the reason why the writer cannot finish, BMO_WRITER_..., or 0. */
static inline int bmo_writer_failure(const bmo_writer *w) {
    return w->failed ? w->failed : w->depth ? BMO_WRITER_OPEN : 0;
}

/*
 * Returns the number of finished records; at least 1 after a failure, so that a bridge that delivers only records
 * delivers the failure.
 */
static inline uint32_t bmo_writer_records(const bmo_writer *w) {
    uint32_t count = (uint32_t)(w->records.size / sizeof(bmo_slot));
    return count || !bmo_writer_failure(w) ? count : 1;
}

/* Returns the approximate size of the finished batch in bytes. */
static inline size_t bmo_writer_size(const bmo_writer *w) {
    return sizeof(bmo_batch_header) + w->keys.size + w->records.size + w->slots.size + w->text.size + w->bytes.size;
}

/* Drops the unfinished record (after an error inside it); finished records stay. */
static inline void bmo_writer_abandon_record(bmo_writer *w) {
    w->depth = 0;
    w->pending.size = 0;
    w->next_key = BMO_NO_KEY;
}

/* The position where a record began, for rolling it back. */
typedef struct bmo_writer_mark {
    size_t records, slots, text, bytes;
    uint32_t key_count;
} bmo_writer_mark;

static inline bmo_writer_mark bmo_writer_note(const bmo_writer *w) {
    bmo_writer_mark mark = { w->records.size, w->slots.size, w->text.size, w->bytes.size, w->key_count };
    return mark;
}

/* Rolls back to the mark, at depth 0, with the keys that are new since then, and clears a failure by a limit. */
static inline void bmo_writer_take_back(bmo_writer *w, bmo_writer_mark mark) {
    bmo_writer_abandon_record(w);
    /* The newest first: no key that stays was placed behind one of these. */
    for (; w->key_count > mark.key_count; w->key_count--, w->keys.size -= sizeof(bmo_batch_key)) {
        const bmo_batch_key *key = (const bmo_batch_key *)(const void *)w->keys.data + w->key_count - 1;
        uint32_t at = bmo_hash((const char *)w->text.data + key->offset, key->length) & (w->table_size - 1);
        while (w->table[at] != w->key_count) at = (at + 1) & (w->table_size - 1);
        w->table[at] = 0;
        w->last_key = BMO_NO_KEY;
    }
    w->records.size = mark.records; w->slots.size = mark.slots;
    w->bytes.size = mark.bytes; w->text.size = mark.text;
    if (w->failed != BMO_WRITER_FAILED) w->failed = 0;
}

static inline size_t bmo_padded(size_t size) { return (size + 7) & ~(size_t)7; }

static inline uint8_t *bmo_copy_section(uint8_t *at, const bmo_region *r) {
    if (r->size) memcpy(at, r->data, r->size);
    if (bmo_padded(r->size) != r->size) memset(at + r->size, 0, bmo_padded(r->size) - r->size);
    return at + bmo_padded(r->size);
}

/* The bytes of a section that a usual batch needs; more is freed when the batch is finished. */
#define BMO_KEPT_BYTES ((size_t)16 << 20)

static inline void bmo_region_clear(bmo_region *r) {
    r->size = 0;
    if (r->capacity <= BMO_KEPT_BYTES) return;
    free(r->data);
    memset(r, 0, sizeof *r);
}

/* Empties the writer and clears a failure; its memory is kept for the next batch, unless it is unusually large. */
static inline void bmo_writer_clear(bmo_writer *w) {
    bmo_writer_abandon_record(w);
    bmo_region *const regions[] = { &w->keys, &w->records, &w->slots, &w->text, &w->bytes, &w->pending };
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) bmo_region_clear(regions[i]);
    w->key_count = 0;
    w->last_key = BMO_NO_KEY;
    w->failed = 0;
    if (w->table) memset(w->table, 0, w->table_size * sizeof *w->table);
}

/* Returns the finished batch, malloc'ed; NULL if the writer failed or memory ran out. */
static inline uint8_t *bmo_writer_seal(bmo_writer *w, size_t *size) {
    size_t total = sizeof(bmo_batch_header) + w->keys.size + w->records.size + w->slots.size
        + bmo_padded(w->text.size) + bmo_padded(w->bytes.size);
    if (bmo_writer_failure(w)) return NULL;
    if (total > UINT32_MAX) { w->failed = BMO_WRITER_FAILED; return NULL; }
    uint8_t *out = (uint8_t *)malloc(total);
    if (!out) { w->failed = BMO_WRITER_MEMORY; return NULL; }
    bmo_batch_header header = {
        BMO_BATCH_MAGIC, BMO_BATCH_FORMAT, 0, (uint32_t)total, w->key_count, bmo_writer_records(w),
        (uint32_t)(w->slots.size / sizeof(bmo_slot)), (uint32_t)w->text.size, (uint32_t)w->bytes.size };
    memcpy(out, &header, sizeof header);
    uint8_t *at = out + sizeof header;
    at = bmo_copy_section(at, &w->keys);
    at = bmo_copy_section(at, &w->records);
    at = bmo_copy_section(at, &w->slots);
    at = bmo_copy_section(at, &w->text);
    bmo_copy_section(at, &w->bytes);
    *size = total;
    return out;
}

/*
 * Writes a failure mark: a header in place of a batch that could not be finished. Its flags hold the reason, bytes_size
 * the limit. Its record count exceeds its records, so that a host that does not know the flags refuses it as well. It
 * is built in the writer's own memory, because there may be no other.
 */
static inline uint8_t *bmo_writer_mark_failure(bmo_writer *w, size_t *size) {
    bmo_region *const regions[] = { &w->records, &w->slots, &w->pending, &w->text, &w->bytes, &w->keys };
    uint8_t *out = NULL;
    for (size_t i = 0; i < sizeof regions / sizeof *regions && !out; i++) {
        if (regions[i]->capacity < sizeof(bmo_batch_header)) continue;
        out = regions[i]->data;
        memset(regions[i], 0, sizeof *regions[i]);
    }
    if (!out) out = (uint8_t *)malloc(sizeof(bmo_batch_header));
    if (!out) return NULL;
    int why = bmo_writer_failure(w);
    size_t limit = why == BMO_WRITER_BYTES ? w->max_bytes : why == BMO_WRITER_KEYS ? w->max_keys
        : why == BMO_WRITER_RECORD ? w->max_record_bytes : 0;
    bmo_batch_header header = {
        BMO_BATCH_MAGIC, BMO_BATCH_FORMAT, (uint16_t)why, sizeof header, 0, UINT32_MAX, 0, 0,
        limit > UINT32_MAX ? UINT32_MAX : (uint32_t)limit };
    memcpy(out, &header, sizeof header);
    *size = sizeof header;
    return out;
}

/*
 * Delivers the bytes for the host, malloc'ed, and empties the writer. The bytes are the finished batch or, after a
 * failure or with an open container, a failure mark of 32 bytes that the host refuses with the reason. So a bridge may
 * ignore the result, and a page over a limit cannot pass for an empty one. To handle a failure yourself, call
 * bmo_writer_failure first. Returns 0, with NULL and 0 in the outputs, only if memory runs out even for the mark.
 */
static inline int bmo_writer_finish(bmo_writer *w, uint8_t **data, size_t *size) {
    *size = 0;
    uint8_t *out = bmo_writer_seal(w, size);
    if (!out) out = bmo_writer_mark_failure(w, size);
    *data = out;
    bmo_writer_clear(w);
    return out != NULL;
}

#ifdef __cplusplus
}
#endif

#include "bmo_view.h"

#endif /* BMO_BATCH_H */
