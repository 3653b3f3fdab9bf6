/*
 * json_batch.h - from a JSON text (RFC 8259) to a flat batch, in one pass.
 *
 * simdjson finds the structure and checks UTF-8 and strings with the best instructions of the machine; the values are
 * then copied from the text to the batch directly. Integers that fit 64 bits are BMO_INT64; every other number is
 * BMO_DECIMAL with its own characters. Members keep their order, and duplicates stay.
 *
 *     bmo_json_reader *reader = bmo_json_reader_new();
 *     bmo_json_add_path(reader);                        // 0: where the records are
 *     bmo_json_add_name(reader, "items", 5);
 *     uint32_t next = bmo_json_add_path(reader);        // further paths: values that the caller wants
 *     bmo_json_add_name(reader, "next", 4);
 *     if (bmo_json_begin(reader, data, size, BMO_JSON_RECORDS))
 *         while ((status = bmo_json_next(reader, &writer, 1 << 20)) == BMO_JSON_MORE) ...
 *     bmo_json_value_at(reader, next, &value);             // once the status is BMO_JSON_DONE
 *
 * One reader serves any number of texts, one after the other, and keeps its memory. Not thread-safe.
 */
#ifndef BMO_JSON_BATCH_H
#define BMO_JSON_BATCH_H

#include "bmo_batch.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bmo_json_reader bmo_json_reader;

/* The number of zero bytes that the caller keeps readable after a text's end. */
#define BMO_JSON_PADDING 64

typedef enum bmo_json_status {
    BMO_JSON_DONE = 0,   /* the text was read to its end and is well-formed */
    BMO_JSON_MORE = 1,   /* the batch is as large as it should be; call again */
    BMO_JSON_FAILED = 2
} bmo_json_status;

typedef enum bmo_json_fault {
    BMO_JSON_NONE = 0,
    BMO_JSON_EMPTY,          /* white space only */
    BMO_JSON_ENCODING,       /* not UTF-8 */
    BMO_JSON_SYNTAX,
    BMO_JSON_TRUNCATED,      /* the text ends in the middle of a value */
    BMO_JSON_TRAILING,       /* something follows the value */
    BMO_JSON_TOO_DEEP,       /* more than 1,024 levels */
    BMO_JSON_NO_RECORDS,     /* the path of the records selects nothing */
    BMO_JSON_NOT_RECORDS,    /* the path of the records selects a text, a number or a bool */
    BMO_JSON_NOT_A_LIST,     /* an object stands where the path of the records has an index or a filter */
    BMO_JSON_AMBIGUOUS,      /* no path was given, and the root is an object with arrays in it */
    BMO_JSON_TOO_LARGE,      /* over 4 GiB, or a batch that cannot be written */
    BMO_JSON_MEMORY
} bmo_json_fault;

typedef struct bmo_json_error {
    bmo_json_fault fault;
    size_t offset;           /* in the text as the caller gave it, from 0 */
    const char *message;     /* valid until the next text begins */
} bmo_json_error;

/* A record that cannot be stored in a batch; the others are not affected. */
typedef struct bmo_json_rejected {
    uint64_t index;          /* among the records of the text, from 0 */
    size_t offset;           /* of its JSON in the text */
    size_t length;
    const char *reason;      /* valid until the next call of bmo_json_next or bmo_json_begin */
} bmo_json_rejected;

typedef enum bmo_json_kind {
    BMO_JSON_MISSING = 0,
    BMO_JSON_NULL,
    BMO_JSON_FALSE,
    BMO_JSON_TRUE,
    BMO_JSON_NUMBER,         /* text holds its characters */
    BMO_JSON_TEXT,
    BMO_JSON_OBJECT,
    BMO_JSON_ARRAY
} bmo_json_kind;

typedef struct bmo_json_value {
    bmo_json_kind kind;
    const char *text;        /* of numbers and texts; valid until the next text begins */
    size_t length;
} bmo_json_value;

bmo_json_reader *bmo_json_reader_new(void);
void bmo_json_reader_free(bmo_json_reader *reader);

/*
 * Sets the limit for texts of up to this many bytes. A text may have three structural indexes (values, names and marks)
 * for each eight bytes, and at least 25,165,824 (four bytes of memory each). A text with more is BMO_JSON_TOO_LARGE.
 */
void bmo_json_limit(bmo_json_reader *reader, size_t bytes);

/* The most paths of a reader, that of the records included. */
#define BMO_JSON_MAX_PATHS 31
/* In place of the number of a path. */
#define BMO_JSON_NO_PATH UINT32_MAX

/*
 * Begins a path at the root, `$` (RFC 9535), and returns its number. Path 0 selects the records: an array stands for
 * its elements. Returns BMO_JSON_NO_PATH if there are BMO_JSON_MAX_PATHS already: then nothing is added, neither by this
 * call nor by those that append selectors, and the value at that number is BMO_JSON_MISSING.
 */
uint32_t bmo_json_add_path(bmo_json_reader *reader);
/* Appends a name selector to the last path. */
void bmo_json_add_name(bmo_json_reader *reader, const char *name, size_t length);
/* Appends a wildcard selector, [*], to the last path: all elements, or all members' values. */
void bmo_json_add_wildcard(bmo_json_reader *reader);

/* Appends an index selector, [n] from 0, to the last path. */
void bmo_json_add_index(bmo_json_reader *reader, uint64_t index);
/* Appends a filter selector, [?@.name=='value'], to the last path: the elements whose member equals that text. */
void bmo_json_add_filter(bmo_json_reader *reader, const char *name, size_t length, const char *value, size_t value_length);
/* Adds a member in front of each record's own, from the next record on. */
void bmo_json_set_field(bmo_json_reader *reader, const char *name, size_t length, const char *value, size_t value_length);
void bmo_json_clear_fields(bmo_json_reader *reader);
/* Accepts arrays and plain values as records: the caller makes objects of them. */
void bmo_json_take_any(bmo_json_reader *reader);

/*
 * How a text is read. The records are at path 0. Those that a wildcard finds in an object get its key as the member
 * `@key`; plain values there become records {@key, @value}. A list of values instead of objects has records {@value}.
 */
#define BMO_JSON_RECORDS 0
/* The same for a guessed path 0: an object at the root is then a record only if it holds no array. */
#define BMO_JSON_GUESS 1
/* The text has no records: path 0 is like any other. */
#define BMO_JSON_VALUES 2
/* The text is a sequence of records (NDJSON); paths have no effect. */
#define BMO_JSON_SEQUENCE 3

/*
 * Begins a text. It must stay unchanged, with BMO_JSON_PADDING readable bytes after its end, until reading is over.
 * Returns 0 if the text is refused at once.
 */
int bmo_json_begin(bmo_json_reader *reader, const uint8_t *data, size_t size, int mode);
/* Writes records until the batch has about `bytes` bytes, or 500 records have been rejected. */
bmo_json_status bmo_json_next(bmo_json_reader *reader, bmo_writer *writer, size_t bytes);

void bmo_json_failure(const bmo_json_reader *reader, bmo_json_error *error);
/*
 * Reads the value that a further path selected; with duplicate members, the last. Valid once the status is
 * BMO_JSON_DONE.
 */
void bmo_json_value_at(const bmo_json_reader *reader, uint32_t path, bmo_json_value *value);
/* Returns the number of records seen so far in this text, including rejected ones. */
uint64_t bmo_json_records(const bmo_json_reader *reader);
/*
 * Whether the path of the records leads into a list or an object that has elements, and none of these has what follows,
 * as `$.groups[*].members` if no group has that member. Known once the status is BMO_JSON_DONE.
 */
int bmo_json_lacks_records(const bmo_json_reader *reader);
/* Returns the number of records rejected since the last call of bmo_json_next began. */
size_t bmo_json_rejected_count(const bmo_json_reader *reader);
void bmo_json_rejected_at(const bmo_json_reader *reader, size_t index, bmo_json_rejected *rejected);
/* Returns the range of the last record's JSON, including white space after it; length 0 without a record. */
void bmo_json_last_record(const bmo_json_reader *reader, size_t *offset, size_t *length);

/* A member somewhere below the root. For an array, the text is the first character of its first element. */
typedef struct bmo_json_finding {
    const char *path;        /* RFC 9535 */
    size_t path_length;
    bmo_json_value value;
} bmo_json_finding;

/*
 * After bmo_json_begin: collects the members of the text's objects, four levels deep, skipping arrays except lists of
 * links. On the way to the records, which are at the first path, it is two levels deep in each object. There are at most
 * about 600 findings, valid until the next text begins. Returns their number; a fault ends the survey early.
 */
size_t bmo_json_survey(bmo_json_reader *reader);
void bmo_json_finding_at(const bmo_json_reader *reader, size_t index, bmo_json_finding *finding);

/* After NO_RECORDS, NOT_RECORDS, NOT_A_LIST or AMBIGUOUS: returns the paths of arrays, separated by ", ", for a remedy. */
const char *bmo_json_arrays(bmo_json_reader *reader);

#ifdef __cplusplus
}
#endif

#endif /* BMO_JSON_BATCH_H */
