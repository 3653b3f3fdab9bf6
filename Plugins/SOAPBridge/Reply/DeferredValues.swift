internal import BridgeKit

/// What a reply puts elsewhere: elements with an id, attachments, and the records that wait for them.
///
/// Not thread-safe.
final class DeferredValues {
    private let spill = SpillFile()
    private var elements: [UInt64: Place] = [:]
    private var parts: [String: Place] = [:]
    private var pending: [Place] = []
    private var nextPending = 0

    private struct Place {
        var start: Int
        var count: Int
    }

    var hasPending: Bool { nextPending < pending.count }

    // MARK: Elements

    static func hash(_ id: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in id { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash
    }

    /// Keeps an element under its id.
    func keep(_ tree: [UInt8], id: UInt64) throws(BridgeError) {
        elements[id] = Place(start: try spill.append(tree), count: tree.count)
    }

    func has(_ id: UInt64) -> Bool { elements[id] != nil }

    /// The element of an id; nil where there is none.
    func element(_ id: UInt64) throws(BridgeError) -> RecordTree? {
        guard let place = elements[id] else { return nil }
        return RecordTree(try spill.read(place.start, count: place.count))
    }

    // MARK: Records

    /// Keeps a record until the reply is over.
    func wait(_ tree: [UInt8]) throws(BridgeError) {
        pending.append(Place(start: try spill.append(tree), count: tree.count))
    }

    /// The next record that waited; nil for none.
    func nextRecord() throws(BridgeError) -> RecordTree? {
        guard hasPending else { return nil }
        let place = pending[nextPending]
        nextPending += 1
        return RecordTree(try spill.read(place.start, count: place.count))
    }

    // MARK: Attachments

    /// Begins an attachment; what follows by ``append(_:)`` is its content until ``endPart(_:)``.
    func beginPart() -> Int { spill.count }

    func append(_ bytes: some Collection<UInt8>) throws(BridgeError) { try spill.append(bytes) }

    /// Ends the attachment that began at `start`, with the names by which a reply refers to it.
    func endPart(_ names: [String], start: Int) {
        for name in names { parts[name] = Place(start: start, count: spill.count - start) }
    }

    /// The content of an attachment, by its Content-ID without brackets or its Content-Location.
    func part(_ name: String) throws(BridgeError) -> [UInt8]? {
        guard let place = parts[name] else { return nil }
        guard place.count <= RecordTree.Limits.record else {
            throw BridgeError(.limit, "an attachment of the reply is larger than \(RecordTree.Limits.record >> 20) MiB")
        }
        return try spill.read(place.start, count: place.count)
    }
}
