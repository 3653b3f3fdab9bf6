internal import BridgeHTTP
internal import BridgeKit

/// The validators of all pages of a listing (RFC 9110, section 8.8): where none moved, the listing did not.
struct ListingMarks: Equatable, Sendable {
    /// A page that came, and by what the server tells whether it is still the same.
    struct Page: Equatable, Sendable {
        /// A ``Position/text``.
        var position: String
        /// RFC 9110, section 8.8.3.
        var etag: String?
        /// The Last-Modified field as it came.
        var modified: String?
    }

    /// The URL of the first request, which the marks belong to.
    var url: String
    var pages: [Page]
    /// Of a listing of several pages: what the last one said, as ``LastPage/text``; of one page, ``OnlyPage/text`` where header
    /// fields may say that another follows.
    ///
    /// Validators tell of a page's body. That no further page follows may stand in its header fields alone.
    var last: String?
    /// A ``ResumePoint/text`` with what the first reply told of the paging.
    var detected: String?

    /// More pages are read anew each time: so many validators would be as large as some listings.
    static let mostPages = 5_000
    private static let mostBytes = 512 << 10

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
            return Page(position: position, etag: page["etag"]?.text, modified: page["modified"]?.text)
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

    init(at position: Position, _ response: HTTPResponse) {
        self.position = position.text
        etag = response.header("etag")
        // What moves again within the second of its reply would have the same date (RFC 9110, section 8.8.2.2).
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
    /// Collects marks while a walk goes on.
    struct Collector {
        private var pages: [Page] = []
        private var bytes = 0
        private var isPossible: Bool

        /// - Parameter isPossible: Whether the walk is one whose marks mean something: whole, by GET, from its beginning.
        init(isPossible: Bool) { self.isPossible = isPossible }

        /// - Parameter position: Where the page was asked for; nil where that cannot be stored.
        mutating func add(_ position: Position?, _ response: HTTPResponse) {
            guard let position, isPossible else {
                isPossible = false
                return
            }
            let page = Page(at: position, response)
            // A page that had to be read once more.
            if pages.last?.position == page.position { pages.removeLast() }
            bytes += page.position.utf8.count + (page.etag ?? page.modified ?? "").utf8.count + 32
            // The last page is asked for without conditions: it needs none.
            isPossible =
                (pages.last?.isMarked ?? true) && pages.count < ListingMarks.mostPages && bytes < ListingMarks.mostBytes
            pages.append(page)
        }

        /// - Parameters:
        ///   - url: The first request's, without credentials.
        ///   - last: What the last page said, of several.
        ///   - only: The only page, where its header fields have a say.
        /// - Returns: nil where a page came without validators, or there are too many.
        func marks(url: String, last: LastPage?, only: OnlyPage?, detected: String?) -> ListingMarks? {
            guard isPossible, let first = pages.first, first.isMarked else { return nil }
            guard pages.count > 1 else {
                return ListingMarks(url: url, pages: pages, last: only?.text, detected: detected)
            }
            return last.map { ListingMarks(url: url, pages: pages, last: $0.text, detected: detected) }
        }
    }
}

/// What the last page of a listing holds, and says in header fields.
struct LastPage {
    /// The same for the same body and the same header fields that the paging looks at.
    let text: String

    init(_ body: HTTPExchange.PaddedBody, _ response: HTTPResponse, _ section: RESTSection) {
        var digest = BatchDigest()
        digest.add(body)
        let said = ReplyFacts(section, response).paging()
        text =
            "\(digest.value) \(said.next) \(said.total ?? -1) \(said.pages ?? -1) \(said.hasMore.map(String.init) ?? "")"
    }
}

/// The only page of a listing whose header fields have a say in whether others follow.
struct OnlyPage {
    /// How many records it holds.
    let count: Int

    var text: String { String(count) }

    init(count: Int) { self.count = count }

    init?(_ text: String) {
        guard let count = Int(text) else { return nil }
        self.count = count
    }

    /// Whether a reply's header fields tell of more.
    ///
    /// - Parameter section: With the paging that the walk found.
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
        return detector.detect() != nil || detector.promise() != nil
    }
}
