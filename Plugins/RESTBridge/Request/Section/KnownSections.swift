internal import BridgeKit
internal import RecordBatch
internal import SystemCalls

/// The rules of the sections that a connection has read, so that a walk by parent parses its section once.
///
/// Keeps the last section of each entity, but none of a request for one object, which has a section of its own.
final class KnownSections: Sendable {
    private struct Known {
        let content: RecordBatch
        let pageSize: Int?
        let rules: SectionRules
    }

    private let known = Mutex<[String: Known]>([:])

    /// The number of entities whose section is kept.
    private static let most = 256

    /// Returns the rules of a request's section, parsed unless the entity's last request had the same section.
    ///
    /// - Throws: ``BridgeError`` for a fault of the section.
    func rules(of request: FetchRequest) throws -> SectionRules {
        guard !request.readsOne, let content = Self.content(of: request.section) else {
            return try SectionRules(request.section, pageSize: request.pageSize)
        }
        if let known = known.withLock({ $0[request.entity] }), known.pageSize == request.pageSize,
            Self.isSame(known.content, content)
        {
            return known.rules
        }
        // Rules refer to their section: its copy is without the values of the request's parent.
        let section = BridgeOptions(copying: content[0])
        let rules = try SectionRules(section, pageSize: request.pageSize)
        known.withLock { known in
            if known.count >= Self.most, known[request.entity] == nil { known.removeAll() }
            known[request.entity] = Known(content: content, pageSize: request.pageSize, rules: rules)
        }
        return rules
    }

    /// Returns a section as a batch of its own, whose bytes tell whether it is the same as another one.
    private static func content(of section: BridgeOptions) -> RecordBatch? {
        let writer = RecordBatchWriter()
        section.write(to: writer)
        guard let batch = try? writer.finish(), batch.count == 1 else { return nil }
        return batch
    }

    private static func isSame(_ one: RecordBatch, _ other: RecordBatch) -> Bool {
        one.withBytes { one in other.withBytes { other in one.count == other.count && one.elementsEqual(other) } }
    }
}
