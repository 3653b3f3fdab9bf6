#include "faulty_sqlite.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static atomic_int_fast64_t disk_left, memory_left, failed;
static atomic_int disk_persistent, memory_persistent, disk_kind;

/* Whether this one fails. 0: nothing is asked for; 1: this one; -1: all from now on. */
static int strikes(atomic_int_fast64_t *left, atomic_int *persistent) {
    int64_t now = atomic_load(left);
    if (now == 0) return 0;
    if (now > 0) now = atomic_fetch_sub(left, 1);
    if (now > 1) return 0;
    if (now == 1) atomic_store(left, atomic_load(persistent) ? -1 : 0);
    atomic_fetch_add(&failed, 1);
    return 1;
}

static int disk_fails(void) { return strikes(&disk_left, &disk_persistent); }

static int code(int io_error) { return atomic_load(&disk_kind) == FAULTY_FULL ? SQLITE_FULL : io_error; }

/* ---------------------------------------------------------------- files */

/* The file of the VFS below follows in memory. */
typedef struct {
    sqlite3_file base;
    sqlite3_file *below;
} faulty_file;

static sqlite3_file *below(sqlite3_file *file) { return ((faulty_file *)file)->below; }

static int faulty_close(sqlite3_file *f) { return below(f)->pMethods->xClose(below(f)); }

static int faulty_read(sqlite3_file *f, void *data, int size, sqlite3_int64 offset) {
    return below(f)->pMethods->xRead(below(f), data, size, offset);
}

static int faulty_write(sqlite3_file *f, const void *data, int size, sqlite3_int64 offset) {
    if (disk_fails()) {
        below(f)->pMethods->xWrite(below(f), data, size / 2, offset);
        return code(SQLITE_IOERR_WRITE);
    }
    return below(f)->pMethods->xWrite(below(f), data, size, offset);
}

static int faulty_truncate(sqlite3_file *f, sqlite3_int64 size) {
    if (disk_fails()) return SQLITE_IOERR_TRUNCATE;
    return below(f)->pMethods->xTruncate(below(f), size);
}

static int faulty_sync(sqlite3_file *f, int flags) {
    if (disk_fails()) return code(SQLITE_IOERR_FSYNC);
    return below(f)->pMethods->xSync(below(f), flags);
}

static int faulty_file_size(sqlite3_file *f, sqlite3_int64 *size) {
    return below(f)->pMethods->xFileSize(below(f), size);
}

static int faulty_lock(sqlite3_file *f, int lock) { return below(f)->pMethods->xLock(below(f), lock); }

static int faulty_unlock(sqlite3_file *f, int lock) { return below(f)->pMethods->xUnlock(below(f), lock); }

static int faulty_check_lock(sqlite3_file *f, int *out) {
    return below(f)->pMethods->xCheckReservedLock(below(f), out);
}

static int faulty_control(sqlite3_file *f, int op, void *argument) {
    return below(f)->pMethods->xFileControl(below(f), op, argument);
}

static int faulty_sector_size(sqlite3_file *f) { return below(f)->pMethods->xSectorSize(below(f)); }

static int faulty_characteristics(sqlite3_file *f) { return below(f)->pMethods->xDeviceCharacteristics(below(f)); }

static int faulty_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
    if (extend && disk_fails()) return code(SQLITE_IOERR_SHMSIZE);
    return below(f)->pMethods->xShmMap(below(f), page, size, extend, out);
}

static int faulty_shm_lock(sqlite3_file *f, int offset, int count, int flags) {
    return below(f)->pMethods->xShmLock(below(f), offset, count, flags);
}

static void faulty_shm_barrier(sqlite3_file *f) { below(f)->pMethods->xShmBarrier(below(f)); }

static int faulty_shm_unmap(sqlite3_file *f, int remove) { return below(f)->pMethods->xShmUnmap(below(f), remove); }

static int faulty_fetch(sqlite3_file *f, sqlite3_int64 offset, int size, void **out) {
    return below(f)->pMethods->xFetch(below(f), offset, size, out);
}

static int faulty_unfetch(sqlite3_file *f, sqlite3_int64 offset, void *data) {
    return below(f)->pMethods->xUnfetch(below(f), offset, data);
}

static const sqlite3_io_methods methods = {
    3,                 faulty_close,     faulty_read,        faulty_write,       faulty_truncate,
    faulty_sync,       faulty_file_size, faulty_lock,        faulty_unlock,      faulty_check_lock,
    faulty_control,    faulty_sector_size, faulty_characteristics, faulty_shm_map, faulty_shm_lock,
    faulty_shm_barrier, faulty_shm_unmap, faulty_fetch,      faulty_unfetch};

/* ---------------------------------------------------------------- the VFS */

static sqlite3_vfs vfs;

static sqlite3_vfs *real(sqlite3_vfs *v) { return v->pAppData; }

static int faulty_open(sqlite3_vfs *v, const char *name, sqlite3_file *file, int flags, int *out) {
    faulty_file *f = (faulty_file *)file;
    f->base.pMethods = NULL;
    f->below = (sqlite3_file *)(f + 1);
    if (!(flags & SQLITE_OPEN_READONLY) && disk_fails()) return SQLITE_CANTOPEN;
    int status = real(v)->xOpen(real(v), name, f->below, flags, out);
    if (f->below->pMethods) f->base.pMethods = &methods;
    return status;
}

static int faulty_delete(sqlite3_vfs *v, const char *name, int sync) {
    if (disk_fails()) return SQLITE_IOERR_DELETE;
    return real(v)->xDelete(real(v), name, sync);
}

static int faulty_access(sqlite3_vfs *v, const char *name, int flags, int *out) {
    return real(v)->xAccess(real(v), name, flags, out);
}

static int faulty_full_path(sqlite3_vfs *v, const char *name, int size, char *out) {
    return real(v)->xFullPathname(real(v), name, size, out);
}

static int faulty_randomness(sqlite3_vfs *v, int size, char *out) { return real(v)->xRandomness(real(v), size, out); }

static int faulty_sleep(sqlite3_vfs *v, int microseconds) { return real(v)->xSleep(real(v), microseconds); }

static int faulty_time(sqlite3_vfs *v, double *out) { return real(v)->xCurrentTime(real(v), out); }

static int faulty_time64(sqlite3_vfs *v, sqlite3_int64 *out) { return real(v)->xCurrentTimeInt64(real(v), out); }

static int faulty_last_error(sqlite3_vfs *v, int size, char *out) { return real(v)->xGetLastError(real(v), size, out); }

/* ---------------------------------------------------------------- memory */

static sqlite3_mem_methods memory;

static int memory_fails(void) { return strikes(&memory_left, &memory_persistent); }

static void *faulty_malloc(int size) { return memory_fails() ? NULL : memory.xMalloc(size); }

static void *faulty_realloc(void *old, int size) { return memory_fails() ? NULL : memory.xRealloc(old, size); }

/* ---------------------------------------------------------------- the interface */

int faulty_install(void) {
    sqlite3_mem_methods wrapped;
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory) != SQLITE_OK || !memory.xMalloc) return 1;
    wrapped = memory;
    wrapped.xMalloc = faulty_malloc;
    wrapped.xRealloc = faulty_realloc;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &wrapped) != SQLITE_OK) return 1;
    if (sqlite3_initialize() != SQLITE_OK) return 1;
    sqlite3_vfs *base = sqlite3_vfs_find(NULL);
    if (!base || base->iVersion < 2) return 1;
    memset(&vfs, 0, sizeof vfs);
    vfs.iVersion = 2;
    vfs.szOsFile = (int)sizeof(faulty_file) + base->szOsFile;
    vfs.mxPathname = base->mxPathname;
    vfs.zName = "faulty";
    vfs.pAppData = base;
    vfs.xOpen = faulty_open;
    vfs.xDelete = faulty_delete;
    vfs.xAccess = faulty_access;
    vfs.xFullPathname = faulty_full_path;
    vfs.xRandomness = faulty_randomness;
    vfs.xSleep = faulty_sleep;
    vfs.xCurrentTime = faulty_time;
    vfs.xCurrentTimeInt64 = faulty_time64;
    vfs.xGetLastError = faulty_last_error;
    return sqlite3_vfs_register(&vfs, 1) == SQLITE_OK ? 0 : 1;
}

void faulty_disk(int64_t nth, int persistent, int kind) {
    atomic_store(&failed, 0);
    atomic_store(&disk_persistent, persistent);
    atomic_store(&disk_kind, kind);
    atomic_store(&disk_left, nth);
}

void faulty_memory(int64_t nth, int persistent) {
    atomic_store(&failed, 0);
    atomic_store(&memory_persistent, persistent);
    atomic_store(&memory_left, nth);
}

int64_t faulty_stop(void) {
    atomic_store(&disk_left, 0);
    atomic_store(&memory_left, 0);
    return atomic_load(&failed);
}
