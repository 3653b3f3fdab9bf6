internal import BridgeKit
internal import SystemCalls

/// A paginator in code, for a bridge that is linked into the program: what a page says about the next one.
///
/// ```swift
/// let weeks = CustomPager("weeks/1") { page in
///     page.count == 0 ? nil : String((Int(page.position ?? "0") ?? 0) + 7)
/// }
/// CustomPager.register(weeks)      // before the first request; the section says: paging: {style: code, code: weeks/1, parameter: from}
/// #expect(try weeks.next(.init(count: 12, position: "7")) == "14")
/// ```
///
/// It is called after each page of a scan, on the thread that reads it, from several scans at a time; it should be quick and
/// must not wait. What it throws ends its scan with an error that names it; other entities go on. A position that was requested
/// before ends the scan too: paging never loops.
public struct CustomPager: Sendable {
    /// What a page says.
    public struct Page: Sendable, Equatable {
        /// The number of its records.
        public var count: Int
        /// The position at which it was requested; nil for the first page.
        public var position: String?
        /// The value at the section's `path` or `header`, as text, or as JSON for a list or an object; nil where there is none.
        public var next: String?
        /// The number of records in the listing, if the section names its place.
        public var total: Int?
        /// Whether there is more, if the section names the place that says so.
        public var hasMore: Bool?

        /// Creates a page, for tests.
        public init(
            count: Int, position: String? = nil, next: String? = nil, total: Int? = nil, hasMore: Bool? = nil
        ) {
            self.count = count
            self.position = position
            self.next = next
            self.total = total
            self.hasMore = hasMore
        }
    }

    /// The name under which a section has it; it changes with what the code does.
    public let name: String
    private let body: @Sendable (Page) throws -> String?

    /// Creates a paginator.
    ///
    /// - Parameters:
    ///   - name: A name, such as `weeks/1`.
    ///   - body: Returns the position of the next page, which the section's `parameter` takes; nil after the last one.
    public init(_ name: String, _ body: @escaping @Sendable (Page) throws -> String?) {
        self.name = name
        self.body = body
    }

    /// Returns the position of the page after another one; nil after the last.
    ///
    /// - Throws: What the closure throws.
    public func next(_ page: Page) throws -> String? { try body(page) }

    // MARK: the pagers of the program

    private static let all = Mutex<[String: CustomPager]>([:])

    /// Makes paginators known to the bridges of this program; one with a known name replaces it.
    public static func register(_ pagers: CustomPager...) {
        all.withLock { all in for pager in pagers { all[pager.name] = pager } }
    }

    /// Returns the paginator with a name.
    ///
    /// - Throws: `BridgeError` for a name that the program has not registered.
    static func named(_ name: String?) throws -> CustomPager {
        let known = all.withLock { $0 }
        if let name, let pager = known[name] { return pager }
        throw BridgeError(
            .configuration,
            name.map { "paging.code: this program has no paginator \"\($0)\"" } ?? "paging.code is missing",
            remedy: known.isEmpty
                ? "the program registers it: CustomPager.register(...); a bridge in a process of its own has none"
                : "use one of: \(known.keys.sorted().joined(separator: ", "))")
    }

    /// Returns the next position, or throws an error for a person.
    func next(after position: PagePosition, _ facts: PageFacts) throws -> PagePosition? {
        let place: String? =
            switch position {
            case .only: nil
            case .page(let number), .offset(let number): String(number)
            case .url(let text), .cursor(let text), .json(let text): text
            }
        let said: String? =
            switch facts.next {
            case .value(let text), .json(let text): text
            case .missing, .none, .unusable: nil
            }
        let page = Page(
            count: facts.count, position: place, next: said, total: facts.total, hasMore: facts.hasMore)
        do {
            return try next(page).map { .cursor($0) }
        } catch {
            throw BridgeError(
                .malformed, "the paginator \"\(name)\" failed: \("\(error)".prefix(500))",
                remedy: "it is code of this program")
        }
    }
}
