/* The floor: the least that a program must do to bring rows that lie in memory into a table of SQLite. */
#ifndef FLOOR_H
#define FLOOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FLOOR_NULL, FLOOR_INTEGER, FLOOR_REAL, FLOOR_TEXT };

typedef struct {
    const char *text;
    union {
        int64_t integer;
        double real;
        size_t length;
    } value;
    int kind;
} floor_cell;

/* A table that is there, its key the first column; `columns` cells per row. */
typedef struct {
    const char *table;
    const char *const *names;
    size_t columns;
    const floor_cell *cells;
    size_t rows;
    size_t rows_per_transaction;
} floor_input;

/* One prepared, guarded upsert. Returns the rows that were written, -1 after an error on stderr. */
int64_t floor_upsert(const char *database, const floor_input *input);

/* One prepared look-up per row that compares each column, and an insert where there is none. */
int64_t floor_compare(const char *database, const floor_input *input);

#ifdef __cplusplus
}
#endif

#endif
