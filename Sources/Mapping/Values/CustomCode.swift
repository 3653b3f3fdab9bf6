/// Code of the program in place of rules of the configuration, which names it: where YAML ends.
///
/// ```swift
/// let code = CustomCode(
///     transformers: [ValueTransformer("cents/1") { value in .decimal(try euros(value)) }],
///     matchers: [RecordMatcher("book/1") { record in record["isbn"] != nil }],
///     merges: [ValueMerge("longest/1") { base, remote, local in longest(remote, local) }])
/// let manager = try await RequestManager(config: "bmo.yml", stores: SQLiteStores(), code: code)
/// ```
///
/// The configuration says where each one applies: `transform: {code: cents/1}`, `when: {code: book/1}`, `merge: {code: longest/1}`.
/// In code, `AttributeDefinition.transformed(by:)` and its relatives do so. The name stands for the code wherever a change
/// of the configuration matters, such as for whether a listing is scanned anew: give changed code another name.
///
/// All closures are called on the thread that imports or sends, from one thread at a time for one scan, and from several for
/// several: they have to be safe for that, should be quick and must not wait. What a closure throws, or one that takes longer
/// than ``limit``, fails its record, which goes to quarantine with the names of the entity, the attribute and the code; the
/// sync goes on. A call that does not return cannot be stopped.
public struct CustomCode: Sendable {
    let transformers: [String: ValueTransformer]
    let matchers: [String: RecordMatcher]
    let merges: [String: ValueMerge]
    /// The names that two pieces of code of one kind share.
    package let duplicates: Set<String>
    /// How long a call may take.
    public let limit: Duration

    /// Creates a set of code, each with a name of its own.
    public init(
        transformers: [ValueTransformer] = [], matchers: [RecordMatcher] = [], merges: [ValueMerge] = [],
        limit: Duration = .seconds(1)
    ) {
        var duplicates: Set<String> = []
        func byName<Code>(_ code: [Code], _ name: (Code) -> String) -> [String: Code] {
            var result: [String: Code] = [:]
            for code in code {
                if result.updateValue(code, forKey: name(code)) != nil { duplicates.insert(name(code)) }
            }
            return result
        }
        self.transformers = byName(transformers, \.name)
        self.matchers = byName(matchers, \.name)
        self.merges = byName(merges, \.name)
        self.duplicates = duplicates
        self.limit = limit
    }

    /// The names of the transformers, the matchers and the merges.
    package var names: (transformers: Set<String>, matchers: Set<String>, merges: Set<String>) {
        (Set(transformers.keys), Set(matchers.keys), Set(merges.keys))
    }

    /// Calls code within the time limit.
    ///
    /// - Throws: ``ValueConverter/Misfit`` with the name of the code and why it failed.
    func call<Result>(_ name: String, _ body: () throws -> Result) throws(ValueConverter.Misfit) -> Result {
        let start = ContinuousClock.now
        let result: Result
        do {
            result = try body()
        } catch {
            throw ValueConverter.Misfit(reason: "the code \"\(name)\" failed: \("\(error)".prefix(500))")
        }
        let time = ContinuousClock.now - start
        guard time <= limit else {
            throw ValueConverter.Misfit(reason: "the code \"\(name)\" took \(time), and may take \(limit)")
        }
        return result
    }

    func transformed(_ scalar: RemoteScalar, by name: String) throws(ValueConverter.Misfit) -> RemoteScalar {
        guard let transformer = transformers[name] else { throw Self.missing(name) }
        return RemoteScalar(try call(name) { try transformer.local(StoredValue(scalar)) })
    }

    func undone(_ scalar: RemoteScalar, by name: String) throws(ValueConverter.Misfit) -> RemoteScalar {
        guard let transformer = transformers[name] else { throw Self.missing(name) }
        return RemoteScalar(try call(name) { try transformer.remote(StoredValue(scalar)) })
    }

    private static func missing(_ name: String) -> ValueConverter.Misfit {
        ValueConverter.Misfit(reason: "this program has no code \"\(name)\"")
    }
}

extension StoredValue {
    /// Creates the value of a scalar, for code.
    init(_ scalar: RemoteScalar) {
        self =
            switch scalar {
            case .null: .null
            case .bool(let value): .boolean(value)
            case .int(let value): .integer(value)
            case .double(let value): .real(value)
            case .decimal(let text): .decimal(text)
            case .text(let text): .text(text)
            case .bytes(let bytes): .bytes(bytes)
            case .timestamp: .timestamp(scalar.text ?? "")
            case .composite(let json): .json(json)
            }
    }
}

extension RemoteScalar {
    /// Creates the scalar of a value that code returns.
    fileprivate init(_ value: StoredValue) {
        self =
            switch value {
            case .null: .null
            case .boolean(let value): .bool(value)
            case .integer(let value): .int(value)
            case .real(let value): .double(value)
            case .decimal(let text): .decimal(text)
            case .text(let text), .timestamp(let text), .date(let text), .url(let text), .uuid(let text): .text(text)
            case .json(let json): .composite(json)
            case .bytes(let bytes): .bytes(bytes)
            }
    }
}
