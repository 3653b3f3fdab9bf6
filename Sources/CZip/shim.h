/* libzip: zip archives, read through a source of the caller. */
#include <zip.h>
