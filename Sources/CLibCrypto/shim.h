/* libcrypto of OpenSSL 3: digests, the signatures of JSON Web Tokens, and the encryption of saved logins. */
#ifndef BMO_CLIBCRYPTO_SHIM_H
#define BMO_CLIBCRYPTO_SHIM_H

#include <openssl/bio.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <string.h>

/* Signatures of JSON Web Signature (RFC 7515, RFC 7518 section 3): the three that APIs ask for. */

#define BMO_SIGNATURE_ROOM 1024

/* No password is asked for on a terminal. */
static inline int bmo_no_password(char *buffer, int size, int writes, void *context) {
    (void)buffer, (void)size, (void)writes, (void)context;
    return 0;
}

/* HS256. Returns the signature's length, or 0. */
static inline size_t bmo_sign_hs256(
    const uint8_t *key, size_t key_size, const uint8_t *data, size_t size, uint8_t *out) {
    unsigned int length = 0;
    return HMAC(EVP_sha256(), key, (int)key_size, data, size, out, &length) ? length : 0;
}

/* RS256, or ES256 with `is_ec`, by a private key in PEM. Returns the signature's length, 0 where the key is none of that
   kind, and out has BMO_SIGNATURE_ROOM bytes. */
static inline size_t bmo_sign_pem(
    const uint8_t *pem, size_t pem_size, int is_ec, const uint8_t *data, size_t size, uint8_t *out) {
    size_t result = 0;
    size_t length = 0;
    uint8_t der[BMO_SIGNATURE_ROOM];
    BIO *bio = BIO_new_mem_buf(pem, (int)pem_size);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, bmo_no_password, NULL) : NULL;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!key || !context || EVP_PKEY_get_base_id(key) != (is_ec ? EVP_PKEY_EC : EVP_PKEY_RSA)) goto end;
    if (EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) != 1) goto end;
    if (EVP_DigestSign(context, NULL, &length, data, size) != 1 || length > sizeof der) goto end;
    if (EVP_DigestSign(context, der, &length, data, size) != 1) goto end;
    if (!is_ec) {
        memcpy(out, der, length);
        result = length;
    } else {
        /* JWS wants r and s in 32 bytes each (RFC 7518, section 3.4). */
        const uint8_t *cursor = der;
        ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &cursor, (long)length);
        if (signature && BN_bn2binpad(ECDSA_SIG_get0_r(signature), out, 32) == 32
            && BN_bn2binpad(ECDSA_SIG_get0_s(signature), out + 32, 32) == 32) {
            result = 64;
        }
        ECDSA_SIG_free(signature);
    }
end:
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    BIO_free(bio);
    return result;
}

/* AES-256-GCM (NIST SP 800-38D). */

#define BMO_SEAL_KEY 32
#define BMO_SEAL_NONCE 12
#define BMO_SEAL_TAG 16

/* Writes `size` bytes and a tag to `out`. Returns whether that worked. */
static inline int bmo_seal(
    const uint8_t *key, const uint8_t *nonce, const uint8_t *data, size_t size, uint8_t *out) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int length = 0;
    int last = 0;
    int done = context && size <= 1 << 20
        && EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, nonce) == 1
        && EVP_EncryptUpdate(context, out, &length, data, (int)size) == 1
        && EVP_EncryptFinal_ex(context, out + length, &last) == 1 && (size_t)(length + last) == size
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, BMO_SEAL_TAG, out + size) == 1;
    EVP_CIPHER_CTX_free(context);
    return done;
}

/* Reverts bmo_seal; `data` has `size` bytes and the tag. Returns whether key and tag are right. */
static inline int bmo_unseal(
    const uint8_t *key, const uint8_t *nonce, const uint8_t *data, size_t size, uint8_t *out) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    uint8_t tag[BMO_SEAL_TAG];
    int length = 0;
    int last = 0;
    int done = 0;
    if (context && size <= 1 << 20) {
        memcpy(tag, data + size, sizeof tag);
        done = EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, nonce) == 1
            && EVP_DecryptUpdate(context, out, &length, data, (int)size) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, BMO_SEAL_TAG, tag) == 1
            && EVP_DecryptFinal_ex(context, out + length, &last) == 1;
    }
    EVP_CIPHER_CTX_free(context);
    return done;
}

#endif
