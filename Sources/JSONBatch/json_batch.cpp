#include "json_batch.h"

#include <algorithm>
#include <cstring>

#include "json_locate.hpp"
#include "json_reader.hpp"

using bmo::Frame;
using bmo::Result;
using bmo::Segment;
using bmo::Span;

bool bmo_json_reader::begin(const uint8_t *data, size_t size, int new_mode) {
    frames.clear();
    rejected.clear();
    arrays.clear();
    values.assign(paths.size(), bmo_json_value{BMO_JSON_MISSING, nullptr, 0});
    texts.assign(paths.size(), std::string());
    records = 0;
    mode = new_mode;
    findings.clear();
    record_key.clear();
    has_record_key = false;
    last_offset = last_length = 0;
    found_records = has_visited_root = has_entered_list = has_unlisted = false;
    scanner.error = {BMO_JSON_NONE, 0, ""};
    scanner.at = scanner.count = 0;
    skipped = size >= 3 && std::memcmp(data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    data += skipped;
    size -= skipped;
    if (size >= UINT32_MAX) return refuse(BMO_JSON_TOO_LARGE, 0, "the text is over 4 GiB");
    size_t blank = 0;
    while (blank < size && bmo::is_white(data[blank])) blank++;
    if (blank == size) return refuse(BMO_JSON_EMPTY, 0, "the text is empty");
    bool is_utf16 = size >= 2 && ((data[0] == 0xFF && data[1] == 0xFE) || (data[0] == 0xFE && data[1] == 0xFF)
        || data[0] == 0 || data[1] == 0);
    if (is_utf16) return refuse(BMO_JSON_ENCODING, 0, "the text is UTF-16 or UTF-32; JSON is UTF-8");
    if (is_too_dense(data, size)) {
        too_dense = "the text has more than " + std::to_string(max_marks) + " values, names and marks between them";
        return refuse(BMO_JSON_TOO_LARGE, 0, too_dense.c_str());
    }
    if (!parser || parser->capacity() < size) {
        parser.reset();
        // Reserve slightly more than needed, or pages that grow by a byte would reallocate each time.
        size_t capacity = size + size / 8 + 4096;
        auto code = simdjson::get_active_implementation()->create_dom_parser_implementation(capacity, 1, parser);
        if (code) return refuse(BMO_JSON_MEMORY, 0, "memory ran out");
    }
    switch (parser->stage1(data, size, simdjson::stage1_mode::regular)) {
    case simdjson::SUCCESS: break;
    case simdjson::UTF8_ERROR:
        return refuse(BMO_JSON_ENCODING, bmo::find_bad_utf8(data, size), "the text is not UTF-8");
    case simdjson::UNCLOSED_STRING:
        return refuse(BMO_JSON_TRUNCATED, bmo::find_bad_string(data, size, false),
                      "the text ends in the middle of the string that begins here");
    case simdjson::UNESCAPED_CHARS:
        return refuse(BMO_JSON_SYNTAX, bmo::find_bad_string(data, size, true),
                      "a string holds a control character that must be escaped");
    case simdjson::EMPTY: return refuse(BMO_JSON_EMPTY, 0, "the text is empty");
    default: return refuse(BMO_JSON_SYNTAX, 0, "this is not JSON");
    }
    scanner.text = data;
    scanner.size = size;
    scanner.indexes = parser->structural_indexes.get();
    scanner.count = parser->n_structural_indexes;
    return true;
}

// Stores the scalar or container that a further path selects; the cursor stays.
Result bmo_json_reader::capture(size_t path) {
    size_t before = scanner.at;
    bmo_json_value &value = values[path];
    Result result = Result::ok;
    value = {BMO_JSON_MISSING, nullptr, 0};
    switch (scanner.peek()) {
    case '{': value.kind = BMO_JSON_OBJECT; break;
    case '[': value.kind = BMO_JSON_ARRAY; break;
    case 't': value.kind = BMO_JSON_TRUE; break;
    case 'f': value.kind = BMO_JSON_FALSE; break;
    case 'n': value.kind = BMO_JSON_NULL; break;
    case '"': {
        Span span;
        bool lone = false;
        if ((result = scanner.string_value(span, lone)) != Result::ok) break;
        texts[path].assign(reinterpret_cast<const char *>(span.data), span.size);
        value.kind = BMO_JSON_TEXT;
        break;
    }
    default: {
        Span token;
        bool is_integer;
        int64_t integer;
        if (scanner.peek() != '-' && !bmo::is_digit(scanner.peek())) break;  // the scan reports it
        if ((result = scanner.number(token, is_integer, integer)) != Result::ok) break;
        texts[path].assign(reinterpret_cast<const char *>(token.data), token.size);
        value.kind = BMO_JSON_NUMBER;
    }
    }
    scanner.at = before;
    value.text = texts[path].data();
    value.length = texts[path].size();
    return result;
}

// Whether an element of the list at the cursor is an object: any other element is then a broken record. The cursor
// stays.
bool bmo_json_reader::list_has_object() {
    size_t at = scanner.at++;
    bmo_json_error error = scanner.error;
    bool found = false;
    while (!found && scanner.peek() != ']') {
        found = scanner.peek() == '{';
        if (found || scanner.value<false>(nullptr) != Result::ok || scanner.peek() != ',') break;
        scanner.at++;
    }
    scanner.at = at;
    scanner.error = error;
    return found;
}

// Whether the value at the cursor is an element of a list of values, such as names or rows.
bool bmo_json_reader::is_value() {
    return !frames.empty() && frames.back().holds_values && scanner.peek() != 'n';
}

// Which limit of the writer a record exceeds, in words.
static std::string excess(const bmo_writer &writer) {
    if (writer.failed == BMO_WRITER_KEYS) {
        return "the record has more than " + std::to_string(writer.max_keys) + " different names";
    }
    size_t limit = writer.failed == BMO_WRITER_RECORD ? writer.max_record_bytes : writer.max_bytes;
    return "the record takes more than " + std::to_string(limit) + " bytes (16 for each value, and its texts)";
}

// The value at the cursor as a record.
Result bmo_json_reader::record() {
    std::string reason;
    size_t before = scanner.at;
    size_t offset = scanner.offset();
    bmo_writer_mark mark{};
    if (writer) mark = bmo_writer_note(writer);
    Result result = Result::reject;
    if (scanner.peek() == '{') {
        scanner.fields = fields.empty() && !has_record_key ? nullptr : &fields;
        scanner.record_key = has_record_key ? &record_key : nullptr;
        result = scanner.value<true>(writer);
        scanner.fields = nullptr;
    } else if (takes_any) {
        result = scanner.value<true>(writer);
    } else if ((has_record_key && scanner.peek() != '[') || is_value()) {
        // An object that maps keys to plain values, such as currencies to rates, or a list of names or rows.
        bmo_write_object_begin(writer);
        scanner.record_key = has_record_key ? &record_key : nullptr;
        scanner.write_fields(writer, fields);
        bmo_write_key(writer, "@value", 6);
        scanner.levels_above = 1;
        result = scanner.value<true>(writer);
        scanner.levels_above = 0;
        if (result == Result::ok) bmo_write_object_end(writer);
    } else {
        scanner.reason = "a record must be an object";
    }
    if (result != Result::fail || scanner.error.fault == BMO_JSON_MEMORY) {
        if (writer && writer->failed != 0 && writer->failed != BMO_WRITER_FAILED) {
            reason = excess(*writer);
            scanner.error = {BMO_JSON_NONE, 0, ""};
            result = Result::reject;
        }
    }
    if (result == Result::reject) {
        // Roll back the whole record: the records around it stay valid, and what it took does not make the batch full.
        if (writer) bmo_writer_take_back(writer, mark);
        scanner.at = before;
        if ((result = scanner.value<false>(nullptr)) != Result::ok) return result;
        size_t end = scanner.at < scanner.count ? scanner.indexes[scanner.at] : scanner.size;
        // Skip the separator's white space backwards: a comma or bracket is a structural index itself.
        while (end > offset && bmo::is_white(scanner.text[end - 1])) end--;
        rejected.push_back({records, offset + skipped, end - offset, reason.empty() ? scanner.reason : std::move(reason)});
    }
    if (result == Result::ok) {
        if (writer->failed) {
            return scanner.fail(BMO_JSON_TOO_LARGE, offset, "the record cannot be written: memory or 4 GiB ran out");
        }
        records++;
        last_offset = offset;
        last_length = (scanner.at < scanner.count ? scanner.indexes[scanner.at] : scanner.size) - offset;
    }
    return result;
}

// Reads or opens the value at the cursor, which the paths in `active` select.
Result bmo_json_reader::visit(uint32_t active) {
    size_t depth = frames.size();
    bool is_record = false;
    uint32_t deeper = 0;
    for (size_t path = 0; path < paths.size(); path++) {
        if (!(active >> path & 1)) continue;
        if (paths[path].size() > depth) {
            deeper |= 1u << path;
        } else if (path == 0 && mode != BMO_JSON_VALUES) {
            is_record = true;
        } else {
            Result result = capture(path);
            if (result != Result::ok) return result;
        }
    }
    uint8_t first = scanner.peek();
    // An object in the place of a list is the one record without a filter, so a filter selects it or nothing. One that
    // does not have the member is not a record: the list is missing, unless the object is an element of one.
    if ((deeper & 1) && mode != BMO_JSON_VALUES && first == '{' && paths[0].size() == depth + 1
        && paths[0].back().kind == Segment::filter) {
        bool has_member = false;
        bool is_selected = element_has(paths[0].back(), &has_member);
        Segment::Kind before = depth > 0 ? paths[0][depth - 1].kind : Segment::name_selector;
        bool is_element = before == Segment::wildcard || before == Segment::filter;
        if (has_member || is_element) {
            found_records = true;
            if (is_selected) return record();
            deeper &= ~1u;
        }
    }
    if (is_record) {
        found_records = true;
        if (first == '[') {
            bool holds_values = !list_has_object();
            scanner.at++;
            frames.push_back({false, true, false, 0});
            frames.back().holds_values = holds_values;
            return Result::ok;
        }
        // Languages whose empty list is null write "no records" like this.
        if (first == 'n' && !has_record_key) return scanner.value<false>(nullptr);
        // Each element of a list that a wildcard selects.
        if (first != '{' && !has_record_key && !frames.empty() && !frames.back().is_object && paths[0].back().is_wildcard()) {
            frames.back().holds_values = true;
            return record();
        }
        if (first != '{' && !has_record_key) {
            size_t offset = scanner.offset();
            Result result = scanner.value<false>(nullptr);
            return result != Result::ok ? result
                : scanner.fail(BMO_JSON_NOT_RECORDS, offset, "the path of the records does not lead to an object or array");
        }
        return record();
    }
    if (deeper && (first == '{' || first == '[')) {
        bool is_object = first == '{';
        bool selects_several = false;
        if ((deeper & 1) && mode != BMO_JSON_VALUES) {
            Segment::Kind kind = paths[0][depth].kind;
            selects_several = kind == Segment::wildcard || (kind == Segment::filter && !is_object);
            bool needs_list = kind == Segment::index_selector || kind == Segment::filter;
            if (needs_list && is_object && !has_unlisted) {
                has_unlisted = true;
                unlisted_at = scanner.offset();
            }
        }
        scanner.at++;
        frames.push_back({is_object, false, false, deeper});
        frames.back().selects_several = selects_several;
        return Result::ok;
    }
    return scanner.value<false>(nullptr);
}

// Returns the paths that continue through this member or element.
uint32_t bmo_json_reader::matching(const Frame &frame, const Span *key) {
    uint32_t active = 0;
    size_t depth = frames.size() - 1;
    for (size_t path = 0; path < paths.size(); path++) {
        if (!(frame.paths >> path & 1)) continue;
        const Segment &segment = paths[path][depth];
        bool matches = false;
        switch (segment.kind) {
        case Segment::wildcard: matches = true; break;
        case Segment::name_selector:
            matches = key && segment.name.size() == key->size
                && std::memcmp(segment.name.data(), key->data, key->size) == 0;
            break;
        case Segment::index_selector: matches = !key && segment.index == frame.position; break;
        case Segment::filter: matches = !key && element_has(segment); break;
        }
        if (matches) active |= 1u << path;
    }
    return active;
}

// Advances to the next member or element of the innermost frame, or to its end.
Result bmo_json_reader::step() {
    Frame &frame = frames.back();
    uint8_t close = frame.is_object ? '}' : ']';
    if (scanner.peek() == close) {
        scanner.at++;
        // A list without elements, or from which a filter selects none, has no records: that is complete.
        if (frame.selects_several && !frame.has_selected) found_records = true;
        frames.pop_back();
        return Result::ok;
    }
    if (frame.has_begun) {
        if (scanner.peek() != ',') {
            return scanner.unexpected(frame.is_object ? "a comma or } must follow a member"
                                                      : "a comma or ] must follow an element");
        }
        scanner.at++;
        if (scanner.peek() == close) return scanner.unexpected("a comma must be followed by a value");
    }
    frame.has_begun = true;
    if (frame.holds_records) return record();
    if (!frame.is_object) {
        uint32_t active = matching(frame, nullptr);
        frame.position++;
        note_selection(frame, active);
        return visit(active);
    }
    if (scanner.peek() != '"') return scanner.unexpected("a member's name must be a string");
    Span key;
    bool lone = false;
    Result result = scanner.string_value(key, lone);
    if (result != Result::ok) return result;
    uint32_t active = matching(frame, &key);
    note_selection(frame, active);
    if ((active & 1) && mode != BMO_JSON_VALUES && paths[0][frames.size() - 1].is_wildcard()) {
        record_key.assign(reinterpret_cast<const char *>(key.data), key.size);
        // Do not invent a character: a record whose key is half of a surrogate pair gets no key.
        has_record_key = !lone;
    }
    if (scanner.peek() != ':') return scanner.unexpected("a colon must follow a member's name");
    scanner.at++;
    return visit(active);
}

// Whether to deliver the records so far before reading on.
bool bmo_json_reader::is_full(size_t bytes) const {
    if (rejected.size() >= max_rejected) return true;
    // A caller that asks for everything at once cannot deliver a part, and would loop forever: a record with too many
    // names is rejected instead.
    if (!writer || bytes == SIZE_MAX || bytes == INT64_MAX) return false;
    return bmo_writer_size(writer) >= bytes || writer->key_count >= writer->max_keys / 2;
}

// Whether the text has more structural indexes than allowed, at four bytes each; counts them before they are created.
bool bmo_json_reader::is_too_dense(const uint8_t *data, size_t size) const {
    if (size <= max_marks) return false;
    size_t marks = 0;
    bool is_token = false;
    for (size_t i = 0; i < size; i++) {
        uint8_t c = data[i];
        if (c == '"') {
            if (++marks > max_marks) return true;
            for (i++; i < size && data[i] != '"'; i++) i += data[i] == '\\';
            is_token = false;
        } else if (c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}') {
            if (++marks > max_marks) return true;
            is_token = false;
        } else if (bmo::is_white(c)) {
            is_token = false;
        } else if (!is_token) {
            if (++marks > max_marks) return true;
            is_token = true;
        }
    }
    return false;
}

bmo_json_status bmo_json_reader::next(size_t bytes) {
    rejected.clear();
    if (scanner.error.fault != BMO_JSON_NONE) return BMO_JSON_FAILED;
    if (mode == BMO_JSON_SEQUENCE) {
        found_records = true;
        while (!scanner.at_end()) {
            if (is_full(bytes)) return BMO_JSON_MORE;
            if (record() != Result::ok) return BMO_JSON_FAILED;
        }
        return BMO_JSON_DONE;
    }
    if (!has_visited_root) {
        has_visited_root = true;
        if (mode == BMO_JSON_GUESS && scanner.peek() == '{') {
            list_arrays();
            if (!arrays.empty()) {
                scanner.fail(BMO_JSON_AMBIGUOUS, 0, "the root is an object that holds arrays");
                return BMO_JSON_FAILED;
            }
        }
        if (visit((1u << paths.size()) - 1) != Result::ok) return BMO_JSON_FAILED;
    }
    while (!frames.empty()) {
        if (is_full(bytes)) return BMO_JSON_MORE;
        if (step() != Result::ok) return BMO_JSON_FAILED;
    }
    if (!scanner.at_end()) {
        scanner.fail(BMO_JSON_TRAILING, scanner.offset(), "something follows the JSON value");
        return BMO_JSON_FAILED;
    }
    if (has_unlisted) {
        scanner.fail(BMO_JSON_NOT_A_LIST, unlisted_at, "the path of the records needs a list, and this is an object");
        return BMO_JSON_FAILED;
    }
    if (!found_records && !has_entered_list && mode != BMO_JSON_VALUES) {
        scanner.fail(BMO_JSON_NO_RECORDS, 0, "the path of the records leads nowhere");
        return BMO_JSON_FAILED;
    }
    return BMO_JSON_DONE;
}

extern "C" {

bmo_json_reader *bmo_json_reader_new(void) { return new (std::nothrow) bmo_json_reader(); }

void bmo_json_reader_free(bmo_json_reader *reader) { delete reader; }

void bmo_json_limit(bmo_json_reader *reader, size_t bytes) {
    reader->max_marks = std::max(bmo_json_reader::default_marks, bytes / 8 * 3);
}

uint32_t bmo_json_add_path(bmo_json_reader *reader) {
    reader->has_path = reader->paths.size() < BMO_JSON_MAX_PATHS;
    if (!reader->has_path) return BMO_JSON_NO_PATH;
    reader->paths.emplace_back();
    return uint32_t(reader->paths.size() - 1);
}

void bmo_json_add_name(bmo_json_reader *reader, const char *name, size_t length) {
    if (reader->has_path) reader->paths.back().push_back({Segment::name_selector, std::string(name, length), ""});
}

void bmo_json_add_wildcard(bmo_json_reader *reader) {
    if (reader->has_path) reader->paths.back().push_back({Segment::wildcard, "", ""});
}

void bmo_json_add_index(bmo_json_reader *reader, uint64_t index) {
    if (reader->has_path) reader->paths.back().push_back({Segment::index_selector, "", "", index});
}

void bmo_json_add_filter(bmo_json_reader *reader, const char *name, size_t length, const char *value, size_t value_length) {
    if (!reader->has_path) return;
    reader->paths.back().push_back({Segment::filter, std::string(name, length), std::string(value, value_length)});
}

void bmo_json_set_field(bmo_json_reader *reader, const char *name, size_t length, const char *value, size_t value_length) {
    reader->fields.emplace_back(std::string(name, length), std::string(value, value_length));
}

void bmo_json_take_any(bmo_json_reader *reader) { reader->takes_any = true; }

void bmo_json_clear_fields(bmo_json_reader *reader) { reader->fields.clear(); }

int bmo_json_begin(bmo_json_reader *reader, const uint8_t *data, size_t size, int mode) {
    return reader->begin(data, size, mode);
}

bmo_json_status bmo_json_next(bmo_json_reader *reader, bmo_writer *writer, size_t bytes) {
    reader->writer = writer;
    return reader->next(bytes);
}

void bmo_json_failure(const bmo_json_reader *reader, bmo_json_error *error) {
    *error = reader->scanner.error;
    error->offset += reader->skipped;
}

void bmo_json_value_at(const bmo_json_reader *reader, uint32_t path, bmo_json_value *value) {
    *value = path < reader->values.size() ? reader->values[path] : bmo_json_value{BMO_JSON_MISSING, nullptr, 0};
}

uint64_t bmo_json_records(const bmo_json_reader *reader) { return reader->records; }

void bmo_json_last_record(const bmo_json_reader *reader, size_t *offset, size_t *length) {
    *offset = reader->last_length ? reader->last_offset + reader->skipped : 0;
    *length = reader->last_length;
}

int bmo_json_lacks_records(const bmo_json_reader *reader) { return reader->lacks_records(); }

size_t bmo_json_rejected_count(const bmo_json_reader *reader) { return reader->rejected.size(); }

void bmo_json_rejected_at(const bmo_json_reader *reader, size_t index, bmo_json_rejected *rejected) {
    const auto &record = reader->rejected[index];
    *rejected = {record.index, record.offset, record.length, record.reason.c_str()};
}

}
