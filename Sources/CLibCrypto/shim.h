/* libcrypto of OpenSSL 3: digests and signatures. */
#include <openssl/evp.h>
