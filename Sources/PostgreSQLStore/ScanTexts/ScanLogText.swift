internal import Mapping
internal import RecordBatch
internal import StoreContract
internal import StoreRules

/// The stored form of what a scan has listed.
enum ScanLogText {
    /// The first byte of row numbers in the form of ``bytes(_:)``; those of 8 bytes each begin with 0 or 255.
    private static let differences: UInt8 = 1

    /// Returns row numbers as their differences, in 7 bits per byte; the eighth bit says that the difference goes on, and
    /// the lowest bit of all is its sign.
    ///
    /// Numbers of 8 bytes each would be so long that the server compresses them, which takes it longer than a page's rows.
    static func bytes(_ rows: [Int64]) -> [UInt8] {
        guard !rows.isEmpty else { return [] }
        var bytes = [differences]
        bytes.reserveCapacity(1 + 2 * rows.count)
        var last: Int64 = 0
        for row in rows {
            let difference = row &- last
            var rest = UInt64(bitPattern: (difference << 1) ^ (difference >> 63))
            while rest > 127 {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
            last = row
        }
        return bytes
    }

    static func rows(_ bytes: UnsafeRawBufferPointer?) -> [Int64] {
        guard let bytes else { return [] }
        guard bytes.first == differences else {
            return stride(from: 0, to: bytes.count - 7, by: 8).compactMap {
                Int64(bigEndian: UnsafeRawBufferPointer(rebasing: bytes[$0..<$0 + 8]))
            }
        }
        var rows: [Int64] = []
        var (last, number, shift) = (0 as Int64, 0 as UInt64, 0 as UInt64)
        for byte in bytes.dropFirst() {
            number |= UInt64(byte & 127) << shift
            shift += 7
            guard byte < 128 else { continue }
            last = last &+ (Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))
            rows.append(last)
            (number, shift) = (0, 0)
        }
        return rows
    }

    /// Returns owners of lists as JSON: `[[entity, relationship, key], ...]`.
    static func json(_ owners: some Collection<ScanLog.ListOwner>, _ model: CompiledModel) -> String {
        array(owners) { text, owner in append(owner, model, to: &text) }
    }

    static func owners(_ json: String, _ model: CompiledModel) throws -> [ScanLog.ListOwner] {
        let batch = try JSONParser.batch(json)
        return withExtendedLifetime(batch) { batch[0].elements.compactMap { owner($0, model) } }
    }

    /// Returns waiting lists as JSON: `[[owner, place, listed, missing], ...]`.
    static func json(_ lists: [ScanLog.WaitingList], _ model: CompiledModel) -> String {
        array(lists) { text, list in
            text.append("[")
            append(list.owner, model, to: &text)
            text.append(",")
            text.append(number: list.place)
            for keys in [list.listed, list.missing] {
                text.append(",")
                text.append(.keys(keys))
            }
            text.append("]")
        }
    }

    static func lists(_ json: String, _ model: CompiledModel) throws -> [ScanLog.WaitingList] {
        let batch = try JSONParser.batch(json)
        return withExtendedLifetime(batch) {
            batch[0].elements.compactMap { list in
                let parts = Array(list.elements)
                guard parts.count == 4, let owner = owner(parts[0], model), let place = parts[1].integer else {
                    return nil
                }
                let target = model.entities[owner.root].toMany.first { $0.name == owner.relationship }
                    .map { model.entities[model.entities[$0.target].root] }
                func keys(_ value: BatchValue) -> [RowKey] {
                    value.elements.map { $0.elements.map(StoredValue.init(stored:)) }.map { target?.key($0) ?? $0 }
                }
                return ScanLog.WaitingList(
                    owner: owner, place: Int(place), listed: keys(parts[2]), missing: keys(parts[3]))
            }
        }
    }

    private static func array<Element>(
        _ elements: some Collection<Element>, _ append: (inout JSONText, Element) -> Void
    ) -> String {
        var text = JSONText()
        text.append("[")
        for (index, element) in elements.enumerated() {
            if index > 0 { text.append(",") }
            append(&text, element)
        }
        text.append("]")
        return text.string
    }

    private static func append(_ owner: ScanLog.ListOwner, _ model: CompiledModel, to text: inout JSONText) {
        text.append("[")
        text.append(string: model.entities[owner.root].name)
        text.append(",")
        text.append(string: owner.relationship)
        text.append(",")
        text.append(.key(owner.owner))
        text.append("]")
    }

    private static func owner(_ value: BatchValue, _ model: CompiledModel) -> ScanLog.ListOwner? {
        let parts = Array(value.elements)
        guard parts.count == 3, let root = parts[0].text.flatMap({ model.index(of: $0) }),
            let relationship = parts[1].text
        else { return nil }
        let key = parts[2].elements.map(StoredValue.init(stored:))
        return ScanLog.ListOwner(root: root, relationship: relationship, owner: model.entities[root].key(key))
    }
}
