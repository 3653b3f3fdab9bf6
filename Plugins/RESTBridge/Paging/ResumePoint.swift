internal import BridgeJSON
internal import BridgeKit

/// A page's cursor as the host keeps it: the page's number in the walk, what was detected of the paging, the place.
///
/// Such as `p4 page:4`, or `p4 auto:style=next_url&path=%24.next url:https://...`; without a number in cursors of earlier
/// versions.
struct ResumePoint {
    /// The page that is asked for next, counted from 1.
    var page: Int?
    /// What the walk's first reply told; nil where the config says how the listing goes on.
    var detected: AutomaticCursor?
    /// A ``Position/text``.
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
            page = max(number.countable, 1)
            rest = rest.dropFirst(digits.count + 2)
        }
        detected = AutomaticCursor(String(rest))
        position = detected?.position ?? String(rest)
    }

    var text: String { "p\(page ?? 1) " + (detected?.text ?? position) }

    /// Puts what was detected into a section that leaves it open.
    ///
    /// - Throws: ``BridgeError`` where the point belongs to a section that said how the listing goes on, or is none.
    func apply(to section: inout RESTSection) throws {
        guard case .automatic = section.paging.style else { return }
        guard let detected else {
            throw BridgeError(
                .configuration, "the stored cursor does not fit paging auto",
                remedy: "the config changed since the last run: begin this entity anew")
        }
        section.paging = try PagingRule(
            PagingDetector.Detected(members: detected.members).options, pageSize: nil, bodyPrefix: nil)
        if section.records == nil {
            section.records = try detected.records.map { try JSONPath($0, option: "records") }
        }
    }
}
