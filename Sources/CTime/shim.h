#include <time.h>

/* strptime is POSIX (XSI); the C library's headers hide it from Swift's importer unless _XOPEN_SOURCE came first. */
#ifdef __APPLE__
extern char *bmo_strptime(const char *text, const char *format, struct tm *time) __asm__("_strptime");
#else
extern char *bmo_strptime(const char *text, const char *format, struct tm *time) __asm__("strptime");
#endif
