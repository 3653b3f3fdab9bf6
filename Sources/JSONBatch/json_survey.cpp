// Collects the values beside the records, for users who do not know the reply's structure.
#include <algorithm>
#include <string_view>

#include "json_reader.hpp"

using bmo::Finding;
using bmo::Result;
using bmo::Segment;
using bmo::Span;

// Returns the path of a member in RFC 9535 syntax.
static std::string member_path(const std::string &prefix, const Span &key) {
    std::string name(reinterpret_cast<const char *>(key.data), key.size);
    bool is_plain = !name.empty() && !bmo::is_digit(uint8_t(name[0]));
    for (char c : name) is_plain = is_plain && (c == '_' || uint8_t(c) >= 0x80 || isalnum(uint8_t(c)));
    if (is_plain) return prefix + "." + name;
    std::string escaped;
    for (char c : name) {
        if (c == '\'' || c == '\\') escaped += '\\';
        escaped += c;
    }
    return prefix + "['" + escaped + "']";
}

// Collects the values beside the records: scalars and lists, four levels deep, and two levels deep in each object on the
// way to the records, which are at the first path. The cursor and the error stay.
void bmo_json_reader::survey() {
    size_t at = scanner.at;
    bmo_json_error error = scanner.error;
    scanner.at = 0;
    findings.clear();
    way = 0;
    if (!paths.empty()) {
        const std::vector<Segment> &records = paths.front();
        while (way + 1 < records.size() && way < max_way && records[way].kind == Segment::name_selector) way++;
    }
    survey("$", 4, 0);
    scanner.at = at;
    scanner.error = error;
}

// `depth` is the number of steps on the way to the records, or off_way.
void bmo_json_reader::survey(const std::string &prefix, int levels, size_t depth) {
    if (scanner.peek() != '{') return;
    scanner.at++;
    // Outer levels keep a share of the findings, even when many inner objects have used up theirs.
    const size_t most = depth == off_way ? 600 + 200 * size_t(levels - 1) : 1200 + 200 * (way - depth);
    while (scanner.peek() == '"' && findings.size() < most) {
        Span key;
        bool lone = false;
        if (scanner.string_value(key, lone) != Result::ok || scanner.peek() != ':') return;
        std::string path = member_path(prefix, key);
        std::string_view name(reinterpret_cast<const char *>(key.data), key.size);
        bool is_links = name == "links" || name == "link" || name == "next";
        bool is_way = depth != off_way && depth < way && name == paths.front()[depth].name;
        int inner = is_way ? std::max(levels - 1, 2) : levels - 1;
        scanner.at++;
        Span span;
        bool is_integer;
        int64_t integer;
        Finding finding{path, BMO_JSON_MISSING, ""};
        uint8_t first = scanner.peek();
        switch (first) {
        case '{':
            finding.kind = BMO_JSON_OBJECT;
            findings.push_back(finding);
            if (inner > 0) survey(path, inner, is_way ? depth + 1 : off_way);
            else if (scanner.value<false>(nullptr) != Result::ok) return;
            break;
        case '[':
            finding.kind = BMO_JSON_ARRAY;
            // The first character of an array's first element shows its contents.
            if (scanner.at + 1 < scanner.count) {
                uint8_t element = scanner.text[scanner.indexes[scanner.at + 1]];
                if (element != ']') finding.text = std::string(1, char(element));
            }
            findings.push_back(finding);
            if (is_links) survey_links(path);
            if (scanner.value<false>(nullptr) != Result::ok) return;
            break;
        case '"':
            if (scanner.string_value(span, lone) != Result::ok) return;
            finding.kind = BMO_JSON_TEXT;
            finding.text.assign(reinterpret_cast<const char *>(span.data), std::min(span.size, size_t(8192)));
            findings.push_back(finding);
            break;
        default:
            if (first == '-' || bmo::is_digit(first)) {
                if (scanner.number(span, is_integer, integer) != Result::ok) return;
                finding.kind = BMO_JSON_NUMBER;
                finding.text.assign(reinterpret_cast<const char *>(span.data), span.size);
            } else {
                if (scanner.value<false>(nullptr) != Result::ok) return;
                finding.kind = first == 't' ? BMO_JSON_TRUE : first == 'f' ? BMO_JSON_FALSE : BMO_JSON_NULL;
            }
            findings.push_back(finding);
        }
        if (scanner.peek() == ',') {
            scanner.at++;
        } else if (scanner.peek() != '}') {
            return;
        }
    }
    while (scanner.peek() == '"') {
        Span key;
        bool lone = false;
        if (scanner.string_value(key, lone) != Result::ok || scanner.peek() != ':') return;
        scanner.at++;
        if (scanner.value<false>(nullptr) != Result::ok || scanner.peek() != ',') break;
        scanner.at++;
    }
    if (scanner.peek() == '}') scanner.at++;
}

// Collects a list of links, each with its relation: [{"rel": "next", "href": "..."}]. The cursor stays.
void bmo_json_reader::survey_links(const std::string &prefix) {
    size_t before = scanner.at;
    scanner.at++;
    for (int count = 0; count < 50 && scanner.peek() == '{'; count++) {
        for (const char *name : {"rel", "relation"}) {
            Segment filter{Segment::filter, name, "next"};
            if (!element_has(filter)) continue;
            std::string path = prefix + "[?@." + name + "=='next']";
            size_t at = scanner.at;
            survey(path, 1, off_way);
            scanner.at = at;
        }
        if (scanner.value<false>(nullptr) != Result::ok || scanner.peek() != ',') break;
        scanner.at++;
    }
    scanner.at = before;
}

// Collects arrays below the root, two levels deep: candidates for the path of the records. The cursor and the error
// stay.
void bmo_json_reader::list_arrays() {
    size_t at = scanner.at;
    bmo_json_error error = scanner.error;
    scanner.at = 0;
    arrays.clear();
    list_arrays("$", 2);
    scanner.at = at;
    scanner.error = error;
}

void bmo_json_reader::list_arrays(const std::string &prefix, int levels) {
    if (scanner.peek() != '{') return;
    scanner.at++;
    if (scanner.peek() == '}') {
        scanner.at++;
        return;
    }
    while (scanner.peek() == '"' && arrays.size() < 300) {
        Span key;
        bool lone = false;
        if (scanner.string_value(key, lone) != Result::ok || scanner.peek() != ':') return;
        scanner.at++;
        std::string path = member_path(prefix, key);
        if (scanner.peek() == '[') arrays += (arrays.empty() ? "" : ", ") + path;
        if (scanner.peek() == '{' && levels > 1) {
            list_arrays(path, levels - 1);
        } else if (scanner.value<false>(nullptr) != Result::ok) {
            return;
        }
        if (scanner.peek() != ',') break;
        scanner.at++;
    }
    if (scanner.peek() == '}') scanner.at++;
}

extern "C" {

size_t bmo_json_survey(bmo_json_reader *reader) {
    reader->survey();
    return reader->findings.size();
}

void bmo_json_finding_at(const bmo_json_reader *reader, size_t index, bmo_json_finding *finding) {
    const Finding &found = reader->findings[index];
    *finding = {found.path.data(), found.path.size(), {found.kind, found.text.data(), found.text.size()}};
}

const char *bmo_json_arrays(bmo_json_reader *reader) {
    if (reader->scanner.count && reader->arrays.empty()) reader->list_arrays();
    return reader->arrays.c_str();
}

}
