#include "cpq.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

/* The version of libpq's binary interface is 5 since PostgreSQL 8.2. */
static const char library_name[] = "libpq.so.5";

#define FORWARD(type, function, parameters, arguments) \
    static __typeof__(function) *loaded_##function; \
    type function parameters { return loaded_##function arguments; }
CPQ_FUNCTIONS(FORWARD)
CPQ_PIPELINE_FUNCTIONS(FORWARD)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[512];
static int has_pipelining = 1;

static void fail(const char *reason) {
    snprintf(failure, sizeof failure, "%s", reason ? reason : "unknown reason");
}

static void load(void) {
    void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fail(dlerror());
        return;
    }
#define FIND(type, function, parameters, arguments) \
    if (!(loaded_##function = (__typeof__(function) *)dlsym(library, #function))) { \
        fail(dlerror()); \
        return; \
    }
    CPQ_FUNCTIONS(FIND)
#define FIND_NEWER(type, function, parameters, arguments) \
    if (!(loaded_##function = (__typeof__(function) *)dlsym(library, #function))) has_pipelining = 0;
    CPQ_PIPELINE_FUNCTIONS(FIND_NEWER)
}

int cpq_has_pipelining(void) { return has_pipelining; }

const char *cpq_load(void) {
    pthread_once(&once, load);
    return failure[0] ? failure : NULL;
}
