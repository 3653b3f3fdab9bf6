/* The floor of Benchmarks/smb.py: libsmbclient lists a share with readdirplus2, in WORKERS processes that take the first
   folder's folders from a common counter, or reads a file in chunks of 4 MB; prints the number of files or bytes.
   Usage: smb-floor list|read URL PORT USER [WORKERS] (the password in SMB_PASSWORD) */
#include <errno.h>
#include <fcntl.h>
#include <libsmbclient.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *user, *password;
static unsigned long files;

static void authenticate(
    SMBCCTX *context, const char *server, const char *share, char *group, int groupSize, char *name, int nameSize,
    char *secret, int secretSize) {
    (void)context, (void)server, (void)share, (void)group, (void)groupSize;
    snprintf(name, (size_t)nameSize, "%s", user);
    snprintf(secret, (size_t)secretSize, "%s", password);
}

/* What the processes share: the next folder, and the files so far. */
static struct { unsigned long next, files; } *shared;

static SMBCCTX *connection(const char *port);

static void list(SMBCCTX *context, const char *url, const char *port, int workers) {
    SMBCFILE *folder = smbc_getFunctionOpendir(context)(context, url);
    if (!folder) {
        fprintf(stderr, "%s: %s\n", url, strerror(errno));
        exit(1);
    }
    size_t count = 0, room = 0;
    char **folders = NULL;
    struct stat status;
    const struct libsmb_file_info *entry;
    while ((entry = smbc_getFunctionReaddirPlus2(context)(context, folder, &status))) {
        if (!strcmp(entry->name, ".") || !strcmp(entry->name, "..")) continue;
        if (!(entry->attrs & SMBC_DOS_MODE_DIRECTORY)) {
            files++;
            continue;
        }
        if (count == room) folders = realloc(folders, (room = room * 2 + 16) * sizeof *folders);
        if (!folders) exit(1);
        size_t size = strlen(url) + strlen(entry->name) + 2;
        folders[count] = malloc(size);
        if (!folders[count]) exit(1);
        snprintf(folders[count++], size, "%s/%s", url, entry->name);
    }
    smbc_getFunctionClosedir(context)(context, folder);
    if (workers > 1) {
        for (int worker = 0; worker < workers; worker++) {
            if (fork()) continue;
            SMBCCTX *own = connection(port);
            files = 0;
            for (size_t i; (i = __sync_fetch_and_add(&shared->next, 1)) < count;) list(own, folders[i], port, 1);
            __sync_fetch_and_add(&shared->files, files);
            _exit(0);
        }
        while (wait(NULL) > 0) {}
        files += shared->files;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        list(context, folders[i], port, 1);
        free(folders[i]);
    }
    free(folders);
}

static SMBCCTX *connection(const char *port) {
    SMBCCTX *context = smbc_new_context();
    smbc_setOptionDebugToStderr(context, 1);
    if (!smbc_init_context(context)) exit(1);
    smbc_setFunctionAuthDataWithContext(context, authenticate);
    smbc_setPort(context, (unsigned short)atoi(port));
    return context;
}

int main(int count, char **arguments) {
    if (count != 5 && count != 6) return 2;
    user = arguments[4];
    password = getenv("SMB_PASSWORD");
    if (!password) return 2;
    SMBCCTX *context = connection(arguments[3]);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    if (!strcmp(arguments[1], "list")) {
        list(context, arguments[2], arguments[3], count == 6 ? atoi(arguments[5]) : 1);
        printf("%lu\n", files);
        return 0;
    }
    SMBCFILE *file = smbc_getFunctionOpen(context)(context, arguments[2], O_RDONLY, 0);
    if (!file) return 1;
    char *buffer = malloc(4000000);
    unsigned long long total = 0;
    ssize_t got;
    while (buffer && (got = smbc_getFunctionRead(context)(context, file, buffer, 4000000)) > 0) total += (size_t)got;
    printf("%llu\n", total);
    return 0;
}
