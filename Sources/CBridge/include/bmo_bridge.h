/*
 * bmo_bridge.h - the contract between bmo and a bridge, ABI 1.1.
 *
 * A bridge is a shared library that turns one kind of API into records. It exports two symbols:
 *
 *     const bmo_bridge_info  *bmo_bridge_info_v1(void);
 *     const bmo_bridge_table *bmo_bridge_entry_v1(uint16_t host_major, uint16_t host_minor);
 *
 * `info` is read first and tells who the bridge is; `entry` returns its function table, or NULL when it refuses
 * this host. Everything that crosses the boundary is one of these structs or a flat batch (bmo_batch.h): options,
 * requests, pages and errors are batches too, so that the same bytes can travel over a pipe to a child process.
 *
 * Threads: the host calls one instance from several threads only when the bridge says `concurrent: true` in its
 * description; one fetch is driven by one thread at a time; `cancel` may come from any thread at any moment.
 * Calls may block. A bridge neither sleeps to retry nor prints: the host owns retries, rate limits, deadlines and
 * logging. Never unload: the host does not dlclose.
 *
 * Strings are UTF-8. Integers in batches are little endian.
 */
#ifndef BMO_BRIDGE_H
#define BMO_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BMO_BRIDGE_MAGIC 0x314547444952424DULL /* "MBRIDGE1" as little-endian bytes */
#define BMO_BRIDGE_ABI_MAJOR 1
#define BMO_BRIDGE_ABI_MINOR 1
#define BMO_BRIDGE_INFO_SYMBOL "bmo_bridge_info_v1"
#define BMO_BRIDGE_ENTRY_SYMBOL "bmo_bridge_entry_v1"

/* Who a bridge is. Static storage; appended fields are read only when struct_size covers them. */
typedef struct bmo_bridge_info {
    uint64_t magic;         /* BMO_BRIDGE_MAGIC */
    uint32_t struct_size;   /* sizeof(bmo_bridge_info) as the bridge was compiled */
    uint16_t abi_major;     /* BMO_BRIDGE_ABI_MAJOR; another major is refused */
    uint16_t abi_minor;
    const char *name;       /* what a config calls it: [a-z][a-z0-9_-]{0,31} */
    const char *version;    /* the bridge's own version, for people */
    const char *kit;        /* kit and its version, for logs */
    const char *compiler;   /* for logs */
} bmo_bridge_info;

/* Bytes that stay valid for the length of the call only. */
typedef struct bmo_bytes {
    const uint8_t *data;
    size_t size;
} bmo_bytes;

/* Bytes that the bridge made; the host returns them with the table's `release` exactly once. {NULL, 0, NULL} is empty. */
typedef struct bmo_buffer {
    uint8_t *data;
    size_t size;
    void *owner;            /* the bridge's own; the host does not look at it */
} bmo_buffer;

/* What a call reports. With BMO_FAILED, the call's output holds an error batch (one record, see below). */
typedef enum bmo_status {
    BMO_OK = 0,
    BMO_FAILED = 1
} bmo_status;

typedef enum bmo_log_level {
    BMO_LOG_DEBUG = 0,
    BMO_LOG_INFO = 1,
    BMO_LOG_WARNING = 2,
    BMO_LOG_ERROR = 3
} bmo_log_level;

/*
 * What the host gives an instance; valid until `close` returned. Its functions may be called from any thread.
 *
 * work     since 1.1, only of a bridge that runs in a child process and is not concurrent; NULL elsewhere. Has one of several
 *          further processes, with an instance of the same plugin and options, open a fetch of `request`, make one batch and
 *          close it; returns what its fetch_next returned. As many calls run at a time as the host allows; the others wait.
 *          The outputs go back to `release`. The request is the bridge's own: it need not be one that a config could hold.
 */
typedef struct bmo_host {
    uint32_t struct_size;
    void *context;
    void (*log)(void *context, bmo_log_level level, bmo_bytes message);
    bmo_status (*work)(void *context, bmo_bytes request, bmo_buffer *records, bmo_buffer *page);
    void (*release)(void *context, bmo_buffer buffer);
} bmo_host;

typedef struct bmo_instance bmo_instance; /* one configured bridge: the bridge's own type */
typedef struct bmo_fetch bmo_fetch;       /* one walk over an entity's records: the bridge's own type */

/*
 * The function table. `context` is the table's own member of that name. Every function pointer up to `release` is required;
 * a bridge that cannot do something says so in its description and answers BMO_FAILED with code "unsupported".
 *
 * describe       -> a batch with one record:
 *                   { name, version, summary: text,
 *                     options_schema, entity_schema: text,   JSON Schema (draft 2020-12 subset, docs/bridges.md) of the
 *                                                            config's `options:` and of an entity's own section;
 *                                                            a secret is a property with "writeOnly": true
 *                     isolation: "in_process" | "child_process",
 *                     concurrent: bool,                      may one instance serve several fetches at a time?
 *                     capabilities: [text] }                 of: check discover fetch create update delete resume,
 *                                                            and since 1.1: incremental parent filter plan judge
 *                                                            watch replay
 * open           options: one record, as the config has them, secrets resolved
 * check          connects and authenticates without reading records. Output empty, or one record {message: text}
 * discover       -> one record per entity on offer: { name, fields: [{ name, type, key: bool }], section: object }
 * fetch_open     request: one record { entity: text, section: object (the entity's own section of the config),
 *                cursor: text or null (a resume point that an earlier page gave), page_size: int or null,
 *                since 1.1, each absent or null where there is none:
 *                token: text     (incremental) what an earlier finished fetch gave as the page's `token`: bring only
 *                                what moved since
 *                since: text     (incremental) the newest value of the entity's incremental field that was imported,
 *                                less the config's lookback, in the form in which the remote sent it
 *                parent: object  (parent) local values of the object whose children are wanted, by local names
 *                filters: [{ attribute: text (local), path: text (remote, dots), comparison: "=" "!=" "<" "<=" ">" ">=",
 *                            value: any }]  (filter) conditions that all hold; a bridge may leave any of them to the host
 *                explain: bool   (plan) contact nobody: fetch_next gives one record { request: text, body: text or null }
 *                                per request that the first page would take, and a page with end: true and `pushed`
 *                fields: [text]  the members of a record that the host reads; a bridge may leave out others, where that spares
 *                                work. Absent: all of them
 *                watch: bool     (watch) bring no records: each fetch_next waits until something moved that the entity may be
 *                                made of, since the fetch was opened or since fetch_next returned last, and answers with
 *                                page_end: true; after `wait` milliseconds with unchanged: true as well. What moves between
 *                                two calls counts for the next one. A hint only: the host fetches to see what moved, and
 *                                asks from time to time in any case. A remote that cannot tell: fetch_open or the first
 *                                fetch_next fails with code "unsupported"
 *                wait: int       (watch) milliseconds, below the 300 s that a call may take
 *                judge: bool     (judge) contact nobody, not even for a description of the API: fetch_next gives one record
 *                                { key: text or null (below the section, dots), message: text, remedy: text or null } per
 *                                fault of the section, and a page with end: true; of a parent only the names are known, and
 *                                since, where the entity watches a field, is a name as well
 *                names: { fields: [text], key: [text] }  (judge) the local names of what the entity's objects have and of
 *                                what their key is made of: what a section says of attributes can be held against them
 *                writable: bool  (judge) the entity's objects are written, too }
 * fetch_next     -> records: a batch of records, or empty;
 *                   page: one record { cursor: text or null   where a later fetch_open continues after this page;
 *                                      page_end: bool         these records end a page: the host may commit
 *                                      end: bool              no more calls; true at last even when no record came
 *                                      complete: bool         with end: the walk listed everything that was asked for,
 *                                                             from the request's cursor on: the host takes what did
 *                                                             not come for gone. With `since`: all that moved. With a
 *                                                             token: all that is there, but what is spared; a walk
 *                                                             that answers a token with changes is never complete
 *                                      total: int or null     how many records the API says there are
 *                                      location: text         URL or path, without secrets, for messages
 *                                      rejected: [{ index: int or null, reason: text, representation: text }]
 *                                      warnings: [text]
 *                                      metadata: object       what else the API said
 *                                      since 1.1, each may be absent:
 *                                      token: text            with end: hand it to a later fetch for what moved since
 *                                      unchanged: bool        with end: the remote says that nothing moved since the
 *                                                             token or `since`; such a walk deletes nothing
 *                                      deleted: [object]      objects that the remote says are gone: in the shape of a
 *                                                             record, of which the key suffices
 *                                      spared: [{ field: text (remote, dots), equals: any or prefix: text }]
 *                                                             objects that the walk did not look at: that they did not
 *                                                             come says nothing, even where `complete` is true; an
 *                                                             empty field with the prefix "" is all objects
 *                                      positional: bool       with complete: the pages were told apart by position, so
 *                                                             that what was added or removed meanwhile may have moved
 *                                                             a record past the walk: before it deletes anything, the
 *                                                             host walks once more
 *                                      pushed: [int]          which of the request's filters the remote applies }
 *                On BMO_FAILED `page` holds the error and `records` is empty.
 * write          request: one record { operation: "create" | "update" | "delete", entity: text, section: object,
 *                key: object (by local names), values: object (in the remote's shape; for an update what changed) }
 *                since 1.1 also: object: object (all local values by local names), parent: object or null,
 *                idempotency_key: text or null (the same for each try of one write)
 *                -> records: the answer's representation, or empty
 * cancel         from any thread: the fetch's running and later calls return soon with code "cancelled"
 *
 * error batch: one record { code: text        configuration authentication permission not_found unreachable timeout tls
 *                                             protocol remote rate_limited unsupported limit cancelled conflict
 *                                             internal
 *                           message: text     what failed, on which thing
 *                           remedy: text or null
 *                           location: text or null   URL or path without secrets
 *                           remote: text or null     the remote's own words, cut to 1,000 characters
 *                           retryable: bool
 *                           retry_after: int or null  milliseconds }
 */
typedef struct bmo_bridge_table {
    uint32_t struct_size;
    void *context;
    bmo_status (*describe)(void *context, bmo_buffer *output);
    bmo_status (*open)(void *context, bmo_bytes options, const bmo_host *host, bmo_instance **instance, bmo_buffer *error);
    void (*close)(void *context, bmo_instance *instance);
    bmo_status (*check)(void *context, bmo_instance *instance, bmo_buffer *output);
    bmo_status (*discover)(void *context, bmo_instance *instance, bmo_buffer *output);
    bmo_status (*fetch_open)(
        void *context, bmo_instance *instance, bmo_bytes request, bmo_fetch **fetch, bmo_buffer *error);
    bmo_status (*fetch_next)(void *context, bmo_fetch *fetch, bmo_buffer *records, bmo_buffer *page);
    void (*fetch_close)(void *context, bmo_fetch *fetch);
    bmo_status (*write)(void *context, bmo_instance *instance, bmo_bytes request, bmo_buffer *output);
    void (*cancel)(void *context, bmo_fetch *fetch);
    void (*release)(void *context, bmo_buffer buffer);
} bmo_bridge_table;

typedef const bmo_bridge_info *(*bmo_bridge_info_function)(void);
typedef const bmo_bridge_table *(*bmo_bridge_entry_function)(uint16_t host_major, uint16_t host_minor);

#ifdef __cplusplus
}
#endif

#endif /* BMO_BRIDGE_H */
