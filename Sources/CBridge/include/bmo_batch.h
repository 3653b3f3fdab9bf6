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
 * A slot is 16 bytes: u32 head (tag in the low 8 bits, key index in the high 24, BMO_NO_KEY where there is no key),
 * u32 length, u64 payload.
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
 * Rules that the host checks before it looks at a record: sections add up to the size; children stand before their
 * parent, each slot has one parent (so there are no cycles and no sharing); depth at most BMO_MAX_DEPTH; text is valid
 * UTF-8 and no value begins or ends inside a scalar.
 *
 * Writing (a C bridge needs nothing else; every function returns 0 when memory or a limit ran out, and the writer
 * remembers it, so that one look at bmo_writer_finish is enough):
 *
 *     bmo_writer writer;
 *     bmo_writer_init(&writer);
 *     bmo_write_object_begin(&writer);
 *     bmo_write_key(&writer, "name", 4);
 *     bmo_write_text(&writer, "Aruba", 5);
 *     bmo_write_object_end(&writer);           // depth 0: this was a record
 *     bmo_writer_finish(&writer, &data, &size); // malloc'ed; free() it
 *     bmo_writer_free(&writer);
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
#define BMO_MAX_DEPTH 128 /* levels of a record, of which the last can hold scalars only */

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
    uint16_t flags; /* 0 */
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
    int failed;
    bmo_frame frames[BMO_MAX_DEPTH];
} bmo_writer;

static inline void bmo_writer_init(bmo_writer *w) {
    memset(w, 0, sizeof *w);
    w->next_key = BMO_NO_KEY;
    w->last_key = BMO_NO_KEY;
}

static inline void bmo_writer_free(bmo_writer *w) {
    free(w->keys.data); free(w->records.data); free(w->slots.data);
    free(w->text.data); free(w->bytes.data); free(w->pending.data); free(w->table);
    bmo_writer_init(w);
}

/* Room for `more` bytes at the region's end, or NULL. */
static inline uint8_t *bmo_region_grow(bmo_writer *w, bmo_region *r, size_t more) {
    if (r->capacity - r->size < more) {
        if (more > UINT32_MAX - r->size) { w->failed = 1; return NULL; }
        size_t capacity = r->capacity < 512 ? 1024 : r->capacity * 2;
        while (capacity - r->size < more) capacity *= 2;
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

static inline int bmo_key_is(const bmo_writer *w, uint32_t key, const char *text, size_t length) {
    const bmo_batch_key *k = (const bmo_batch_key *)(const void *)w->keys.data + key;
    return k->length == length && memcmp(w->text.data + k->offset, text, length) == 0;
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

/* The key's index in this batch. */
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
    if (w->key_count + 1 >= BMO_NO_KEY || length > UINT32_MAX) { w->failed = 1; return BMO_NO_KEY; }
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

/* The key of the next value. Inside an object every value needs one; elsewhere it has no effect. */
static inline int bmo_write_key(bmo_writer *w, const char *text, size_t length) {
    return (w->next_key = bmo_intern(w, text, length)) != BMO_NO_KEY;
}

static inline uint32_t bmo_take_head(bmo_writer *w, uint32_t tag) {
    uint32_t key = BMO_NO_KEY;
    if (w->depth && (w->frames[w->depth - 1].head & 0xFF) == BMO_OBJECT) {
        key = w->next_key;
        if (key == BMO_NO_KEY) w->failed = 1;
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

static inline int bmo_write_scalar(bmo_writer *w, uint32_t tag, uint64_t payload) {
    return bmo_put(w, bmo_take_head(w, tag), 0, payload);
}

static inline int bmo_write_span(bmo_writer *w, uint32_t tag, bmo_region *region, const void *data, size_t length) {
    uint32_t head = bmo_take_head(w, tag);
    if (length > UINT32_MAX) { w->failed = 1; return 0; }
    size_t offset = region->size;
    if (length) {
        uint8_t *copy = bmo_region_grow(w, region, length);
        if (!copy) return 0;
        memcpy(copy, data, length);
    }
    return bmo_put(w, head, (uint32_t)length, offset);
}

static inline int bmo_write_null(bmo_writer *w) { return bmo_write_scalar(w, BMO_NULL, 0); }
static inline int bmo_write_bool(bmo_writer *w, int value) { return bmo_write_scalar(w, BMO_BOOL, value != 0); }
static inline int bmo_write_int64(bmo_writer *w, int64_t value) {
    return bmo_write_scalar(w, BMO_INT64, (uint64_t)value);
}
static inline int bmo_write_double(bmo_writer *w, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bmo_write_scalar(w, BMO_DOUBLE, bits);
}
/* Microseconds since 1970-01-01T00:00:00Z. */
static inline int bmo_write_timestamp(bmo_writer *w, int64_t microseconds) {
    return bmo_write_scalar(w, BMO_TIMESTAMP, (uint64_t)microseconds);
}
static inline int bmo_write_text(bmo_writer *w, const char *text, size_t length) {
    return bmo_write_span(w, BMO_TEXT, &w->text, text, length);
}
/* A number as its exact text: what a double would lose. */
static inline int bmo_write_decimal(bmo_writer *w, const char *text, size_t length) {
    return bmo_write_span(w, BMO_DECIMAL, &w->text, text, length);
}
static inline int bmo_write_bytes(bmo_writer *w, const void *data, size_t length) {
    return bmo_write_span(w, BMO_BYTES, &w->bytes, data, length);
}

static inline int bmo_write_container_begin(bmo_writer *w, uint32_t tag) {
    uint32_t head = bmo_take_head(w, tag);
    if (w->depth == BMO_MAX_DEPTH - 1) { w->failed = 1; return 0; }
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
    return bmo_put(w, frame.head, (uint32_t)(size / sizeof(bmo_slot)), first);
}

static inline int bmo_write_object_begin(bmo_writer *w) { return bmo_write_container_begin(w, BMO_OBJECT); }
static inline int bmo_write_object_end(bmo_writer *w) { return bmo_write_container_end(w, BMO_OBJECT); }
static inline int bmo_write_array_begin(bmo_writer *w) { return bmo_write_container_begin(w, BMO_ARRAY); }
static inline int bmo_write_array_end(bmo_writer *w) { return bmo_write_container_end(w, BMO_ARRAY); }

static inline uint32_t bmo_writer_records(const bmo_writer *w) {
    return (uint32_t)(w->records.size / sizeof(bmo_slot));
}

/* About how many bytes the finished batch will have. */
static inline size_t bmo_writer_size(const bmo_writer *w) {
    return sizeof(bmo_batch_header) + w->keys.size + w->records.size + w->slots.size + w->text.size + w->bytes.size;
}

/* Drops the record being written (after an error inside it); finished records stay. */
static inline void bmo_writer_abandon_record(bmo_writer *w) {
    w->depth = 0;
    w->pending.size = 0;
    w->next_key = BMO_NO_KEY;
}

static inline size_t bmo_padded(size_t size) { return (size + 7) & ~(size_t)7; }

static inline uint8_t *bmo_copy_section(uint8_t *at, const bmo_region *r) {
    if (r->size) memcpy(at, r->data, r->size);
    if (bmo_padded(r->size) != r->size) memset(at + r->size, 0, bmo_padded(r->size) - r->size);
    return at + bmo_padded(r->size);
}

/* Empties the writer and forgets a failure; its memory is kept for the next batch. */
static inline void bmo_writer_clear(bmo_writer *w) {
    bmo_writer_abandon_record(w);
    w->keys.size = w->records.size = w->slots.size = w->text.size = w->bytes.size = 0;
    w->key_count = 0;
    w->last_key = BMO_NO_KEY;
    w->failed = 0;
    if (w->table) memset(w->table, 0, w->table_size * sizeof *w->table);
}

/*
 * The finished batch, malloc'ed, and an empty writer. Returns 0, and leaves the outputs alone, when something failed
 * before or a container is still open; what was written is dropped.
 */
static inline int bmo_writer_finish(bmo_writer *w, uint8_t **data, size_t *size) {
    size_t total = sizeof(bmo_batch_header) + w->keys.size + w->records.size + w->slots.size
        + bmo_padded(w->text.size) + bmo_padded(w->bytes.size);
    uint8_t *out = w->failed || w->depth || total > UINT32_MAX ? NULL : (uint8_t *)malloc(total);
    if (out) {
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
        *data = out;
        *size = total;
    }
    bmo_writer_clear(w);
    return out != NULL;
}

/* ---------------------------------------------------------------- reader, for what the host sends a bridge */

/* A view of a batch that the host made: the host is trusted, so this reader checks little. Not for the other way. */
typedef struct bmo_view {
    const bmo_batch_key *keys;
    const bmo_slot *records;
    const bmo_slot *slots;
    const char *text;
    const uint8_t *bytes;
    uint32_t key_count;
    uint32_t record_count;
} bmo_view;

static inline int bmo_view_open(bmo_view *view, const uint8_t *data, size_t size) {
    bmo_batch_header h;
    if (size < sizeof h) return 0;
    memcpy(&h, data, sizeof h);
    if (h.magic != BMO_BATCH_MAGIC || h.format != BMO_BATCH_FORMAT || h.total_size != size) return 0;
    const uint8_t *at = data + sizeof h;
    view->keys = (const bmo_batch_key *)(const void *)at;
    at += (size_t)h.key_count * sizeof(bmo_batch_key);
    view->records = (const bmo_slot *)(const void *)at;
    at += (size_t)h.record_count * sizeof(bmo_slot);
    view->slots = (const bmo_slot *)(const void *)at;
    at += (size_t)h.slot_count * sizeof(bmo_slot);
    view->text = (const char *)at;
    view->bytes = at + bmo_padded(h.text_size);
    view->key_count = h.key_count;
    view->record_count = h.record_count;
    return 1;
}

static inline uint32_t bmo_slot_tag(const bmo_slot *slot) { return slot->head & 0xFF; }

/* The member `name` of an object, or NULL. */
static inline const bmo_slot *bmo_view_member(const bmo_view *view, const bmo_slot *object, const char *name) {
    if (!object || bmo_slot_tag(object) != BMO_OBJECT) return NULL;
    size_t length = strlen(name);
    for (uint32_t i = 0; i < object->length; i++) {
        const bmo_slot *child = view->slots + object->payload + i;
        const bmo_batch_key *key = view->keys + (child->head >> 8);
        if (key->length == length && memcmp(view->text + key->offset, name, length) == 0) return child;
    }
    return NULL;
}

/* The text of a text or decimal value and its length in bytes (not terminated), or NULL. */
static inline const char *bmo_view_text(const bmo_view *view, const bmo_slot *slot, size_t *length) {
    if (!slot || (bmo_slot_tag(slot) != BMO_TEXT && bmo_slot_tag(slot) != BMO_DECIMAL)) return NULL;
    *length = slot->length;
    return view->text + slot->payload;
}

/* The integer, or `otherwise` when there is none. */
static inline int64_t bmo_view_int64(const bmo_slot *slot, int64_t otherwise) {
    return slot && bmo_slot_tag(slot) == BMO_INT64 ? (int64_t)slot->payload : otherwise;
}

#ifdef __cplusplus
}
#endif

#endif /* BMO_BATCH_H */
