// The reader of json_batch.h: the way to the records, and what is noted beside it.
#pragma once

#include <simdjson.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "json_batch.h"
#include "json_scanner.hpp"

namespace bmo {

struct Segment {
    enum Kind { name_selector, wildcard, index_selector, filter } kind;
    std::string name;
    std::string value;  // of a filter: what the member `name` must be
    uint64_t index = 0;
    bool is_wildcard() const { return kind == wildcard; }
};

struct Finding {
    std::string path;
    bmo_json_kind kind;
    std::string text;
};

// An object or array on the way to the records. Every segment of a path consumes one level, so at depth d each path that
// is still being followed stands before its segment d: a bit per path says all.
struct Frame {
    bool is_object;
    bool holds_records;  // an array whose elements are the records
    bool has_begun;
    uint32_t paths;
    uint64_t position = 0;  // of the element that comes next
    bool holds_values = false;  // the records are no objects
};

}  // namespace bmo

struct bmo_json_reader {
    using Segment = bmo::Segment;
    using Frame = bmo::Frame;
    using Finding = bmo::Finding;
    using Scanner = bmo::Scanner;
    using Result = bmo::Result;
    using Span = bmo::Span;

    std::vector<std::vector<Segment>> paths;
    std::vector<bmo_json_value> values;
    std::vector<std::string> texts;
    std::vector<Frame> frames;
    std::vector<bmo_json_rejected> rejected;
    std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
    Scanner scanner;
    std::string arrays;
    size_t skipped = 0;  // the byte order mark
    uint64_t records = 0;
    std::vector<Finding> findings;
    std::vector<std::pair<std::string, std::string>> fields;  // that each record gets
    std::string record_key;
    bool has_record_key = false;
    bool takes_any = false;  // also what is no object
    size_t last_offset = 0, last_length = 0;
    int mode = BMO_JSON_RECORDS;
    bool found_records = false;
    bool has_visited_root = false;
    bmo_writer *writer = nullptr;
    // What is said about rejected records travels in one piece, too.
    static constexpr size_t max_rejected = 500;

    bool begin(const uint8_t *data, size_t size, int mode);
    bmo_json_status next(size_t bytes);
    void list_arrays();
    void survey();

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
    bool element_has(const Segment &filter);
    void list_arrays(const std::string &prefix, int levels);
    void survey(const std::string &prefix, int levels);
    void survey_links(const std::string &prefix);
};
