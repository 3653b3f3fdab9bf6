/* The floor of Benchmarks/postgres.py: the least that a program can do to bring the users into PostgreSQL. Reads them from
   a file, before the clock starts; then a page of 1,000 is one statement and one transaction, with binary parameters.
   Usage: postgres-floor CONNINFO FILE cold|unchanged
   cold creates the table and writes each page with INSERT ... SELECT unnest ... ON CONFLICT DO UPDATE; unchanged selects
   the range of each page and compares all values. Prints seconds, processor seconds, bytes of log and statements. */
#include <arpa/inet.h>
#include <endian.h>
#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { COLUMNS = 13, PAGE = 1000 };
enum type { TEXT, BIGINT, DATE, TIMESTAMP, DOUBLE, BOOLEAN };
static const struct {
    const char *name, *sql;
    uint32_t oid;
    enum type type;
} columns[COLUMNS] = {
    {"id", "bigint", 20, BIGINT}, {"name", "text", 25, TEXT}, {"username", "text", 25, TEXT},
    {"email", "text", 25, TEXT}, {"phone", "text", 25, TEXT}, {"website", "text", 25, TEXT},
    {"company", "text", 25, TEXT}, {"born", "date", 1082, DATE}, {"registered", "timestamptz", 1184, TIMESTAMP},
    {"score", "double precision", 701, DOUBLE}, {"active", "boolean", 16, BOOLEAN}, {"city", "text", 25, TEXT},
    {"zip", "text", 25, TEXT},
};

struct value {
    const char *bytes;
    int size;
};

static PGconn *connection;

static void fail(const char *what) {
    fprintf(stderr, "postgres-floor: %s: %s", what, connection ? PQerrorMessage(connection) : "\n");
    exit(1);
}

static PGresult *checked(PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail("a statement");
    return result;
}

static long long wal(void) {
    PGresult *result = checked(PQexec(connection, "SELECT pg_current_wal_insert_lsn() - '0/0'"));
    long long position = atoll(PQgetvalue(result, 0, 0));
    PQclear(result);
    return position;
}

static double processor_time(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Converts a text to the binary form of its column, in place: no such form is longer than the text. Boolean is t or f, a
   date has the form 2001-02-03, a timestamp 2001-02-03T04:05:06Z. */
static struct value converted(char *text, enum type type, char *room) {
    struct tm time = {0};
    uint64_t number;
    switch (type) {
    case TEXT: return (struct value){text, (int)strlen(text)};
    case BIGINT: number = htobe64((uint64_t)atoll(text)); break;
    case DOUBLE: {
        double real = atof(text);
        memcpy(&number, &real, 8);
        number = htobe64(number);
        break;
    }
    case BOOLEAN: room[0] = text[0] == 't'; return (struct value){room, 1};
    default:
        strptime(text, type == DATE ? "%Y-%m-%d" : "%Y-%m-%dT%H:%M:%SZ", &time);
        int64_t seconds = timegm(&time) - 946684800; /* from 2000-01-01 on */
        if (type == DATE) {
            uint32_t days = htonl((uint32_t)(int32_t)(seconds / 86400 - (seconds % 86400 < 0)));
            memcpy(room, &days, 4);
            return (struct value){room, 4};
        }
        number = htobe64((uint64_t)(seconds * 1000000));
    }
    memcpy(room, &number, 8);
    return (struct value){room, 8};
}

static char *put32(char *place, uint32_t number) {
    number = htonl(number);
    memcpy(place, &number, 4);
    return place + 4;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    FILE *file = fopen(arguments[2], "rb");
    if (!file || fseek(file, 0, SEEK_END)) fail("the file");
    long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) fail("the file");
    text[size] = 0;
    long rows = 0;
    for (char *place = text; *place; place++) rows += *place == '\n';
    struct value(*table)[COLUMNS] = malloc((size_t)rows * sizeof *table);
    char *room = malloc((size_t)rows * COLUMNS * 8), *place = text;
    if (!table || !room || rows % PAGE) fail("the rows");
    for (long row = 0; row < rows; row++)
        for (int column = 0; column < COLUMNS; column++) {
            char *end = place + strcspn(place, "\t\n");
            *end = 0;
            table[row][column] = converted(place, columns[column].type, room);
            room += 8;
            place = end + 1;
        }

    connection = PQconnectdb(arguments[1]);
    if (PQstatus(connection) != CONNECTION_OK) fail("connecting");
    int cold = !strcmp(arguments[3], "cold");
    char sql[2000] = "CREATE TABLE floor (", insert[2000] = "INSERT INTO floor SELECT * FROM unnest(", set[1000] = "";
    for (int column = 0; column < COLUMNS; column++) {
        const char *comma = column ? ", " : "", *name = columns[column].name, *type = columns[column].sql;
        sprintf(sql + strlen(sql), "%s%s %s%s", comma, name, type,
                column ? columns[column].type == TEXT ? " COLLATE \"C\"" : "" : " PRIMARY KEY");
        sprintf(insert + strlen(insert), "%s$%d::%s[]", comma, column + 1, type);
        if (column) sprintf(set + strlen(set), "%s%s = excluded.%s", column > 1 ? ", " : "", name, name);
    }
    strcat(sql, ")");
    sprintf(insert + strlen(insert), ") ON CONFLICT (id) DO UPDATE SET %s", set);
    if (cold) PQclear(checked(PQexec(connection, sql)));
    PQclear(checked(PQprepare(
        connection, "page", cold ? insert : "SELECT * FROM floor WHERE id BETWEEN $1::bigint AND $2::bigint", 0, NULL)));

    long long log = wal();
    struct timespec began, ended;
    double processor = processor_time();
    clock_gettime(CLOCK_MONOTONIC, &began);
    static char buffer[64 << 20];
    const char *values[COLUMNS];
    int lengths[COLUMNS], formats[COLUMNS];
    for (int column = 0; column < COLUMNS; column++) formats[column] = 1;
    for (long first = 0; first < rows; first += PAGE) {
        if (!cold) {
            values[0] = table[first][0].bytes;
            values[1] = table[first + PAGE - 1][0].bytes;
            lengths[0] = lengths[1] = 8;
            PGresult *result = checked(PQexecPrepared(connection, "page", 2, values, lengths, formats, 1));
            if (PQntuples(result) != PAGE) fail("a row is missing");
            for (int row = 0; row < PAGE; row++)
                for (int column = 0; column < COLUMNS; column++) {
                    struct value wanted = table[first + row][column];
                    if (PQgetlength(result, row, column) != wanted.size ||
                        memcmp(PQgetvalue(result, row, column), wanted.bytes, (size_t)wanted.size))
                        fail("a value differs");
                }
            PQclear(result);
            continue;
        }
        char *end = buffer;
        for (int column = 0; column < COLUMNS; column++) {
            values[column] = end;
            end = put32(put32(put32(put32(put32(end, 1), 0), columns[column].oid), PAGE), 1);
            for (int row = 0; row < PAGE; row++) {
                struct value value = table[first + row][column];
                end = put32(end, (uint32_t)value.size);
                memcpy(end, value.bytes, (size_t)value.size);
                end += value.size;
            }
            lengths[column] = (int)(end - values[column]);
        }
        PQclear(checked(PQexecPrepared(connection, "page", COLUMNS, values, lengths, formats, 1)));
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    processor = processor_time() - processor;
    log = wal() - log;
    printf("%.3f %.3f %lld %ld\n", (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9,
           processor, log, rows / PAGE);
    PQfinish(connection);
    return 0;
}
