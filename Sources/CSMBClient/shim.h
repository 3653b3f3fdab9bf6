#include <libsmbclient.h>
