internal import StoreContract
internal import SystemCalls

/// The texts of a database that its users share, with their locks.
final class MemoryTexts: Sendable {
    private struct State {
        var texts: [String: String] = [:]
        var locked: Set<String> = []
    }

    private let state = Monitor(State())

    func lock(_ name: String, of location: String) throws -> any StoredTextLock {
        let seconds = Double(SharedTextLimits.wait.components.seconds)
        let value = state.wait(seconds: seconds) { state -> String?? in
            state.locked.insert(name).inserted ? .some(state.texts[name]) : nil
        }
        guard let value else { throw SharedTextLimits.busy(location) }
        return MemoryTextLock(self, name, value)
    }

    fileprivate func save(_ text: String, as name: String) { state.withLock { $0.texts[name] = text } }

    fileprivate func release(_ name: String) { state.change { _ = $0.locked.remove(name) } }
}

/// The lock of a text of a database in memory.
private final class MemoryTextLock: StoredTextLock {
    private let texts: MemoryTexts
    private let name: String
    private let state: Mutex<(value: String?, isHeld: Bool)>

    init(_ texts: MemoryTexts, _ name: String, _ value: String?) {
        (self.texts, self.name) = (texts, name)
        state = Mutex((value, true))
    }

    deinit { release() }

    var value: String? { state.withLock { $0.value } }

    func save(_ text: String) throws {
        texts.save(text, as: name)
        state.withLock { $0.value = text }
    }

    func release() {
        let wasHeld = state.withLock { state in
            defer { state.isHeld = false }
            return state.isHeld
        }
        if wasHeld { texts.release(name) }
    }
}
