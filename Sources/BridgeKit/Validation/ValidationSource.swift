public import BridgeContract
public import RecordBatch

/// A fault of an entity's section that the bridge can detect without its remote.
public struct SectionFault: Sendable {
    /// The location: names below the section joined by dots, such as `paging.style`; nil for the section as a whole.
    public var key: String?
    /// A description of the fault; never a secret.
    public var message: String
    /// The remedy for the user.
    public var remedy: String?
    /// Whether the section is still usable.
    public var isWarning: Bool

    /// Creates a fault.
    public init(key: String?, message: String, remedy: String? = nil, isWarning: Bool = false) {
        self.isWarning = isWarning
        self.key = key
        self.message = message
        self.remedy = remedy
    }
}

/// The source for a request with `FetchRequest.validates`: the section's faults, or none.
///
/// A bridge that can report only one fault at a time may throw it instead.
public final class ValidationSource: RecordSource {
    private let faults: [SectionFault]

    /// Creates a source of these faults.
    public init(_ faults: [SectionFault] = []) { self.faults = faults }

    /// Writes all faults.
    public func next(into writer: RecordBatchWriter) throws -> Page {
        for fault in faults {
            writer.object {
                writer.member("key", fault.key)
                writer.member("message", fault.message)
                writer.member("remedy", fault.remedy)
                if fault.isWarning { writer.member("warning", true) }
            }
        }
        return Page(isPageEnd: true, isEnd: true)
    }

    /// Does nothing: no call takes long.
    public func cancel() {}
}
