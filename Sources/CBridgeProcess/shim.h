#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * What a process says of its memory when a signal ends it, as a line on its standard error:
 *
 *     bmo-memory: 131068 kB refused
 *
 * VmData of proc(5) is what RLIMIT_DATA bounds; of a process that has ended it cannot be read any more. `refused` says that the
 * thread's last failure was a lack of memory (ENOMEM): a pointer that nobody looked at is then likely why it crashed.
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
