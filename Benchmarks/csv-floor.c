/*
 * Rows of a CSV file into SQLite, with libcsv and one prepared, guarded upsert: csv-floor DATABASE FILE
 *
 * What `bmo sync` of a share's CSV file is compared with. It reads the file from disk, so that the server, the protocol,
 * mapping and bookkeeping cost it nothing; in one transaction, on one thread.
 */
#include <csv.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 4 };

static sqlite3 *database;
static sqlite3_stmt *upsert;
static int column;
static int in_header = 1;

static void fail(const char *message) {
    fprintf(stderr, "csv-floor: %s\n", message);
    exit(1);
}

static void check(int code) {
    if (code != SQLITE_OK) {
        fail(sqlite3_errmsg(database));
    }
}

static void run(const char *statement) { check(sqlite3_exec(database, statement, NULL, NULL, NULL)); }

static void end_of_field(void *text, size_t length, void *data) {
    (void)data;
    if (in_header || column == COLUMNS) {
        return;
    }
    column++;
    if (column == 1) {
        check(sqlite3_bind_int64(upsert, 1, strtoll(text, NULL, 10)));
    } else {
        /* libcsv reuses its buffer for the next field. */
        check(sqlite3_bind_text(upsert, column, text, (int)length, SQLITE_TRANSIENT));
    }
}

static void end_of_row(int terminator, void *data) {
    (void)terminator;
    (void)data;
    if (in_header) {
        in_header = 0;
        return;
    }
    if (column != COLUMNS) {
        fail("a row has not four fields");
    }
    if (sqlite3_step(upsert) != SQLITE_DONE) {
        fail(sqlite3_errmsg(database));
    }
    sqlite3_reset(upsert);
    column = 0;
}

int main(int count, char **arguments) {
    if (count != 3) {
        fail("usage: csv-floor DATABASE FILE");
    }
    check(sqlite3_open(arguments[1], &database));
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = NORMAL");
    run("CREATE TABLE IF NOT EXISTS Row (id INTEGER PRIMARY KEY, name TEXT, city TEXT, amount TEXT)");
    run("BEGIN IMMEDIATE");
    check(sqlite3_prepare_v2(
        database,
        "INSERT INTO Row VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name, city = excluded.city, "
        "amount = excluded.amount WHERE name IS NOT excluded.name OR city IS NOT excluded.city "
        "OR amount IS NOT excluded.amount",
        -1, &upsert, NULL));
    FILE *file = fopen(arguments[2], "rb");
    if (!file) {
        fail("the file cannot be opened");
    }
    struct csv_parser parser;
    if (csv_init(&parser, CSV_APPEND_NULL) != 0) {
        fail("libcsv cannot begin");
    }
    static char buffer[1 << 20];
    size_t length;
    while ((length = fread(buffer, 1, sizeof buffer, file)) > 0) {
        if (csv_parse(&parser, buffer, length, end_of_field, end_of_row, NULL) != length) {
            fail(csv_strerror(csv_error(&parser)));
        }
    }
    csv_fini(&parser, end_of_field, end_of_row, NULL);
    csv_free(&parser);
    fclose(file);
    run("COMMIT");
    printf("%d\n", sqlite3_total_changes(database));
    sqlite3_finalize(upsert);
    check(sqlite3_close(database));
}
