#include <errno.h>
#include <fcntl.h>
#if defined(__linux__)
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * A line that a process writes to its standard error when a signal ends it:
 *
 *     bmo-memory: 131068 kB refused
 *
 * RLIMIT_DATA bounds VmData of proc(5), which cannot be read after a process has ended. `refused` says that the thread's last
 * failure was a lack of memory (ENOMEM): an unchecked null pointer is then the likely cause of the crash.
 */
#define BMO_MEMORY_NOTE "bmo-memory: "

/* Only functions that are safe in a signal handler (signal-safety(7)). */
static void bmo_note_memory(int number) {
    int refused = errno == ENOMEM;
    static char status[4096];
    static char note[64];
    ssize_t size = -1;
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        size = read(file, status, sizeof status - 1);
        close(file);
    }
    status[size > 0 ? size : 0] = 0;
    const char *digits = strstr(status, "VmData:");
    if (digits) {
        size_t length = 0;
        /* After whatever it was printing. */
        note[length++] = '\n';
        memcpy(note + length, BMO_MEMORY_NOTE, sizeof BMO_MEMORY_NOTE - 1);
        length += sizeof BMO_MEMORY_NOTE - 1;
        for (digits += 7; *digits == ' ' || *digits == '\t'; digits++) {}
        while (*digits >= '0' && *digits <= '9' && length < 40) note[length++] = *digits++;
        memcpy(note + length, " kB", 3);
        length += 3;
        if (refused) {
            memcpy(note + length, " refused", 8);
            length += 8;
        }
        note[length++] = '\n';
        if (write(2, note, length) < 0) {}
    }
    /* The handler is gone by now (SA_RESETHAND): the process ends by the same signal. */
    raise(number);
}

/* A plugin that handles these signals itself goes without the note. */
static inline void bmo_note_memory_on_crash(void) {
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = bmo_note_memory;
    action.sa_flags = (int)(SA_RESETHAND | SA_ONSTACK);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, 0);
}

/* What is printed in a call is there before its answer. Swift takes `stdout` for shared state that it cannot guard. */
static inline void bmo_print_at_once(void) { setvbuf(stdout, 0, _IONBF, 0); }

/*
 * Keeps up to 16 MiB of freed memory per thread, in place of giving it back to the kernel after each batch.
 *
 * Batches and pages are half a megabyte, which glibc's defaults map and unmap, or trim from the heap, each time: a page
 * fault per 4 KiB. Blocks over 4 MiB still go back at once.
 */
static inline void bmo_keep_freed_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
}
