internal import BridgePaging
internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// The validators of all pages of a listing (RFC 9110, section 8.8); if none of them changed, neither did the listing.
struct ListingMarks: Equatable, Sendable {
    /// A page with its validators.
    struct Page: Equatable, Sendable {
        /// The page's ``PagePosition/text``.
        var position: String
        /// The ETag field (RFC 9110, section 8.8.3).
        var etag: String?
        /// The Last-Modified field as received.
        var modified: String?
    }

    /// The URL of the first request, to which the marks belong.
    var url: String
    var pages: [Page]
    /// The ``LastPage/text`` of a listing with several pages.
    ///
    /// For a single page, the ``OnlyPage/text`` if header fields may announce another page.
    ///
    /// Validators cover a page's body only. The end of the listing may be stated in header fields alone.
    var last: String?
    /// A ``ResumePoint/text`` with the paging detected from the first reply.
    var detected: String?

    /// The maximum number of pages.
    ///
    /// Longer listings are always read again, as their validators could be as large as the listing.
    static let maxPages = 5_000
    private static let maxBytes = 512 << 10

    var tree: JSONTree {
        var members = JSONTree.Members()
        members["url"] = .text(url)
        members["pages"] = .array(
            pages.map { page in
                var members = JSONTree.Members()
                members["at"] = .text(page.position)
                members["etag"] = page.etag.map { .text($0) }
                members["modified"] = page.modified.map { .text($0) }
                return .object(members)
            })
        members["last"] = last.map { .text($0) }
        members["detected"] = detected.map { .text($0) }
        return .object(members)
    }

    init?(_ tree: JSONTree) {
        guard let url = tree["url"]?.text, let elements = tree["pages"]?.elements, !elements.isEmpty else { return nil }
        self.url = url
        pages = elements.compactMap { page in
            guard let position = page["at"]?.text else { return nil }
            return Page(
                position: position, etag: Page.validator(page["etag"]?.text), modified: page["modified"]?.text)
        }
        last = tree["last"]?.text
        detected = tree["detected"]?.text
        let isWhole = pages.count == 1 || last != nil
        guard pages.count == elements.count, isWhole, pages.dropLast(pages.count > 1 ? 1 : 0).allSatisfy(\.isMarked)
        else { return nil }
    }

    fileprivate init(url: String, pages: [Page], last: String?, detected: String?) {
        self.url = url
        self.pages = pages
        self.last = last
        self.detected = detected
    }
}

extension ListingMarks.Page {
    fileprivate var isMarked: Bool { etag != nil || modified != nil }

    /// Returns an ETag, but none for an empty one, which says nothing of the page.
    fileprivate static func validator(_ etag: String?) -> String? { etag.flatMap { $0.isEmpty ? nil : $0 } }

    init(at position: PagePosition, _ response: HTTPResponse) {
        self.position = position.text
        etag = Self.validator(response.header("etag"))
        // A change within the same second as the reply would have the same date (RFC 9110, section 8.8.2.2).
        guard etag == nil, let date = response.date("date"), let modified = response.date("last-modified"),
            date > modified
        else { return }
        self.modified = response.header("last-modified")
    }

    /// The header fields of a conditional request.
    var conditions: [(name: String, value: String)] {
        [("If-None-Match", etag), ("If-Modified-Since", modified)].compactMap { name, value in
            value.map { (name: name, value: $0) }
        }
    }
}

extension ListingMarks {
    /// Collects marks during a scan.
    struct Collector {
        private var pages: [Page] = []
        private var bytes = 0
        private var isPossible: Bool

        /// - Parameter isPossible: Whether the scan allows marks: complete, by GET, and from the beginning.
        init(isPossible: Bool) { self.isPossible = isPossible }

        /// - Parameter position: The page's position, or nil if it cannot be stored.
        mutating func add(_ position: PagePosition?, _ response: HTTPResponse) {
            guard let position, isPossible else {
                isPossible = false
                return
            }
            let page = Page(at: position, response)
            // The page was read again.
            if pages.last?.position == page.position { pages.removeLast() }
            bytes += page.position.utf8.count + (page.etag ?? page.modified ?? "").utf8.count + 32
            // The last page is requested unconditionally and needs no validators.
            isPossible =
                (pages.last?.isMarked ?? true) && pages.count < ListingMarks.maxPages && bytes < ListingMarks.maxBytes
            pages.append(page)
        }

        /// - Parameters:
        ///   - url: The first request's URL, without credentials.
        ///   - last: The last page, if there are several.
        ///   - only: The only page, if its header fields may announce another.
        /// - Returns: nil if a page had no validators, or if there are too many pages.
        func marks(
            url: String, last: @autoclosure () -> LastPage?, only: OnlyPage?, detected: @autoclosure () -> String?
        ) -> ListingMarks? {
            guard isPossible, let first = pages.first, first.isMarked else { return nil }
            let detected = detected()
            guard pages.count > 1 else {
                return ListingMarks(url: url, pages: pages, last: only?.text, detected: detected)
            }
            return last().map { ListingMarks(url: url, pages: pages, last: $0.text, detected: detected) }
        }
    }
}

/// The content of a listing's last page, with its header fields.
struct LastPage {
    /// A digest of the body and of the header fields that paging reads.
    let text: String

    init(_ body: HTTPExchange.PaddedBody, _ response: HTTPResponse, _ section: RESTSection) {
        var digest = PageDigest()
        digest.add(body)
        let said = ReplyFacts(section, response).paging()
        text =
            "\(digest.value) \(said.next) \(said.total ?? -1) \(said.pages ?? -1) \(said.hasMore.map(String.init) ?? "")"
    }
}

/// The only page of a listing whose header fields may announce another page.
struct OnlyPage {
    /// The number of records.
    let count: Int

    var text: String { String(count) }

    init(count: Int) { self.count = count }

    init?(_ text: String) {
        guard let count = Int(text) else { return nil }
        self.count = count
    }

    /// Whether a reply's header fields announce more records.
    ///
    /// - Parameter section: The section with the paging of the scan.
    func hasMore(_ head: HTTPResponse, _ section: RESTSection) -> Bool {
        let said = ReplyFacts(section, head).paging()
        if said.hasMore == true || (said.total ?? 0) > count || (said.pages ?? 0) > 1 { return true }
        switch said.next {
        case .value, .json, .unusable: return true
        case .missing, .none: break
        }
        guard case .automatic = section.paging.style else { return false }
        let detector = PagingDetector(
            survey: nil, response: head, url: section.url, count: { count }, given: section.givenParameters,
            records: nil)
        return detector.detect() != nil || detector.unreadLink() != nil
    }
}
