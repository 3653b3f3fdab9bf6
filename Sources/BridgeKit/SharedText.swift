/// A text that all processes of a database share, while this thread has its lock.
///
/// ``BridgeContext/withSharedText(_:_:)`` makes one.
public struct SharedText: ~Copyable {
    /// The text, or nil if nothing has been saved under its name.
    public private(set) var value: String?
    private let name: String
    private let share: @Sendable (SharedTextCall) throws -> String?

    fileprivate init(_ name: String, _ share: @escaping @Sendable (SharedTextCall) throws -> String?) throws {
        value = try share(.lock(name))
        self.name = name
        self.share = share
    }

    deinit { _ = try? share(.release(name)) }

    /// Replaces the text; once this returns, the new one outlives a crash.
    ///
    /// - Throws: `BridgeError` if it cannot be saved.
    public mutating func save(_ text: String) throws {
        _ = try share(.save(name, text))
        value = text
    }
}

/// A call of the host for a text that processes share: `bmo_host.share`.
public enum SharedTextCall: Sendable, Equatable {
    /// Takes the lock of a name, and returns the text.
    case lock(String)
    /// Replaces the text of a name.
    case save(String, String)
    /// Gives the lock of a name back.
    case release(String)
}

extension BridgeContext {
    /// Whether the host keeps texts that all processes of a database share.
    public var sharesTexts: Bool { share != nil }

    /// Runs `body` with a text that all processes of a database share, such as a refresh token that is replaced with each
    /// use: no other process has the text's lock meanwhile.
    ///
    /// Waits for the lock. `body` should take less than two minutes. The host keeps the text as it is: encrypt a secret.
    ///
    /// ```swift
    /// let token = try context.withSharedText("token") { text in
    ///     let new = try login(with: text.value ?? configured)
    ///     try text.save(new)
    ///     return new
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: 1 to 128 bytes; all bridges of a plugin have the same names.
    ///   - body: What to do while this process has the lock.
    /// - Throws: `BridgeError` if the host keeps no texts, or the lock is not free in time; and what `body` throws.
    public func withSharedText<Result>(
        _ name: String, _ body: (inout SharedText) throws -> Result
    ) throws -> Result {
        guard let share else { throw BridgeError(.unsupported, "the host keeps no texts for several processes") }
        var text = try SharedText(name, share)
        return try body(&text)
    }
}
