// The second half of parsing: from the structural indexes of simdjson's first stage to values.
//
// Why not simdjson's own second half: the DOM loses the characters of large and fractional numbers; On-Demand is
// compiled for one instruction set (the fallback, on plain x86-64) and copies each string twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "json_batch.h"

// Not a part of the library's interface: calls need no table of addresses, and may be inlined.
namespace bmo __attribute__((visibility("hidden"))) {

enum class Result { ok, reject, fail };

inline bool is_white(uint8_t c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
inline bool ends_token(uint8_t c) { return is_white(c) || c == ',' || c == ']' || c == '}' || c == ':'; }
inline bool is_digit(uint8_t c) { return uint8_t(c - '0') < 10; }

struct Span {
    const uint8_t *data;
    size_t size;
};

// A cursor over the structural indexes of a text. Up to BMO_JSON_PADDING bytes after the text may be read.
class Scanner {
public:
    static constexpr size_t max_depth = 1024;
    // The batch's reader accepts containers up to this height.
    static constexpr size_t max_record_depth = BMO_MAX_DEPTH - 1;
    size_t levels_above = 0;  // levels of the batch's record around the value

    const uint8_t *text = nullptr;
    size_t size = 0;
    const uint32_t *indexes = nullptr;
    size_t count = 0;
    size_t at = 0;
    bmo_json_error error{};
    const char *reason = nullptr;  // the reason of a rejection
    std::string scratch;
    // Members added to each record besides its own.
    const std::vector<std::pair<std::string, std::string>> *fields = nullptr;
    const std::string *record_key = nullptr;

    void write_fields(bmo_writer *writer, const std::vector<std::pair<std::string, std::string>> &all) {
        if (record_key) {
            bmo_write_key(writer, "@key", 4);
            bmo_write_text(writer, record_key->data(), record_key->size());
        }
        for (const auto &field : all) {
            bmo_write_key(writer, field.first.data(), field.first.size());
            bmo_write_text(writer, field.second.data(), field.second.size());
        }
    }

    bool at_end() const { return at >= count; }
    uint8_t peek() const { return at < count ? text[indexes[at]] : 0; }
    size_t offset() const { return at < count ? indexes[at] : size; }

    Result fail(bmo_json_fault fault, size_t offset, const char *message) {
        error = {fault, offset, message};
        return Result::fail;
    }
    // Reports a wrong token at the cursor.
    Result unexpected(const char *message) {
        return at_end() ? fail(BMO_JSON_TRUNCATED, size, "the text ends in the middle of a value")
                        : fail(BMO_JSON_SYNTAX, offset(), message);
    }

    // Returns the characters between the quotes of the string at the cursor. The closing quote is not a structural
    // index, but only white space separates it from the next one.
    bool string_span(Span &span) const {
        size_t start = size_t(indexes[at]) + 1;
        size_t end = at + 1 < count ? indexes[at + 1] : size;
        while (end > start && is_white(text[end - 1])) end--;
        if (end <= start || text[end - 1] != '"') return false;
        span = {text + start, end - 1 - start};
        return true;
    }

    // Decodes escapes into `out`, which has room for span.size bytes. Returns the length, or -1 for a broken escape
    // (see `error`). A lone surrogate becomes U+FFFD and sets `lone`.
    std::ptrdiff_t unescape(Span span, uint8_t *out, bool &lone);

    static bool has_backslash(uint64_t word) {
        const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u, slashes = 0x5C5C5C5C5C5C5C5Cu;
        uint64_t x = word ^ slashes;
        return (x - ones) & ~x & highs;
    }

    // Whether one of the first bytes of a word, fewer than 8, is a backslash.
    static bool has_backslash(uint64_t word, size_t bytes) {
        // The text's first byte is the lowest one.
        return bytes > 0 && has_backslash(word << (64 - 8 * bytes));
    }

    // Whether the span holds a backslash; may read 8 bytes past it.
    static bool has_escape(Span span) {
        uint64_t word;
        size_t i = 0;
        for (; i + 8 <= span.size; i += 8) {
            std::memcpy(&word, span.data + i, 8);
            if (has_backslash(word)) return true;
        }
        std::memcpy(&word, span.data + i, 8);
        return has_backslash(word, span.size - i);
    }

    // Copies the span until a word of it holds a backslash; returns whether one does. May read and write 8 bytes past
    // its end.
    static bool copy_until_escape(Span span, uint8_t *out) {
        uint64_t word;
        size_t i = 0;
        for (; i + 8 <= span.size; i += 8) {
            std::memcpy(&word, span.data + i, 8);
            std::memcpy(out + i, &word, 8);
            if (has_backslash(word)) return true;
        }
        std::memcpy(&word, span.data + i, 8);
        std::memcpy(out + i, &word, 8);
        return has_backslash(word, span.size - i);
    }

    // Reads the string at the cursor, unescaped; valid until the next call.
    Result string_value(Span &span, bool &lone) {
        if (!string_span(span)) return unexpected("a string is not closed");
        if (has_escape(span)) {
            scratch.resize(span.size + 1);
            uint8_t *out = reinterpret_cast<uint8_t *>(&scratch[0]);
            std::ptrdiff_t length = unescape(span, out, lone);
            if (length < 0) return Result::fail;
            span = {out, size_t(length)};
        }
        at++;
        return Result::ok;
    }

    // Reads the number at the cursor: its characters, and its value if it is an integer of 64 bits.
    Result number(Span &token, bool &is_integer, int64_t &value);

    Result literal(const char *word, size_t length) {
        size_t start = indexes[at];
        if (size - start < length || std::memcmp(text + start, word, length) != 0
            || (start + length < size && !ends_token(text[start + length]))) {
            return size - start < length ? fail(BMO_JSON_TRUNCATED, size, "the text ends in the middle of a value")
                                         : unexpected("this is not a JSON value");
        }
        at++;
        return Result::ok;
    }

    // Reads one value with all its children; `writes` selects whether it is written to the batch.
    template <bool writes> Result value(bmo_writer *writer);

private:
    // Each has one caller, per value and per member.
    template <bool writes> [[gnu::always_inline]] Result string(bmo_writer *writer);
    template <bool writes> [[gnu::always_inline]] Result key(bmo_writer *writer);
    [[gnu::always_inline]] bool takes_expected_key(bmo_writer *writer);
};

// Reads the name at the cursor if it is the one that followed the last name before: records repeat their names in the
// same order. Such a name needs no search for its end. The cursor stays if it is any other.
inline bool Scanner::takes_expected_key(bmo_writer *writer) {
    uint32_t expected = writer->last_key == BMO_NO_KEY ? 0 : writer->last_key + 1;
    if (expected >= writer->key_count) expected = 0;
    if (expected >= writer->key_count || at + 1 >= count || text[indexes[at + 1]] != ':') return false;
    size_t length = reinterpret_cast<const bmo_batch_key *>(writer->keys.data)[expected].length;
    size_t start = size_t(indexes[at]) + 1;
    if (size - start <= length || text[start + length] != '"') return false;
    const char *name = reinterpret_cast<const char *>(text + start);
    // The writer's name may hold a backslash; in the text, that begins an escape.
    if (!bmo_key_is(writer, expected, name, length) || has_escape({text + start, length})) return false;
    writer->next_key = writer->last_key = expected;
    at += 2;
    return true;
}

template <bool writes> Result Scanner::string(bmo_writer *writer) {
    Span span;
    if (!string_span(span)) return unexpected("a string is not closed");
    if (!writes) {
        bool lone = false;
        if (has_escape(span)) return string_value(span, lone);
        at++;
        return Result::ok;
    }
    uint32_t head = bmo_take_head(writer, BMO_TEXT);
    size_t offset = writer->text.size;
    // Eight more bytes, so that whole words can be copied.
    uint8_t *out = bmo_region_grow(writer, &writer->text, span.size + 8);
    if (!out) return fail(BMO_JSON_MEMORY, indexes[at], "a batch would be over 4 GiB, or memory ran out");
    size_t length = span.size;
    if (copy_until_escape(span, out)) {
        bool lone = false;
        std::ptrdiff_t unescaped = unescape(span, out, lone);
        if (unescaped < 0) return Result::fail;
        if (lone) {
            // Remove all of it: a batch's text is UTF-8 as a whole, also where no value points.
            writer->text.size = offset;
            reason = "a text holds half of a surrogate pair, which is not a character";
            return Result::reject;
        }
        length = size_t(unescaped);
    }
    writer->text.size = offset + length;
    at++;
    bmo_put(writer, head, uint32_t(length), offset);
    return Result::ok;
}

template <bool writes> Result Scanner::key(bmo_writer *writer) {
    if (peek() != '"') return unexpected("a member's name must be a string");
    if (writes && takes_expected_key(writer)) return Result::ok;
    Span span;
    bool lone = false;
    Result result = string_value(span, lone);
    if (result != Result::ok) return result;
    if (peek() != ':') return unexpected("a colon must follow a member's name");
    at++;
    if (writes) {
        if (lone) {
            reason = "a member's name holds half of a surrogate pair, which is not a character";
            return Result::reject;
        }
        bmo_write_key(writer, reinterpret_cast<const char *>(span.data), span.size);
    }
    return Result::ok;
}

template <bool writes> Result Scanner::value(bmo_writer *writer) {
    bool is_object[max_depth];
    size_t depth = 0;
    Result result;

begin:
    switch (peek()) {
    case '{':
    case '[':
        if (writes && depth + levels_above == max_record_depth) {
            reason = "the record is more than 127 levels deep";
            return Result::reject;
        }
        if (depth == max_depth) return fail(BMO_JSON_TOO_DEEP, offset(), "more than 1,024 levels");
        is_object[depth] = peek() == '{';
        at++;
        depth++;
        if (is_object[depth - 1]) {
            if (writes) {
                bmo_write_object_begin(writer);
                if (fields && depth == 1) write_fields(writer, *fields);
            }
            if (peek() == '}') goto end;
            goto member;
        }
        if (writes) bmo_write_array_begin(writer);
        if (peek() == ']') goto end;
        goto begin;
    case '"':
        if ((result = string<writes>(writer)) != Result::ok) return result;
        break;
    case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9': {
        Span token;
        bool is_integer;
        int64_t integer;
        if ((result = number(token, is_integer, integer)) != Result::ok) return result;
        if (writes) {
            if (is_integer) bmo_write_int64(writer, integer);
            else bmo_write_decimal(writer, reinterpret_cast<const char *>(token.data), token.size);
        }
        break;
    }
    case 't':
        if ((result = literal("true", 4)) != Result::ok) return result;
        if (writes) bmo_write_bool(writer, 1);
        break;
    case 'f':
        if ((result = literal("false", 5)) != Result::ok) return result;
        if (writes) bmo_write_bool(writer, 0);
        break;
    case 'n':
        if ((result = literal("null", 4)) != Result::ok) return result;
        if (writes) bmo_write_null(writer);
        break;
    default:
        return unexpected("this is not a JSON value");
    }

after:
    if (depth == 0) return Result::ok;
    if (peek() == ',') {
        at++;
        if (is_object[depth - 1]) goto member;
        goto begin;
    }
    if (peek() != (is_object[depth - 1] ? '}' : ']')) {
        return unexpected(is_object[depth - 1] ? "a comma or } must follow a member" : "a comma or ] must follow an element");
    }

end:
    at++;
    depth--;
    if (writes) {
        if (is_object[depth]) bmo_write_object_end(writer);
        else bmo_write_array_end(writer);
    }
    goto after;

member:
    if ((result = key<writes>(writer)) != Result::ok) return result;
    goto begin;
}

}  // namespace bmo
