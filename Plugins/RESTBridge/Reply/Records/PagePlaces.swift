internal import BridgeHTTP
internal import BridgeJSON

/// The values beside a page's records.
///
/// The reader of the records looks at as many as it has room for. The others take passes of their own over the page.
struct PagePlaces {
    private var numbers = [JSONPath: UInt32](minimumCapacity: 16)
    private var others: [JSONPath] = []
    /// The values of the others, once they were read.
    private var values: [JSONPath: JSONScalar]?

    /// The most paths of a reader besides that of the records.
    private static let most = JSONRecordReader.maxPaths - 1

    /// Adds a path, which then is looked at in each page.
    mutating func add(_ path: JSONPath, to reader: JSONRecordReader) throws {
        guard numbers[path] == nil, !others.contains(path) else { return }
        if numbers.count < Self.most { numbers[path] = try reader.addPath(path) } else { others.append(path) }
    }

    /// Forgets the values of the page before.
    mutating func begin() { values = nil }

    /// Returns the value at a path that was added; known once the page was read to its end.
    mutating func value(
        at path: JSONPath, _ reader: JSONRecordReader, _ body: HTTPExchange.PaddedBody
    ) -> JSONScalar {
        if let number = numbers[path] { return JSONScalar(reader.value(at: number)) }
        guard others.contains(path) else { return .missing }
        let values = values ?? read(body)
        self.values = values
        return values[path] ?? .missing
    }

    private func read(_ body: HTTPExchange.PaddedBody) -> [JSONPath: JSONScalar] {
        Dictionary(uniqueKeysWithValues: zip(others, JSONScalar.read(others, in: body) ?? []))
    }
}
