/// The state that a parent had when its children were listed completely.
///
/// Where only changed parents are scanned, the cursor of each parent's scan keeps the state, as the end of
/// ``ScanCursor/request``. A parent whose cursor lacks it, or has another one, is due. A store removes the state, and
/// nothing else, when a page inserts or changes the parent: so the parent stays due if the process dies before the
/// children are scanned, even if the parent has its former values again by then.
extension ScanCursor {
    /// What separates the state from the rest of the request.
    package static let parentMark = " parent "

    /// The request without the parent's state.
    public var ownRequest: String { Self.ownRequest(request) }

    /// The parent's state; nil if the parent was not scanned completely, or has changed since.
    public var parentState: String? {
        request.firstRange(of: Self.parentMark).map { String(request[$0.upperBound...]) }
    }

    /// Creates a cursor that keeps the state of a parent.
    public init(token: String?, newest: Watermark?, request: String, parentState: String?, fullAt: String) {
        self.init(
            token: token, newest: newest, request: request + (parentState.map { Self.parentMark + $0 } ?? ""),
            fullAt: fullAt)
    }

    /// Returns a request without the parent's state.
    package static func ownRequest(_ request: String) -> String {
        request.firstRange(of: parentMark).map { String(request[..<$0.lowerBound]) } ?? request
    }
}
