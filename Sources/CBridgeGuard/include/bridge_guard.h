/*
 * Isolates a bridge from the secrets of the program that started it, and ends it with that program. The kernel enforces
 * all of it; a feature that the kernel lacks is skipped silently. BMO_TRACEABLE=1 in the environment permits debuggers.
 */
#ifndef BRIDGE_GUARD_H
#define BRIDGE_GUARD_H

/*
 * Keeps other processes of this user from reading this one's memory and environment (PR_SET_DUMPABLE of prctl(2)). Also
 * gives up permanently, for this process and all that it starts, the capabilities by which root inspects other
 * processes or the kernel. Call it before starting a second thread.
 */
void bmo_keep_others_out(void);

/* Confines a bridge's process and all that it starts. Call it before loading the plugin. */
void bmo_confine(void);

/*
 * Forks, and returns in the child process, which continues in place of this one. The parent stays as a guard, and ends
 * with the same status as the child. Before that, it ends all processes that the child started: orphans are reparented
 * to it (PR_SET_CHILD_SUBREAPER). SIGTERM, which also arrives when the host is gone, ends them all. Requires a single
 * thread; with more threads, or if the fork fails, this process continues without a guard.
 */
void bmo_leave_a_guard(void);

/* Creates an executable file in memory without a name on disk (memfd_create(2)); returns -1 on failure. */
int bmo_file_in_memory(const char *name);

/* Prevents further changes to the file, also by this process (F_ADD_SEALS of fcntl(2)); returns -1 on failure. */
int bmo_seal_file(int file);

/*
 * Overwrites the value of a variable in place: proc(5) shows it as /proc/PID/environ for as long as the process lives,
 * and unsetenv(3) only drops the pointer to it. The name stays, with an empty value: no pointer moves, so another
 * thread may call getenv(3) meanwhile.
 */
void bmo_blank_variable(const char *name);

#endif
