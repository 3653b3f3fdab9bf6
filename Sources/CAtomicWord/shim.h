// Loads and stores of a word that several processes map. The standard library's Atomic needs macOS 15 and iOS 18.
#include <stdint.h>

static inline uint64_t bmo_atomic_load(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }

static inline void bmo_atomic_store(uint64_t *word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}
