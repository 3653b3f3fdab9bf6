internal import BridgeHTTP
internal import BridgeKit

/// The parts of a reply that are needed out of order: elements with an id, attachments, and pending records.
///
/// Not thread-safe.
final class DeferredValues {
    /// The maximum of elements with an id and pending records; memory holds only the position of each in the file.
    private static let most = 2_000_000
    /// The maximum of objects that WCF numbers, and of pending records: all such objects are kept, because a later one may
    /// refer to each.
    static let mostShared = 1_000_000

    private let recordBytes: Int
    private let spill = SpillFile()
    private var elements: [UInt64: SpillRange] = [:]
    /// Ids that several objects have: each part of a reply may number its own.
    private var repeated: Set<UInt64> = []
    /// Objects in other parts of the message than the records; none once two parts have the same number.
    private var others: [UInt64: SpillRange] = [:]
    /// Whether each part of the message numbers its own objects, as WCF's do.
    private(set) var numbersParts = false
    /// Whether objects with an id were left out.
    private(set) var isFull = false
    private let mostShared: Int
    /// The last element read, unless it is large: many records may refer to it.
    private var lastElement: (place: Int, tree: RecordTree)?
    private static let cached = 4 << 20
    private var parts: [String: SpillRange] = [:]
    /// The encodings of the attachments that cannot be decoded, by name.
    private var encodings: [String: String] = [:]
    private var pending: [SpillRange] = []
    private var nextPending = 0

    private struct SpillRange {
        var start: Int
        var count: Int
    }

    init(recordBytes: Int = RecordTree.Limits.record, mostShared: Int = mostShared) {
        self.recordBytes = recordBytes
        self.mostShared = mostShared
    }

    private func checkRoom() throws(BridgeError) {
        guard elements.count + others.count + pending.count < Self.most else {
            throw BridgeError(
                .limit, "the reply has more than \(Self.most) elements and records that refer to one another",
                remedy: "request smaller pages")
        }
    }

    var hasPending: Bool { nextPending < pending.count }

    // MARK: Elements

    static func hash(_ id: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in id { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash
    }

    /// Stores an element under its id.
    func keep(_ tree: [UInt8], id: UInt64) throws(BridgeError) {
        try checkRoom()
        elements[id] = SpillRange(start: try spill.append(tree), count: tree.count)
    }

    /// Stores an object that others may refer to; none beyond the maximum, since most replies refer to few.
    ///
    /// - Parameter isInOtherPart: Whether the object is in another part of the message than the records.
    func share(
        _ tree: @autoclosure () -> [UInt8], id: UInt64, isInOtherPart: Bool = false
    ) throws(BridgeError) {
        if isInOtherPart ? has(id) : others[id] != nil {
            numbersParts = true
            others = [:]
        }
        if isInOtherPart, numbersParts { return }
        guard elements[id] == nil else {
            repeated.insert(id)
            return
        }
        guard elements.count + others.count + pending.count < mostShared else {
            isFull = true
            return
        }
        let tree = tree()
        let place = SpillRange(start: try spill.append(tree), count: tree.count)
        if isInOtherPart { others[id] = place } else { elements[id] = place }
    }

    /// Returns whether an id is that of several objects.
    func isRepeated(_ id: UInt64) -> Bool { repeated.contains(id) }

    /// Returns whether the part of the message that has the records has an element with this id.
    func hasOwn(_ id: UInt64) -> Bool { elements[id] != nil }

    func has(_ id: UInt64) -> Bool { elements[id] != nil || others[id] != nil }

    /// Returns the element with this id; nil if there is none.
    func element(_ id: UInt64) throws(BridgeError) -> RecordTree? {
        guard let place = elements[id] ?? others[id] else { return nil }
        if let lastElement, lastElement.place == place.start { return lastElement.tree }
        let tree = RecordTree(try spill.read(place.start, count: place.count))
        lastElement = place.count < Self.cached ? (place.start, tree) : nil
        return tree
    }

    // MARK: Records

    /// Stores a record until the reply ends.
    func wait(_ tree: [UInt8]) throws(BridgeError) {
        try checkRoom()
        pending.append(SpillRange(start: try spill.append(tree), count: tree.count))
    }

    /// Returns the next pending record; nil if there is none.
    func nextRecord() throws(BridgeError) -> RecordTree? {
        guard hasPending else { return nil }
        let place = pending[nextPending]
        nextPending += 1
        return RecordTree(try spill.read(place.start, count: place.count))
    }

    // MARK: Attachments

    /// Begins an attachment, whose content ``append(_:)`` adds until ``endPart(_:start:)``.
    func beginPart() -> Int { spill.count }

    func append(_ bytes: some Collection<UInt8>) throws(BridgeError) { try spill.append(bytes) }

    /// Ends the attachment that began at `start`; a reply refers to it by any of `names`.
    func endPart(_ names: [String], start: Int) {
        for name in names { parts[name] = SpillRange(start: start, count: spill.count - start) }
    }

    /// Notes an attachment whose content cannot be decoded.
    func refusePart(_ names: [String], encoding: String) {
        for name in names { encodings[name] = encoding }
    }

    /// Returns the encoding of an attachment that cannot be decoded; nil for others.
    func encoding(ofPart name: String) -> String? { parts[name] == nil ? encodings[name] : nil }

    /// Returns the content of an attachment by its Content-ID without brackets or its Content-Location.
    func part(_ name: String) throws(BridgeError) -> [UInt8]? {
        guard let place = parts[name] else { return nil }
        guard place.count <= recordBytes else {
            throw BridgeError(
                .limit, "an attachment of the reply is larger than \(recordBytes) bytes",
                remedy: "raise max_record_bytes")
        }
        return try spill.read(place.start, count: place.count)
    }
}
