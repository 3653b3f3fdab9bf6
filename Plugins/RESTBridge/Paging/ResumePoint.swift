internal import BridgePaging
internal import BridgeJSON
internal import BridgeKit

/// A page's cursor as the host stores it: the page number in the scan, the detected paging, and the position.
///
/// For example `p4 page:4`, or `p4 auto:style=next_url&path=%24.next url:https://...`. Cursors of earlier versions have
/// no page number.
struct ResumePoint {
    /// The number of the next page, from 1.
    var page: Int?
    /// The paging detected from the first reply, or nil if the config sets it.
    var detected: AutomaticCursor?
    /// The ``PagePosition/text`` of the next page.
    var position: String

    init(page: Int, detected: AutomaticCursor?, position: String) {
        self.page = page
        self.detected = detected
        self.position = position
    }

    init(_ text: String) {
        var rest = text[...]
        let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
        if rest.first == "p", !digits.isEmpty, let number = Int(digits), rest.dropFirst(digits.count + 1).first == " " {
            page = max(number.clampedPosition, 1)
            rest = rest.dropFirst(digits.count + 2)
        }
        detected = AutomaticCursor(String(rest))
        position = detected?.position ?? String(rest)
    }

    var text: String { "p\(page ?? 1) " + (detected?.text ?? position) }

    /// Adds the detected paging to a section that does not set it.
    ///
    /// - Throws: ``BridgeError`` if the point is invalid or belongs to a section that set the paging.
    func apply(to section: inout RESTSection) throws {
        guard case .automatic = section.paging.style else { return }
        guard let detected else {
            throw BridgeError(
                .configuration, "the stored cursor does not fit paging auto",
                remedy: "the config changed since the last run: sync this entity with --restart")
        }
        section.paging = try PagingRule(
            DetectedPaging(members: detected.members).options, pageSize: nil, bodyPrefix: nil)
        if section.records == nil {
            section.records = try detected.records.map { try JSONPath($0, option: "records") }
        }
    }
}
