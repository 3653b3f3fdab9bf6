internal import Mapping
internal import StoreContract

/// The state that a form was made for, as a short text in the form: what a person decides counts for what was shown.
enum SeenState {
    /// The name of the field that holds it.
    static let field = "seen"

    /// Returns the state of an object's values; nil values stand for an object that is not there.
    static func of(_ values: [StoredValue]?) -> String { text(values) }

    /// Returns the state of a conflict: its three values.
    static func of(_ conflict: EditConflict) -> String { text([conflict.base, conflict.local, conflict.remote]) }

    /// Throws unless a form was made for the state as it is now.
    ///
    /// - Throws: ``PageFailure``.
    static func check(_ given: String?, is now: String, _ what: String) throws {
        guard given == now else {
            throw PageFailure(409, "\(what) changed after the page was loaded; nothing was done. Load it again.")
        }
    }

    /// The hash is keyed by the process, as the sessions are, so that a remote cannot make values that collide.
    private static func text(_ value: some Hashable) -> String {
        var hasher = Hasher()
        hasher.combine(value)
        return String(UInt(bitPattern: hasher.finalize()), radix: 36)
    }
}
