/*
 * bmo_view.h - reads batches from the host, and checks text; header only, plain C. bmo_batch.h includes it.
 */
#ifndef BMO_VIEW_H
#define BMO_VIEW_H

#include "bmo_batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether two ranges hold the same bytes, compared in words: names are short, and calling memcmp costs more than comparing. */
static inline int bmo_same_bytes(const uint8_t *a, const uint8_t *b, size_t length) {
    if (length >= 8) {
        uint64_t x, y;
        /* The last word overlaps the one before. */
        for (size_t i = 0; i < length - 8; i += 8) {
            memcpy(&x, a + i, 8); memcpy(&y, b + i, 8);
            if (x != y) return 0;
        }
        memcpy(&x, a + length - 8, 8); memcpy(&y, b + length - 8, 8);
        return x == y;
    }
    if (length >= 4) {
        uint32_t first[2], last[2];
        memcpy(&first[0], a, 4); memcpy(&first[1], b, 4);
        memcpy(&last[0], a + length - 4, 4); memcpy(&last[1], b + length - 4, 4);
        return first[0] == first[1] && last[0] == last[1];
    }
    for (size_t i = 0; i < length; i++) {
        if (a[i] != b[i]) return 0;
    }
    return 1;
}

/* ---------------------------------------------------------------- reader, for what the host sends a bridge */

/*
 * A view of a batch that the host made. The host is trusted, so this reader checks little; do not use it on a bridge's
 * batches.
 */
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

/* Returns the member `name` of an object, or NULL. */
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

/* Returns the text of a text or decimal value and its length in bytes (not terminated), or NULL. */
static inline const char *bmo_view_text(const bmo_view *view, const bmo_slot *slot, size_t *length) {
    if (!slot || (bmo_slot_tag(slot) != BMO_TEXT && bmo_slot_tag(slot) != BMO_DECIMAL)) return NULL;
    *length = slot->length;
    return view->text + slot->payload;
}

/* Returns the integer, or `otherwise` for any other value. */
static inline int64_t bmo_view_int64(const bmo_slot *slot, int64_t otherwise) {
    return slot && bmo_slot_tag(slot) == BMO_INT64 ? (int64_t)slot->payload : otherwise;
}

/* Returns the truth value, or `otherwise` for any other value. */
static inline int bmo_view_bool(const bmo_slot *slot, int otherwise) {
    return slot && bmo_slot_tag(slot) == BMO_BOOL ? slot->payload != 0 : otherwise;
}

/*
 * Returns the number, also of an integer, or `otherwise` for any other value. A decimal is exact text: see
 * bmo_view_text.
 */
static inline double bmo_view_double(const bmo_slot *slot, double otherwise) {
    double value;
    if (slot && bmo_slot_tag(slot) == BMO_INT64) return (double)(int64_t)slot->payload;
    if (!slot || bmo_slot_tag(slot) != BMO_DOUBLE) return otherwise;
    memcpy(&value, &slot->payload, sizeof value);
    return value;
}

/* Returns a timestamp's microseconds since 1970-01-01T00:00:00Z, or `otherwise` for any other value. */
static inline int64_t bmo_view_timestamp(const bmo_slot *slot, int64_t otherwise) {
    return slot && bmo_slot_tag(slot) == BMO_TIMESTAMP ? (int64_t)slot->payload : otherwise;
}

/* Returns the bytes of a bytes value and their number, or NULL. */
static inline const uint8_t *bmo_view_bytes(const bmo_view *view, const bmo_slot *slot, size_t *length) {
    if (!slot || bmo_slot_tag(slot) != BMO_BYTES) return NULL;
    *length = slot->length;
    return view->bytes + slot->payload;
}

/* Returns the number of elements of an array, or of members of an object; 0 for any other value. */
static inline uint32_t bmo_view_count(const bmo_slot *slot) {
    return slot && (bmo_slot_tag(slot) == BMO_ARRAY || bmo_slot_tag(slot) == BMO_OBJECT) ? slot->length : 0;
}

/* Returns the element of an array, or the member of an object, at an index; NULL past the end. */
static inline const bmo_slot *bmo_view_at(const bmo_view *view, const bmo_slot *container, uint32_t index) {
    return index < bmo_view_count(container) ? view->slots + container->payload + index : NULL;
}

/* Returns the name of a member and its length in bytes (not terminated); NULL for a value that is not a member. */
static inline const char *bmo_view_key(const bmo_view *view, const bmo_slot *member, size_t *length) {
    uint32_t key = member ? member->head >> 8 : BMO_NO_KEY;
    if (key >= view->key_count) return NULL;
    *length = view->keys[key].length;
    return view->text + view->keys[key].offset;
}

/*
 * An iteration over the members of an object, or the elements of an array:
 *
 *     bmo_walk walk = bmo_walk_begin(&view, values);
 *     while (bmo_walk_next(&walk)) use(walk.name, walk.name_length, walk.value);
 */
typedef struct bmo_walk {
    const bmo_view *view;
    const bmo_slot *container;
    uint32_t next;
    const char *name;       /* a member's name, not terminated; NULL for an element */
    size_t name_length;
    const bmo_slot *value;
} bmo_walk;

static inline bmo_walk bmo_walk_begin(const bmo_view *view, const bmo_slot *container) {
    bmo_walk walk = {view, container, 0, NULL, 0, NULL};
    return walk;
}

/* Advances to the next entry; returns 0 after the last, and at once for a value that is not a container. */
static inline int bmo_walk_next(bmo_walk *walk) {
    walk->value = bmo_view_at(walk->view, walk->container, walk->next);
    if (!walk->value) return 0;
    walk->next++;
    walk->name_length = 0;
    walk->name = bmo_slot_tag(walk->container) == BMO_OBJECT
        ? bmo_view_key(walk->view, walk->value, &walk->name_length) : NULL;
    return 1;
}

/* ---------------------------------------------------------------- text */

/* Returns the length in bytes of the first UTF-8 scalar of a text (RFC 3629); 0 if the text does not begin with one. */
static inline size_t bmo_utf8_scalar(const uint8_t *at, size_t length) {
    if (!length) return 0;
    uint8_t first = at[0];
    if (first < 0x80) return 1;
    size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || length < size) return 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    /* No overlong forms, no surrogates, nothing above U+10FFFF. */
    if ((first == 0xE0 && at[1] < 0xA0) || (first == 0xED && at[1] > 0x9F) || (first == 0xF0 && at[1] < 0x90) ||
        (first == 0xF4 && at[1] > 0x8F)) return 0;
    return size;
}

/*
 * Returns the number of leading bytes that are valid UTF-8: `length` if all are. The host refuses a batch with any
 * other text.
 */
static inline size_t bmo_utf8_prefix(const char *text, size_t length) {
    size_t done = 0, size;
    while (done < length && (size = bmo_utf8_scalar((const uint8_t *)text + done, length - done))) done += size;
    return done;
}

/*
 * Writes a text of uncertain encoding: each byte that is not UTF-8 becomes U+FFFD. For messages, and for the
 * representation of a rejected record; reject a value whose bytes must be exact.
 */
static inline int bmo_write_text_repaired(bmo_writer *w, const char *text, size_t length) {
    size_t valid = bmo_utf8_prefix(text, length), used = valid;
    if (valid == length) return bmo_write_text(w, text, length);
    if (length > UINT32_MAX / 3) { w->failed = 1; return 0; }
    char *copy = (char *)malloc(length * 3);
    if (!copy) { w->failed = 1; return 0; }
    memcpy(copy, text, valid);
    for (size_t at = valid; at < length;) {
        size_t size = bmo_utf8_scalar((const uint8_t *)text + at, length - at);
        memcpy(copy + used, size ? text + at : "\xEF\xBF\xBD", size ? size : 3);
        used += size ? size : 3;
        at += size ? size : 1;
    }
    int done = bmo_write_text(w, copy, used);
    free(copy);
    return done;
}

#ifdef __cplusplus
}
#endif

#endif /* BMO_VIEW_H */
