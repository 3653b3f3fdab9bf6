/* zlib: gzip streams. */
#include <zlib.h>
