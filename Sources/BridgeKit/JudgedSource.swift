public import RecordBatch

/// A fault of an entity's section that the bridge can tell without its remote.
public struct SectionFault: Sendable {
    /// Where it is: names below the section joined by dots, such as `paging.style`; nil for the section as a whole.
    public var key: String?
    /// What is wrong, with which thing; never a secret.
    public var message: String
    /// What to do.
    public var remedy: String?

    /// A fault.
    public init(key: String?, message: String, remedy: String? = nil) {
        self.key = key
        self.message = message
        self.remedy = remedy
    }
}

/// The answer to a request that ``FetchRequest/judges``: the section's faults, or none.
///
/// A bridge that can tell only one fault at a time may throw it instead.
public final class JudgedSource: RecordSource {
    private let faults: [SectionFault]

    /// The faults of a section.
    public init(_ faults: [SectionFault] = []) { self.faults = faults }

    /// Writes all faults.
    public func next(into writer: RecordBatchWriter) throws -> Page {
        for fault in faults {
            writer.object {
                writer.member("key", fault.key)
                writer.member("message", fault.message)
                writer.member("remedy", fault.remedy)
            }
        }
        return Page(isPageEnd: true, isEnd: true)
    }

    /// Does nothing: nothing takes long.
    public func cancel() {}
}
