public import BridgeContract
public import RecordBatch

/// A parent whose children cannot be requested, because a value that the request needs is null.
///
/// Without the value the request would return the children of all parents, and the host would assign each of them to
/// this parent. Throw this error while building the request, and return a ``SkippedSource``.
public struct SkippedParent: Error, Sendable {
    /// The warning for the user.
    public let warning: String

    /// - Parameters:
    ///   - name: The variable, such as `parent.id`.
    ///   - option: The option that uses the variable, such as `query`.
    ///   - isEmpty: Whether the value is an empty text, which a path cannot hold.
    public init(_ name: String, option: String, isEmpty: Bool = false) {
        let field = name.hasPrefix("parent.") ? String(name.dropFirst("parent.".count)) : name
        let what = isEmpty ? "is an empty text, which a path cannot contain" : "is null"
        warning =
            "{\(name)} of \(option) \(what), so this parent is skipped: its objects are neither fetched nor deleted; "
            + "if that part is optional put it in ( ), or exclude such parents by "
            + "\"where: \(field)!=\(isEmpty ? "" : "null")\" of the parent"
    }
}

/// A scan of a skipped parent's children: it returns no records, and says nothing about the existing ones.
public final class SkippedSource: RecordSource {
    private let parent: SkippedParent

    /// Creates the scan of a parent.
    public init(_ parent: SkippedParent) { self.parent = parent }

    /// Ends at once, without being complete.
    public func next(into writer: RecordBatchWriter) throws -> Page {
        Page(isPageEnd: true, isEnd: true, isComplete: false, warnings: [parent.warning])
    }

    /// Does nothing: no call takes long.
    public func cancel() {}
}
