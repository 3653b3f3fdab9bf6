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

    /// Returns the state of an edit in the outbox: what it does to which object, and how far it has come.
    ///
    /// A later edit of the same object may become a part of it.
    static func of(_ entry: OutboxEntry) -> String {
        hashed { hasher in
            hasher.combine(ExactText(entry.entity))
            hasher.combine(entry.key)
            hasher.combine(entry.state)
            hasher.combine(entry.operation)
            for change in entry.changes {
                hasher.combine(ExactText(change.name))
                hasher.combine(change.old)
                hasher.combine(change.new)
            }
            for link in entry.links {
                hasher.combine(ExactText(link.relationship))
                hasher.combine(link.old)
                hasher.combine(link.new)
            }
        }
    }

    /// Throws unless the form showed the current state.
    ///
    /// - Throws: ``PageFailure``.
    static func check(_ given: String?, is now: String, _ what: String) throws {
        guard given == now else {
            throw PageFailure(409, "\(what) changed after the page was loaded; nothing was done. Reload the page.")
        }
    }

    private static func text(_ value: some Hashable) -> String { hashed { $0.combine(value) } }

    /// The hash has a random key per process, so that a remote cannot make values that collide.
    private static func hashed(_ combine: (inout Hasher) -> Void) -> String {
        var hasher = Hasher()
        combine(&hasher)
        return String(UInt(bitPattern: hasher.finalize()), radix: 36)
    }
}
