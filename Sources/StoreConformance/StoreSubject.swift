internal import Mapping
internal import StoreContract
internal import SystemCalls

/// The database of one check.
final class StoreSubject: Sendable {
    let provider: any StoreProvider
    let location: String
    let model: CompiledModel?
    private let opened = Mutex<[any Store]>([])

    init(_ provider: any StoreProvider, location: String) {
        self.provider = provider
        self.location = location
        model = try? SampleModel.compiled()
    }

    /// Opens the database, until the end of the check.
    func open(_ use: StoreUse = .writing) throws -> StoreSession {
        try open(try required("the sample model", model), use)
    }

    /// Opens the database with another model, until the end of the check.
    func open(_ model: CompiledModel, _ use: StoreUse = .writing) throws -> StoreSession {
        let store = try provider.open(location, model: model, for: use)
        opened.withLock { $0.append(store) }
        return StoreSession(store, model)
    }

    func closeAll() { for store in opened.withLock({ $0 }) { try? store.close() } }

    /// The rows of a table, by key.
    func table(_ name: String) throws -> [String] {
        try provider.contents(of: location).first { $0.name == name }?.rows
            .map { $0.map(\.description).joined(separator: " ") } ?? []
    }
}

/// Checks that two values are the same.
///
/// - Throws: ``StoreFinding`` otherwise.
func expect<Value: Equatable>(_ what: String, _ found: Value, _ expected: Value) throws {
    guard found != expected else { return }
    throw StoreFinding(what: what, expected: "\(expected)", found: "\(found)")
}

/// Checks that `body` throws a store's error with a code.
func expectError(_ what: String, _ code: StoreError.Code, _ body: () throws -> Void) throws {
    do {
        try body()
    } catch let error as StoreError {
        return try expect("the code of the error: \(what)", error.code, code)
    }
    throw StoreFinding(what: what, expected: "an error of the code \(code.rawValue)", found: "none")
}

/// Returns a value that must exist.
func required<Value>(_ what: String, _ value: Value?) throws -> Value {
    guard let value else { throw StoreFinding(what: what, expected: "one", found: "none") }
    return value
}
