internal import Mapping
internal import StoreContract

/// A short text in a form that identifies the state that it showed: a decision applies only to that state.
enum SeenState {
    /// The name of the field that holds it.
    static let field = "seen"

    /// Returns the state of an object's values; nil stands for an object that does not exist.
    static func of(_ values: [StoredValue]?) -> String { text(values) }

    /// Returns the state of a conflict: its three values.
    static func of(_ conflict: EditConflict) -> String { text([conflict.base, conflict.local, conflict.remote]) }

    /// Throws unless the form showed the current state.
    ///
    /// - Throws: ``PageFailure``.
    static func check(_ given: String?, is now: String, _ what: String) throws {
        guard given == now else {
            throw PageFailure(409, "\(what) changed after the page was loaded; nothing was done. Reload the page.")
        }
    }

    /// The hash has a random key per process, so that a remote cannot make values that collide.
    private static func text(_ value: some Hashable) -> String {
        var hasher = Hasher()
        hasher.combine(value)
        return String(UInt(bitPattern: hasher.finalize()), radix: 36)
    }
}
