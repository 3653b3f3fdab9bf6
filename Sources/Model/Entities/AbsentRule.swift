/// The meaning of a member that a listed record lacks.
public enum AbsentRule: String, Sendable, CaseIterable {
    /// The value is null, as if the record contained null.
    case null
    /// The record does not mention the value: keep it.
    case keep
    /// Null if the listing is known to return the member, because some of its records had it; otherwise keep the value.
    case auto
}
