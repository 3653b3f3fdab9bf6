/* A disk and a memory that fail on request, below an SQLite that knows nothing of it. For tests. */
#ifndef FAULTY_SQLITE_H
#define FAULTY_SQLITE_H

#include <stdint.h>

/* What an operation that fails says. */
enum { FAULTY_IO_ERROR, FAULTY_FULL };

/* Puts the faulty disk and memory below SQLite; before anything else of SQLite is called. Returns 0 when that worked. */
int faulty_install(void);

/*
 * From now on, of the opens, writes, truncations, syncs, deletions and growths of shared memory, the nth (from 1) fails,
 * and with `persistent` all after it. A write that fails has written half of its bytes.
 */
void faulty_disk(int64_t nth, int persistent, int kind);

/* From now on the nth allocation (from 1) fails, and with `persistent` all after it. */
void faulty_memory(int64_t nth, int persistent);

/* Nothing fails any more. Returns how many operations or allocations failed. */
int64_t faulty_stop(void);

#endif
