// Finds the fault in a text that simdjson's first stage refused: slow, for messages only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bmo __attribute__((visibility("hidden"))) {

// Returns the offset of the first byte that is not well-formed UTF-8 (Unicode 15, table 3-7), or `size`.
inline size_t find_bad_utf8(const uint8_t *text, size_t size) {
    size_t i = 0;
    while (i < size) {
        uint8_t c = text[i];
        size_t length = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
        if (length == 0 || size - i < length) return i;
        for (size_t k = 1; k < length; k++) {
            if ((text[i + k] & 0xC0) != 0x80) return i;
        }
        if ((c == 0xE0 && text[i + 1] < 0xA0) || (c == 0xED && text[i + 1] > 0x9F) || (c == 0xF0 && text[i + 1] < 0x90)
            || (c == 0xF4 && text[i + 1] > 0x8F)) return i;
        i += length;
    }
    return size;
}

// Returns the offset of the first control character inside a string, or of the last unclosed string, or `size`.
inline size_t find_bad_string(const uint8_t *text, size_t size, bool control) {
    bool inside = false;
    size_t start = size;
    for (size_t i = 0; i < size; i++) {
        if (!inside) {
            if (text[i] == '"') {
                inside = true;
                start = i;
            }
        } else if (text[i] == '\\') {
            i++;
        } else if (text[i] == '"') {
            inside = false;
        } else if (control && text[i] < 0x20) {
            return i;
        }
    }
    return inside && !control ? start : size;
}

}  // namespace bmo
