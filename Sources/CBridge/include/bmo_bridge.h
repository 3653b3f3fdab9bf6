/*
 * bmo_bridge.h - the contract between bmo and a bridge, ABI 1.2.
 *
 * A bridge is a shared library that turns one kind of API into records. It exports two symbols:
 *
 *     const bmo_bridge_info  *bmo_bridge_info_v1(void);
 *     const bmo_bridge_table *bmo_bridge_entry_v1(uint16_t host_major, uint16_t host_minor);
 *
 * `info` is read first and identifies the bridge; `entry` returns its function table, or NULL to refuse this host. Only
 * these structs and flat batches (bmo_batch.h) cross the boundary: options, requests, pages and errors are batches too,
 * so that the same bytes can travel over a pipe to a child process.
 *
 * Threads: the host calls one instance from several threads only if the bridge says `concurrent: true` in its
 * description; one fetch is driven by one thread at a time; `cancel` may come from any thread at any time. Calls may
 * block. A bridge neither sleeps to retry nor prints: the host owns retries, rate limits, deadlines and logging. The
 * host never unloads a bridge (no dlclose).
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
#define BMO_BRIDGE_ABI_MINOR 2
#define BMO_BRIDGE_INFO_SYMBOL "bmo_bridge_info_v1"
#define BMO_BRIDGE_ENTRY_SYMBOL "bmo_bridge_entry_v1"

/* The identity of a bridge, in static storage. Appended fields are read only if struct_size covers them. */
typedef struct bmo_bridge_info {
    uint64_t magic;         /* BMO_BRIDGE_MAGIC */
    uint32_t struct_size;   /* sizeof(bmo_bridge_info) as the bridge was compiled */
    uint16_t abi_major;     /* BMO_BRIDGE_ABI_MAJOR; any other major is refused */
    uint16_t abi_minor;
    const char *name;       /* the plugin's name in a configuration: [a-z][a-z0-9_-]{0,31} */
    const char *version;    /* the bridge's own version, for people */
    const char *kit;        /* the kit and its version, for logs */
    const char *compiler;   /* for logs */
} bmo_bridge_info;

/* Bytes that are valid only for the duration of the call. */
typedef struct bmo_bytes {
    const uint8_t *data;
    size_t size;
} bmo_bytes;

/*
 * Bytes that the bridge allocated; the host returns them to the table's `release` exactly once. {NULL, 0, NULL} is
 * empty.
 */
typedef struct bmo_buffer {
    uint8_t *data;
    size_t size;
    void *owner;            /* the bridge's own; the host ignores it */
} bmo_buffer;

/* The result of a call. With BMO_FAILED, the call's output holds an error batch (one record, see below). */
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

/* What `measure` reports: the outcome of a request, or a wait. */
typedef enum bmo_measurement {
    BMO_REQUEST_SUCCEEDED = 0,    /* a reply without an error */
    BMO_REQUEST_REFUSED = 1,      /* the remote says that the request is at fault (HTTP: 4xx except 429) */
    BMO_REQUEST_RATE_LIMITED = 2, /* the remote asks for fewer requests (HTTP: 429) */
    BMO_REQUEST_BROKEN = 3,       /* the remote says that it is at fault itself (HTTP: 5xx) */
    BMO_REQUEST_UNANSWERED = 4,   /* no reply: no connection, a timeout, a broken transfer */
    BMO_RATE_LIMIT_WAIT = 5       /* requests waited for a rate limit, that of the options or the remote's */
} bmo_measurement;

/*
 * The host's services for an instance; valid until `close` returned. Its functions may be called from any thread.
 *
 * work     since 1.1, only for a bridge that runs in a child process and is not concurrent; NULL elsewhere. Has one of
 *          several worker processes, with an instance of the same plugin and options, open a fetch of `request`, make
 *          one batch and close it; returns the result of that fetch_next. The host limits how many calls run at a time;
 *          the others wait. It fails after 60 seconds, the wait included: then do the work in this process. Pass the
 *          outputs to `release`. The bridge defines the request, which need not be valid in a configuration.
 * learn    reports a secret that the bridge obtained at run time, such as a token or a session's value, as UTF-8: from
 *          then on, the host keeps it out of all that it writes and prints, as it does with the secrets of the options.
 *          A host without this function has a smaller struct_size.
 * measure  reports one request to the remote that has ended, and its duration up to the head of the reply or its failure,
 *          or a wait for a rate limit, in microseconds. For the host's metrics only. Requests that the bridge itself
 *          breaks off do not count. A host without this function has a smaller struct_size.
 * share    since 1.2; NULL in a host without a database, and a host of 1.1 has a smaller struct_size: then keep the text
 *          in memory. Keeps a text for all processes of a database, also for later ones, such as a refresh token that is
 *          replaced with each use. `request` is one record { operation: text, name: text, value: text }; all bridges of
 *          the plugin have the same names, of 1 to 128 bytes.
 *          "lock"     waits until no other has the lock of the name, at most 120 seconds, and takes it;
 *                     answers one record { value: text or null }
 *          "save"     with the lock: replaces the text, at most 16 KiB. Once it returns, the text outlives a crash
 *          "release"  gives the lock back, as do `close` and the end of the process
 *          Have the lock for less than 120 seconds. With BMO_FAILED, `answer` holds an error batch. Pass it to `release`.
 *          The host does not show the text, and does not encrypt it.
 */
typedef struct bmo_host {
    uint32_t struct_size;
    void *context;
    void (*log)(void *context, bmo_log_level level, bmo_bytes message);
    bmo_status (*work)(void *context, bmo_bytes request, bmo_buffer *records, bmo_buffer *page);
    void (*release)(void *context, bmo_buffer buffer);
    void (*learn)(void *context, bmo_bytes secret);
    void (*measure)(void *context, bmo_measurement what, uint64_t microseconds);
    bmo_status (*share)(void *context, bmo_bytes request, bmo_buffer *answer);
} bmo_host;

typedef struct bmo_instance bmo_instance; /* one configured bridge: the bridge's own type */
typedef struct bmo_fetch bmo_fetch;       /* one scan of an entity's records: the bridge's own type */

/*
 * The function table. `context` is the table's own member of that name. Every function pointer up to `release` is
 * required; a bridge that does not support an operation says so in its description and returns BMO_FAILED with code
 * "unsupported".
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
 *                                                            watch replay plan_write newest_first, and since 1.2:
 *                                                            user_info parameters moves
 * open           options: one record, as in the configuration, secrets resolved
 * check          connects and authenticates without reading records. Output empty, or one record {message: text}
 * discover       -> one record per entity on offer: { name, fields: [{ name, type, key: bool }], section: object }
 * fetch_open     request: one record { entity: text, section: object (the entity's own section),
 *                cursor: text or null (the resume point of an earlier page), page_size: int or null,
 *                since 1.1, each absent or null without a value:
 *                token: text     (incremental) the page's `token` of an earlier finished fetch: return only what
 *                                changed since
 *                since: text     (incremental) the newest imported value of the entity's incremental field, less the
 *                                configured lookback, in the form in which the remote sent it
 *                since_time: text  (incremental, since 1.2) the same value as an ISO 8601 time in UTC, if the
 *                                configuration says that it is a time, and the remote writes it in another form
 *                newest_first: bool (newest_first) the host expects the newest records first, and ends the fetch where it
 *                                knows what follows; a bridge that would return several listings, one after the other,
 *                                fails with code "configuration"
 *                parent: object  (parent) local values of the object whose children are requested, by local names
 *                one: bool       (since 1.2) the section asks for one object, the one whose values `parent` has: a reply
 *                                without it is complete only if it says that the object does not exist
 *                details: bool   (since 1.2) the section asks for more about an object that is known, the one whose
 *                                values `parent` has: a list inside the object that the reply describes does not have
 *                                the requested records
 *                filters: [{ attribute: text (local), path: text (remote, dots),
 *                            comparison: "=" "!=" "<" "<=" ">" ">=", value: any }]  (filter) conditions that all hold;
 *                                a bridge may leave any of them to the host
 *                explain: bool   (plan) contact no remote: fetch_next returns one record { request: text, body: text or
 *                                null } per request that the first page would take, and a page with end: true and
 *                                `pushed`
 *                fields: [text]  the members of a record that the host reads; a bridge may leave out others to save
 *                                work. Absent: all of them
 *                field_paths: [{ path: [text] }]  the paths in a record of the values that the host reads, for a remote that
 *                                can select what it sends. Absent: any value
 *                key_paths: [text]  the paths in a record of the parts of its object's key, with dots, in the key's
 *                                order: for remotes that identify a deleted object by another kind of id, such as its
 *                                URL
 *                surroundings: [text]  for records that come from nested arrays: the paths that the host reads from the
 *                                objects around them, such as "@parent.id", "@parent.@parent.code" and "@index". A
 *                                bridge that supports them adds to each record the members `@parent`, an object with
 *                                these members of the enclosing object, and `@index`, the record's index in its array
 *                                from 0
 *                watch: bool     (watch) return no records: each fetch_next waits for a change that may affect the
 *                                entity, since the fetch was opened or since fetch_next last returned, and returns
 *                                page_end: true; after `wait` milliseconds it also returns unchanged: true. A change
 *                                between two calls counts for the next one. It is only a hint: the host fetches to see
 *                                what changed, and also polls in any case. If the remote cannot report changes,
 *                                fetch_open or the first fetch_next fails with code "unsupported"
 *                wait: int       (watch) milliseconds, below the 300 s that a call may take
 *                user_info: object (user_info, since 1.2) what the program that embeds bmo says about this request: members
 *                                of its own, of at most 16 KiB as JSON and 16 levels. Ignore those that you do not know
 *                parameters: object (parameters, since 1.2) texts, numbers and bools by the remote's names: the requests
 *                                of this fetch have these parameters, in place of the section's own of the same names
 *                read_one: object (explain) the section for reading one object, if the configuration has one
 *                written: [{ path: [text] }]  (explain) the paths of the values that can be set in a new object
 *                judge: bool     (judge) contact no remote, not even for a description of the API: fetch_next returns
 *                                one record { key: text or null (below the section, dots), message: text, remedy: text
 *                                or null } per fault of the section, and a page with end: true. Only the names of a
 *                                parent's members are known. `since` holds a name as well, if the entity watches a
 *                                field, and so does `token`, if it has incremental: token (since 1.2). A record with
 *                                warning: true is a warning instead of a fault
 *                names: { fields: [text], key: [text] }  (judge) the local names of the entity's members and of the
 *                                parts of its key, for validating the attributes that a section names; nested: [text]
 *                                the names that an update may set inside nested objects, if the entity has no read_one
 *                                by which such an object could be read first
 *                writable: bool  (judge) the entity's objects are also written
 *                inherited: [text]  (judge, since 1.2) the members of the section that the entity's own section does not
 *                                have, but its bridge's section or the defaults of the file, where other entities may
 *                                need them }
 * fetch_next     -> records: a batch of records, or empty;
 *                   page: one record { cursor: text or null   from which a later fetch_open continues after this page;
 *                                      page_end: bool         these records end a page: the host may commit
 *                                      end: bool              no more calls follow; true at last even without a record
 *                                      complete: bool         with end: the scan listed everything requested, from the
 *                                                             request's cursor on: the host treats every object that
 *                                                             was not listed as deleted. With `since`: everything that
 *                                                             changed was listed. With a token: everything that exists
 *                                                             was listed, except spared objects; a scan that answers a
 *                                                             token with changes is never complete
 *                                      total: int or null     the number of records according to the API
 *                                      location: text         URL or path, without secrets, for messages
 *                                      rejected: [{ index: int or null, reason: text, representation: text }]
 *                                      warnings: [text]
 *                                      metadata: object       further information from the API
 *                                      since 1.1, each may be absent:
 *                                      token: text            with end: for a later fetch that returns what changed
 *                                                             since
 *                                      unchanged: bool        with end: the remote reports no change since the token or
 *                                                             `since`; such a scan deletes nothing
 *                                      deleted: [object]      objects that the remote reports as deleted: in the shape
 *                                                             of a record that needs only the key; the host deletes
 *                                                             them after it has imported the records of this answer
 *                                      spared: [{ field: text (remote, dots), equals: any or prefix: text }]
 *                                                             objects that the scan skipped: their absence means
 *                                                             nothing, even if `complete` is true; an empty field with
 *                                                             the prefix "" selects all objects
 *                                      positional: bool       with complete: pages were addressed by position, so an
 *                                                             insertion or deletion during the scan may have shifted a
 *                                                             record past it: the host scans once more, without the
 *                                                             token, before it deletes anything. Also if an object
 *                                                             that the scan lacks may be in what it skipped as
 *                                                             unchanged
 *                                      repeats: bool          (since 1.2) with positional: the remote lists some objects
 *                                                             again on purpose. Without it, objects that come again may
 *                                                             have taken the places of others, which then count as lacking
 *                                      next_listing: bool     (since 1.2) a listing ends here, and the next records are
 *                                                             of another one, which may have the same. A fetch that
 *                                                             returns the same batches again and again counts as
 *                                                             endless, unless they are of different listings
 *                                      partial: bool          the records of this page hold only the changed members of
 *                                                             their objects. Without it, a member that other records of
 *                                                             the listing have and this one lacks is null
 *                                      pushed: [int]          the indexes of the request's filters that the remote
 *                                                             applies }
 *                On BMO_FAILED `page` holds the error and `records` is empty.
 * write          request: one record { operation: "create" | "update" | "delete", entity: text, section: object,
 *                key: object (by local names), values: object (in the remote's shape; for an update the changed ones) }
 *                since 1.1 also: object: object (all local values by local names), parent: object or null,
 *                idempotency_key: text or null (the same for each attempt of one write)
 *                references: [{ path: [text] }] (the paths in `values` that hold keys of other objects: one, null
 *                or a list)
 *                json: [text] (the members of object whose values are JSON texts)
 *                changed: [{ path: [text], before: value }] (an update: the path in `values` of each value, which may
 *                be an object itself; before: the JSON value that it replaces, or null)
 *                nested: object (an update that sets part of nested objects: these objects, with their other parts as
 *                far as they are known here, in the remote's shape; a remote that replaces a nested object as a whole
 *                would lose them otherwise; absent if no such part is set)
 *                read_one: object (an update: the section for reading one object, whose parent the object is)
 *                before: object     for an update: the values that `values` replaces, in the remote's shape, as last
 *                                   received; unknown ones are left out
 *                key_paths: object  by local names of the key: the names of the record's members that lead to
 *                                   it, [text]
 *                object_before: object  (since 1.2) an update: the values of object that the new ones replace, by
 *                                   local names, as last received: the remote's address of the object is made of these
 *                object_paths: object  (since 1.2) the same by local names of object, without values that are not read
 *                                   from one place
 *                members: [text]    (since 1.2) a create: the members of `values` that a new object can have, also
 *                                   those that it does not set
 *                record_members: [text]  (since 1.2) the members that records of the entity have: those that the host
 *                                   reads, and those that it has seen; absent if it does not know
 *                user_info: object  (user_info, since 1.2) what the program that made the edit says about it, as in
 *                                   fetch_open
 *                explain: bool      with the capability plan_write: send nothing, and return one record
 *                                   { request: text, body: text } that describes the request
 *                -> records: the representation from the reply, or empty. After an update, one with another key is
 *                   about something else, such as a log entry, and ignored, unless the bridge has the capability
 *                   moves: then it is the object, which has that key now
 * cancel         from any thread: the fetch's running and later calls return soon with code "cancelled"
 *
 * error batch: one record { code: text        configuration authentication permission not_found unreachable timeout tls
 *                                             protocol remote rate_limited unsupported limit cancelled conflict
 *                                             internal
 *                           message: text     what failed, and on which object
 *                           remedy: text or null
 *                           location: text or null   URL or path without secrets
 *                           remote: text or null     the remote's own words, cut to 1,000 characters
 *                           retryable: bool
 *                           retry_after: int or null  milliseconds
 *                           start_over: bool  (since 1.2; of a fetch) what this scan returned is out of date: the host
 *                                             forgets what it listed, and fetches from the beginning, at most three times
 *                           may_have_arrived: bool  (since 1.2; of a write that is retryable) the remote may have made
 *                                             the change all the same: the host sends it again, but does not roll it
 *                                             back before }
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
