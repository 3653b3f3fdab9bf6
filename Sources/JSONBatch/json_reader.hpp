// The reader of json_batch.h: the path to the records, and the values collected beside it.
#pragma once

#include <simdjson.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "json_batch.h"
#include "json_scanner.hpp"

namespace bmo __attribute__((visibility("hidden"))) {

struct Segment {
    enum Kind { name_selector, wildcard, index_selector, filter } kind;
    std::string name;
    std::string value;  // of a filter: the text that the member `name` must equal
    uint64_t index = 0;
    bool is_wildcard() const { return kind == wildcard; }
};

// A record that cannot be stored. It owns its reason, which may have numbers in it.
struct Rejected {
    uint64_t index;
    size_t offset, length;
    std::string reason;
};

struct Finding {
    std::string path;
    bmo_json_kind kind;
    std::string text;
};

// An object or array on the path to the records. Every segment of a path consumes one level, so at depth d each path
// that is still being followed is at its segment d: one bit per path suffices.
struct Frame {
    bool is_object;
    bool holds_records;  // an array whose elements are the records
    bool has_begun;
    uint32_t paths;
    uint64_t position = 0;  // of the next element
    bool holds_values = false;  // the records are not objects
    bool selects_several = false;  // by a wildcard or a filter in the path of the records
    bool has_selected = false;  // the path of the records continues in an element
};

}  // namespace bmo

struct __attribute__((visibility("hidden"))) bmo_json_reader {
    using Segment = bmo::Segment;
    using Frame = bmo::Frame;
    using Finding = bmo::Finding;
    using Scanner = bmo::Scanner;
    using Result = bmo::Result;
    using Span = bmo::Span;

    std::vector<std::vector<Segment>> paths;  // at most BMO_JSON_MAX_PATHS, one bit each
    bool has_path = false;  // the path last begun was not one too many
    std::vector<bmo_json_value> values;
    std::vector<std::string> texts;
    std::vector<Frame> frames;
    std::vector<bmo::Rejected> rejected;
    std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
    Scanner scanner;
    std::string arrays;
    size_t skipped = 0;  // the length of the byte order mark
    uint64_t records = 0;
    std::vector<Finding> findings;
    std::vector<std::pair<std::string, std::string>> fields;  // added to each record
    std::string record_key;
    bool has_record_key = false;
    bool takes_any = false;  // also values that are not objects
    size_t last_offset = 0, last_length = 0;
    int mode = BMO_JSON_RECORDS;
    bool found_records = false;
    bool has_entered_list = false;  // a wildcard or a filter of the records' path has selected something
    bool has_unlisted = false;  // the records' path has an index or a filter where an object stands, at unlisted_at
    size_t unlisted_at = 0;
    bool has_visited_root = false;
    bmo_writer *writer = nullptr;
    // Descriptions of rejected records are delivered in one piece, too.
    static constexpr size_t max_rejected = 500;
    // 96 MiB of structural indexes: enough for 64 MiB of usual JSON, which has one per three to six bytes.
    static constexpr size_t default_marks = size_t(24) << 20;
    size_t max_marks = default_marks;
    std::string too_dense;  // a message with a number

    bool begin(const uint8_t *data, size_t size, int mode);
    bmo_json_status next(size_t bytes);
    void list_arrays();
    void survey();
    bool is_full(size_t bytes) const;
    bool lacks_records() const { return !found_records && has_entered_list && mode != BMO_JSON_VALUES; }
    bool is_too_dense(const uint8_t *data, size_t size) const;

private:
    bool refuse(bmo_json_fault fault, size_t offset, const char *message) {
        scanner.error = {fault, offset, message};
        return false;
    }
    Result visit(uint32_t active);
    Result record();
    bool list_has_object();
    bool is_value();
    Result capture(size_t path);
    Result step();
    uint32_t matching(const Frame &frame, const Span *key);
    void note_selection(Frame &frame, uint32_t active);
    bool element_has(const Segment &filter, bool *has_member = nullptr);
    void list_arrays(const std::string &prefix, int levels);
    static constexpr size_t max_way = 20, off_way = SIZE_MAX;
    size_t way = 0;  // the number of objects between the root and the records, as far as the survey follows them
    void survey(const std::string &prefix, int levels, size_t depth);
    void survey_links(const std::string &prefix);
};
