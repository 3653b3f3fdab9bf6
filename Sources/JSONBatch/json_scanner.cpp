#include "json_scanner.hpp"

namespace bmo __attribute__((visibility("hidden"))) {

// RFC 8259, section 6.
Result Scanner::number(Span &token, bool &is_integer, int64_t &value) {
    const uint8_t *start = text + indexes[at];
    const uint8_t *p = start;
    bool negative = *p == '-';
    if (negative) p++;
    const uint8_t *digits = p;
    uint64_t magnitude = 0;
    while (is_digit(*p)) magnitude = magnitude * 10 + (*p++ - '0');
    size_t length = size_t(p - digits);
    if (length == 0 || (length > 1 && *digits == '0')) {
        return p >= text + size ? fail(BMO_JSON_TRUNCATED, size, "the text ends in the middle of a value")
                                : unexpected("this is not a JSON number");
    }
    is_integer = true;
    if (*p == '.') {
        is_integer = false;
        const uint8_t *fraction = ++p;
        while (is_digit(*p)) p++;
        if (p == fraction) return unexpected("this is not a JSON number");
    }
    if (*p == 'e' || *p == 'E') {
        is_integer = false;
        p++;
        if (*p == '+' || *p == '-') p++;
        const uint8_t *exponent = p;
        while (is_digit(*p)) p++;
        if (p == exponent) return unexpected("this is not a JSON number");
    }
    if (p < text + size && !ends_token(*p)) return unexpected("this is not a JSON number");
    token = {start, size_t(p - start)};
    if (is_integer) {
        // 19 digits cannot overflow the unsigned magnitude; it then shows whether the signed value fits.
        const uint64_t limit = uint64_t(INT64_MAX) + (negative ? 1 : 0);
        // An int64 has no -0.
        if (length > 19 || magnitude > limit || (negative && magnitude == 0)) is_integer = false;
        else value = negative ? int64_t(0 - magnitude) : int64_t(magnitude);
    }
    at++;
    return Result::ok;
}

static int hex4(const uint8_t *p) {
    int value = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t c = p[i];
        int digit = is_digit(c) ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

static uint8_t *put_utf8(uint8_t *out, uint32_t scalar) {
    if (scalar < 0x80) {
        *out++ = uint8_t(scalar);
    } else if (scalar < 0x800) {
        *out++ = uint8_t(0xC0 | scalar >> 6);
        *out++ = uint8_t(0x80 | (scalar & 63));
    } else if (scalar < 0x10000) {
        *out++ = uint8_t(0xE0 | scalar >> 12);
        *out++ = uint8_t(0x80 | (scalar >> 6 & 63));
        *out++ = uint8_t(0x80 | (scalar & 63));
    } else {
        *out++ = uint8_t(0xF0 | scalar >> 18);
        *out++ = uint8_t(0x80 | (scalar >> 12 & 63));
        *out++ = uint8_t(0x80 | (scalar >> 6 & 63));
        *out++ = uint8_t(0x80 | (scalar & 63));
    }
    return out;
}

// RFC 8259, section 7. No escape is shorter than its decoded bytes, so the output fits the input's length.
std::ptrdiff_t Scanner::unescape(Span span, uint8_t *out, bool &lone) {
    uint8_t *start = out;
    const uint8_t *p = span.data;
    const uint8_t *end = p + span.size;
    while (p < end) {
        const void *slash = std::memchr(p, '\\', size_t(end - p));
        size_t plain = slash ? size_t(static_cast<const uint8_t *>(slash) - p) : size_t(end - p);
        std::memmove(out, p, plain);
        out += plain;
        p += plain;
        if (p == end) break;
        const uint8_t *escape = p++;
        static const char from[] = "\"\\/bfnrt";
        static const char to[] = "\"\\/\b\f\n\r\t";
        const char *known = p < end && *p ? std::strchr(from, *p) : nullptr;
        if (known) {
            *out++ = uint8_t(to[known - from]);
            p++;
            continue;
        }
        int unit = p < end && *p == 'u' && end - p >= 5 ? hex4(p + 1) : -1;
        if (unit < 0) {
            fail(BMO_JSON_SYNTAX, size_t(escape - text), "this is not an escape of a JSON string");
            return -1;
        }
        p += 5;
        uint32_t scalar = uint32_t(unit);
        if (unit >= 0xD800 && unit < 0xDC00) {
            int low = end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2) : -1;
            if (low >= 0xDC00 && low < 0xE000) {
                scalar = 0x10000 + (uint32_t(unit - 0xD800) << 10) + uint32_t(low - 0xDC00);
                p += 6;
            }
        }
        if (scalar >= 0xD800 && scalar < 0xE000) {
            lone = true;
            scalar = 0xFFFD;
        }
        out = put_utf8(out, scalar);
    }
    return out - start;
}

}  // namespace bmo
