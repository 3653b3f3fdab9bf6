// What the wildcards and filters in the path of the records select.
#include <cstring>

#include "json_reader.hpp"

using bmo::Frame;
using bmo::Result;
using bmo::Segment;
using bmo::Span;

// Notes that the path of the records continues in one of several elements.
void bmo_json_reader::note_selection(Frame &frame, uint32_t active) {
    if (!frame.selects_several || !(active & 1)) return;
    frame.has_selected = has_entered_list = true;
}

// Whether the element at the cursor is an object whose member equals a filter's text, and whether it has the member; the
// cursor stays.
bool bmo_json_reader::element_has(const Segment &filter, bool *has_member) {
    size_t at = scanner.at;
    bmo_json_error error = scanner.error;
    bool found = false;
    if (scanner.peek() == '{') {
        scanner.at++;
        while (!found && scanner.peek() == '"') {
            Span span;
            bool lone = false;
            if (scanner.string_value(span, lone) != Result::ok || scanner.peek() != ':') break;
            bool is_member = filter.name.size() == span.size && std::memcmp(filter.name.data(), span.data, span.size) == 0;
            scanner.at++;
            if (is_member && has_member) *has_member = true;
            if (is_member && scanner.peek() == '"') {
                if (scanner.string_value(span, lone) != Result::ok) break;
                found = filter.value.size() == span.size && std::memcmp(filter.value.data(), span.data, span.size) == 0;
            } else if (scanner.value<false>(nullptr) != Result::ok) {
                break;
            }
            if (scanner.peek() != ',') break;
            scanner.at++;
        }
    }
    scanner.at = at;
    scanner.error = error;
    return found;
}
