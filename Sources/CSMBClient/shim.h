/* libsmbclient: not thread-safe, and GPL-3: only SMBBridge links it. */
#include <libsmbclient.h>
