/* The floor: the least that a program must do to bring a SOAP reply's rows into SQLite. It reads the reply from disk (no HTTP) in
 * pieces of 64 KiB, hands them to libxml2's push parser with SAX handlers of its own, and binds straight into one prepared,
 * guarded upsert, in one transaction.
 *
 *   soap-floor DATABASE REPLY.xml      prints the number of rows written
 */
#include <libxml/parser.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const schema =
    "CREATE TABLE IF NOT EXISTS Row(id INTEGER PRIMARY KEY NOT NULL, name TEXT, amount TEXT, active INTEGER) STRICT";

static const char *const upsert =
    "INSERT INTO Row VALUES(?, ?, ?, ?) ON CONFLICT DO UPDATE SET name = excluded.name, amount = excluded.amount, "
    "active = excluded.active WHERE name IS NOT excluded.name OR amount IS NOT excluded.amount "
    "OR active IS NOT excluded.active";

enum { OTHER = -1, ID, NAME, AMOUNT, ACTIVE, COLUMNS };

struct state {
    sqlite3_stmt *statement;
    int in_row;
    int column;
    char text[COLUMNS][256];
    int length[COLUMNS];
};

static void fail(const char *what) {
    fprintf(stderr, "soap-floor: %s\n", what);
    exit(1);
}

static void start(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *namespace, int namespaces,
                  const xmlChar **declared, int attributes, int defaulted, const xmlChar **values) {
    struct state *state = context;
    (void)prefix, (void)namespace, (void)namespaces, (void)declared, (void)attributes, (void)defaulted, (void)values;
    if (!state->in_row) {
        state->in_row = strcmp((const char *)name, "row") == 0;
        memset(state->length, 0, sizeof state->length);
        return;
    }
    static const char *const names[COLUMNS] = {"id", "name", "amount", "active"};
    state->column = OTHER;
    for (int column = 0; column < COLUMNS; column++) {
        if (strcmp((const char *)name, names[column]) == 0) { state->column = column; }
    }
}

static void characters(void *context, const xmlChar *text, int count) {
    struct state *state = context;
    int column = state->column;
    if (column == OTHER || state->length[column] + count >= (int)sizeof state->text[column]) { return; }
    memcpy(state->text[column] + state->length[column], text, (size_t)count);
    state->length[column] += count;
}

static void end(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *namespace) {
    struct state *state = context;
    (void)prefix, (void)namespace;
    if (state->column != OTHER) {
        state->text[state->column][state->length[state->column]] = 0;
        state->column = OTHER;
        return;
    }
    if (!state->in_row || strcmp((const char *)name, "row") != 0) { return; }
    state->in_row = 0;
    sqlite3_bind_int64(state->statement, 1, strtoll(state->text[ID], NULL, 10));
    sqlite3_bind_text(state->statement, 2, state->text[NAME], state->length[NAME], SQLITE_STATIC);
    sqlite3_bind_text(state->statement, 3, state->text[AMOUNT], state->length[AMOUNT], SQLITE_STATIC);
    sqlite3_bind_int(state->statement, 4, strcmp(state->text[ACTIVE], "true") == 0);
    if (sqlite3_step(state->statement) != SQLITE_DONE) { fail("an upsert failed"); }
    sqlite3_reset(state->statement);
}

int main(int count, char **arguments) {
    if (count != 3) { fail("usage: soap-floor DATABASE REPLY.xml"); }
    sqlite3 *connection;
    struct state state = {.column = OTHER};
    if (sqlite3_open(arguments[1], &connection) != SQLITE_OK) { fail(sqlite3_errmsg(connection)); }
    const char *const before[] = {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL",
                                  "PRAGMA cache_size = -16384", schema, "BEGIN IMMEDIATE"};
    for (size_t index = 0; index < sizeof before / sizeof *before; index++) {
        if (sqlite3_exec(connection, before[index], NULL, NULL, NULL) != SQLITE_OK) { fail(sqlite3_errmsg(connection)); }
    }
    if (sqlite3_prepare_v3(connection, upsert, -1, SQLITE_PREPARE_PERSISTENT, &state.statement, NULL) != SQLITE_OK) {
        fail(sqlite3_errmsg(connection));
    }
    FILE *file = fopen(arguments[2], "rb");
    if (file == NULL) { fail("no such reply"); }
    xmlSAXHandler handler = {.initialized = XML_SAX2_MAGIC, .startElementNs = start, .endElementNs = end,
                             .characters = characters, .ignorableWhitespace = characters};
    xmlParserCtxtPtr parser = xmlCreatePushParserCtxt(&handler, &state, NULL, 0, NULL);
    static char piece[64 << 10];
    size_t size;
    while ((size = fread(piece, 1, sizeof piece, file)) > 0) {
        if (xmlParseChunk(parser, piece, (int)size, 0) != 0) { fail("the reply is not well-formed"); }
    }
    if (xmlParseChunk(parser, NULL, 0, 1) != 0) { fail("the reply is not whole"); }
    xmlFreeParserCtxt(parser);
    fclose(file);
    sqlite3_finalize(state.statement);
    if (sqlite3_exec(connection, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) { fail(sqlite3_errmsg(connection)); }
    printf("%d\n", sqlite3_total_changes(connection));
    sqlite3_close(connection);
}
