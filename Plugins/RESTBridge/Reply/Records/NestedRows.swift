internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

/// Rows of nested arrays, such as `$.orders[*].lines[*]`.
///
/// Each row gets the enclosing object as the member `@parent` and its index in the array, from 0, as `@index`.
struct NestedRows {
    /// The path of the outermost enclosing objects.
    let outer: JSONPath
    /// The path from there to the rows.
    private let inner: ArraySlice<JSONPath.Segment>
    /// Members to add to each record.
    var fields: [(name: String, value: String)] = []

    /// The values that the host reads from enclosing objects, by paths such as `@parent.id`.
    private let wanted: Wanted

    /// A tree of the members that the host reads from a row's enclosing objects.
    private struct Wanted {
        var names: [String] = []
        var index = false
        // Has at most one element. An array, so that the struct can contain its own type.
        var parent: [Wanted] = []

        mutating func insert(_ path: ArraySlice<String>) {
            guard let first = path.first else { return }
            switch first {
            case "@index": index = true
            case "@parent":
                if parent.isEmpty { parent = [Wanted()] }
                parent[0].insert(path.dropFirst())
            default: if !names.contains(first) { names.append(first) }
            }
        }
    }

    /// An enclosing object and its index in its array.
    private typealias Place = (value: BatchValue, index: Int)

    /// Returns nil if the path does not lead to nested arrays, or if the host reads nothing from enclosing objects.
    init?(_ path: JSONPath?, wanted paths: [String]) {
        guard let path, !paths.isEmpty,
            let first = path.segments.firstIndex(where: \.selectsSeveral), first + 1 < path.segments.count
        else { return nil }
        outer = path.prefix(first + 1)
        inner = path.segments[(first + 1)...]
        var wanted = Wanted()
        for path in paths { wanted.insert(path.split(separator: ".").map(String.init)[...]) }
        self.wanted = wanted
    }

    /// The maximum size of the rows of a batch of outermost objects; each row repeats its enclosing objects.
    static let maxBytes = 256 << 20

    /// How far the rows of one of the outermost objects were written.
    struct Progress {
        /// The size of the rows so far, of this object and of those read with it.
        var bytes = 0
        /// Whether the object has more rows, which belong in the next batch.
        fileprivate(set) var isFull = false
        /// The number of the object's rows that were written.
        fileprivate var written = 0
        /// The number of written rows that are still to be passed over.
        fileprivate var skipped = 0

        /// Begins the next object.
        mutating func advance() { written = 0 }
    }

    /// Writes rows inside one of the outermost objects, until the batch is full.
    ///
    /// - Parameters:
    ///   - index: The object's index in its array.
    ///   - progress: That of the call before, if it did not write all of the object's rows.
    /// - Returns: Whether the path leads to rows, or to a list without any.
    /// - Throws: ``BridgeError`` if the rows with their enclosing objects exceed the limit, or if an object stands where
    ///   the path needs a list.
    func write(
        _ value: BatchValue, index: Int, _ progress: inout Progress, to writer: RecordBatchWriter
    ) throws -> Bool {
        progress.isFull = false
        progress.skipped = progress.written
        return try write(value, index, inner, [(value, index)], isElement: true, &progress, to: writer)
    }

    private func write(
        _ value: BatchValue, _ index: Int, _ path: ArraySlice<JSONPath.Segment>, _ around: [Place],
        isElement: Bool = false, _ progress: inout Progress, to writer: RecordBatchWriter
    ) throws -> Bool {
        guard let segment = path.first else {
            if value.tag == .array {
                let passed = min(progress.skipped, value.count)
                progress.skipped -= passed
                for place in passed..<value.count where !progress.isFull {
                    try writeRow(value[place], place, around, &progress, to: writer)
                }
            } else {
                try writeRow(value, index, around, &progress, to: writer)
            }
            return true
        }
        // An object in the place of a filtered list, as the JSON reader takes it.
        if case .filter(let name, let text) = segment, path.count == 1, value.tag == .object,
            isElement || value[name] != nil
        {
            if value[name]?.text == text { try writeRow(value, index, around, &progress, to: writer) }
            return true
        }
        if value.tag == .object, segment.needsList {
            throw BridgeError(
                .malformed, "the reply has an object where \(outer) needs a list", remedy: "check records")
        }
        let rest = path.dropFirst()
        func follow(_ places: [Int]) throws -> Bool {
            var isFound = places.isEmpty
            for place in places where !progress.isFull {
                let element = value[place]
                let leadsOn = try write(
                    element, place, rest, rest.isEmpty ? around : around + [(element, place)], isElement: true,
                    &progress, to: writer)
                isFound = isFound || leadsOn
            }
            return isFound
        }
        switch segment {
        case .name(let name):
            guard value.tag == .object, let member = value[name] else { return false }
            return try write(member, index, rest, around, &progress, to: writer)
        case .index(let place):
            guard value.tag == .array, place < UInt64(value.count) else { return false }
            return try write(value[Int(place)], Int(place), rest, around, &progress, to: writer)
        case .wildcard:
            guard value.tag == .array || value.tag == .object else { return false }
            return try follow(Array(0..<value.count))
        case .filter(let name, let text):
            guard value.tag == .array else { return false }
            return try follow(
                (0..<value.count).filter { value[$0].tag == .object && value[$0][name]?.text == text })
        }
    }

    private func writeRow(
        _ value: BatchValue, _ index: Int, _ around: [Place], _ progress: inout Progress, to writer: RecordBatchWriter
    ) throws {
        guard progress.skipped == 0 else {
            progress.skipped -= 1
            return
        }
        guard writer.byteCount < ReplyLimits.batchBytes else {
            progress.isFull = true
            return
        }
        guard progress.bytes < Self.maxBytes else {
            throw BridgeError(
                .limit,
                "the rows of \(outer) take more than \(Self.maxBytes >> 20) MiB together with the values of the objects around them",
                remedy: "request smaller pages, or read less of @parent")
        }
        let before = writer.byteCount
        defer {
            progress.bytes += writer.byteCount - before
            progress.written += 1
        }
        writer.object {
            for (name, text) in fields {
                writer.key(name)
                writer.text(text)
            }
            if value.tag == .object {
                for member in 0..<value.count {
                    writer.key(value[member].key)
                    writer.copy(value[member])
                }
            } else {
                writer.key("@value")
                writer.copy(value)
            }
            writeSurroundings(of: value, index, around[...], wanted, to: writer)
        }
    }

    /// Writes the enclosing objects of a value; a member of the same name from the API takes precedence.
    private func writeSurroundings(
        of value: BatchValue, _ index: Int, _ around: ArraySlice<Place>, _ wanted: Wanted,
        to writer: RecordBatchWriter
    ) {
        func has(_ name: String) -> Bool { value.tag == .object && value[name] != nil }
        if wanted.index, !has("@index") {
            writer.key("@index")
            writer.int64(Int64(index))
        }
        guard let parent = wanted.parent.first, let place = around.last, !has("@parent") else { return }
        writer.key("@parent")
        writer.object {
            for name in parent.names {
                guard place.value.tag == .object, let member = place.value[name] else { continue }
                writer.key(name)
                writer.copy(member)
            }
            writeSurroundings(of: place.value, place.index, around.dropLast(), parent, to: writer)
        }
    }
}

extension JSONPath.Segment {
    /// Whether the segment may select more than one value.
    var selectsSeveral: Bool {
        switch self {
        case .wildcard, .filter: true
        case .name, .index: false
        }
    }

    /// Whether the segment selects from lists only.
    fileprivate var needsList: Bool {
        switch self {
        case .index, .filter: true
        case .name, .wildcard: false
        }
    }
}
