/* Other systems have none of this: the host neither loads plugins nor starts processes there. */
#ifdef __linux__
#define _GNU_SOURCE
#include "bridge_guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The environment variable that permits debuggers and core dumps. */
#define BMO_TRACEABLE "BMO_TRACEABLE"

static int bmo_is_traceable(void) {
    const char *text = getenv(BMO_TRACEABLE);
    return text && strcmp(text, "1") == 0;
}

void bmo_keep_others_out(void) {
    if (bmo_is_traceable()) return;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    /* Since Linux 6.14, CAP_PERFMON and CAP_SYS_ADMIN suffice to read the memory of other processes. */
    static const int given_up[] = {
        CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_PERFMON, CAP_BPF,
    };
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    memset(data, 0, sizeof data);
    if (syscall(SYS_capget, &header, data) != 0) return;
    for (size_t i = 0; i < sizeof given_up / sizeof *given_up; i++) {
        /* Keeps programs started later from regaining it. */
        prctl(PR_CAPBSET_DROP, given_up[i], 0, 0, 0);
        uint32_t bit = ~(1u << (given_up[i] & 31));
        data[given_up[i] >> 5].effective &= bit;
        data[given_up[i] >> 5].permitted &= bit;
        data[given_up[i] >> 5].inheritable &= bit;
    }
    syscall(SYS_capset, &header, data);
}

/* landlock(7), with numbers and structures of Linux 6.12, which older headers lack. */
static void bmo_enter_landlock(void) {
    enum { create = 444, add = 445, restrict_self = 446 };
    struct { uint64_t files, network, scoped; } attributes = {0, 0, 0};
    struct { uint64_t allowed; int32_t parent; } __attribute__((packed)) root = {1ULL << 13, -1};
    long version = syscall(create, NULL, 0, 1);
    /* Version 1 cannot permit moving a file to another folder. */
    if (version < 2) return;
    /*
     * A domain of its own: processes outside cannot be traced from inside, whatever the rules allow. Making devices (1
     * << 6 and 11) is not allowed; moving files (1 << 13) is allowed everywhere.
     */
    attributes.files = 1ULL << 6 | 1ULL << 11 | 1ULL << 13;
    size_t size = sizeof attributes.files;
    if (version >= 6) {
        /* Signals cannot leave the domain. */
        attributes.scoped = 1ULL << 1;
        size = sizeof attributes;
    }
    int rules = (int)syscall(create, &attributes, size, 0);
    if (rules < 0) return;
    root.parent = open("/", O_PATH | O_CLOEXEC);
    if (root.parent >= 0 && syscall(add, rules, 1, &root, 0) == 0) syscall(restrict_self, rules, 0);
    if (root.parent >= 0) close(root.parent);
    close(rules);
}

/* seccomp(2): system calls that inspect other processes or the kernel fail with EPERM. */
static void bmo_filter_calls(void) {
#if defined(__x86_64__)
#define BMO_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define BMO_ARCH AUDIT_ARCH_AARCH64
#endif
#ifdef BMO_ARCH
#define BMO_REFUSE(number) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, BMO_ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BMO_REFUSE(SYS_ptrace),
        BMO_REFUSE(SYS_process_vm_readv),
        BMO_REFUSE(SYS_process_vm_writev),
        BMO_REFUSE(SYS_kcmp),
        BMO_REFUSE(SYS_perf_event_open),
        BMO_REFUSE(SYS_bpf),
        /* pidfd_getfd */
        BMO_REFUSE(438),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
#endif
}

void bmo_confine(void) {
    if (bmo_is_traceable()) return;
    /* No program started from here gains privileges by a set-user-ID bit. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
    bmo_enter_landlock();
    bmo_filter_calls();
}

int bmo_file_in_memory(const char *name) {
    /* MFD_EXEC: kernels before 6.3 do not know the flag, and imply it. */
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | 0x10U);
    return file >= 0 ? file : memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

int bmo_seal_file(int file) {
    return fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

void bmo_blank_variable(const char *name) {
    size_t length = strlen(name);
    for (char **entry = environ; length > 0 && entry && *entry; entry++) {
        if (strncmp(*entry, name, length) != 0 || (*entry)[length] != '=') continue;
        explicit_bzero(*entry + length + 1, strlen(*entry + length + 1));
    }
}

/* Returns the number of threads of this process; 0 if unknown. */
static int bmo_thread_count(void) {
    DIR *folder = opendir("/proc/self/task");
    if (!folder) return 0;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* Kills all current children of this process. */
static void bmo_kill_children(void) {
    DIR *folder = opendir("/proc");
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[64], text[512];
        long pid = strtol(entry->d_name, NULL, 10), parent = 0;
        if (pid <= 0) continue;
        snprintf(path, sizeof path, "/proc/%ld/stat", pid);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) continue;
        ssize_t size = read(file, text, sizeof text - 1);
        close(file);
        text[size > 0 ? size : 0] = 0;
        /* proc(5): PID (NAME) STATE PPID; the name may contain parentheses itself. */
        const char *end = strrchr(text, ')');
        if (end && sscanf(end + 1, " %*c %ld", &parent) == 1 && parent == (long)getpid()) kill((pid_t)pid, SIGKILL);
    }
    closedir(folder);
}

/* Kills all descendants of this process, including orphans that were reparented to it, and waits for their end. */
static void bmo_end_descendants(void) {
    for (int round = 0; round < 1000; round++) {
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {}
        if (pid < 0 && errno == ECHILD) return;
        bmo_kill_children();
        struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
    }
}

void bmo_leave_a_guard(void) {
    if (bmo_thread_count() != 1) return;
    sigset_t watched, before;
    sigemptyset(&watched);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGCHLD);
    sigprocmask(SIG_BLOCK, &watched, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    pid_t guard = getpid();
    pid_t worker = fork();
    if (worker <= 0) {
        if (worker == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
            if (getppid() != guard) _exit(1);
        } else {
            prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
        }
        sigprocmask(SIG_SETMASK, &before, NULL);
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    closefrom(0);
    int status = 0;
    for (;;) {
        int other;
        pid_t pid = waitpid(-1, &other, WNOHANG);
        if (pid == worker) status = other;
        if (pid == worker || (pid < 0 && errno == ECHILD)) break;
        if (pid > 0) continue;
        siginfo_t information;
        if (sigwaitinfo(&watched, &information) != SIGTERM) continue;
        kill(worker, SIGKILL);
        while (waitpid(worker, &status, 0) < 0 && errno == EINTR) {}
        break;
    }
    bmo_end_descendants();
    if (WIFSIGNALED(status)) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        /* The host's SIGTERM for a closed socket may arrive now; it must not replace the signal that ended it. */
        signal(SIGTERM, SIG_IGN);
        signal(WTERMSIG(status), SIG_DFL);
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_UNBLOCK, &all, NULL);
        raise(WTERMSIG(status));
        _exit(128 + WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}
#endif
