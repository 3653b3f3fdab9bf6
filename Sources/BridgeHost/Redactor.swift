internal import RecordBatch

/// Replaces the secrets of a connection by `***` in text that comes from a bridge, however it spells them: see `SecretFinder`.
///
/// A secret shorter than four bytes is replaced only where it is a whole word.
struct Redactor: Sendable {
    private let finder: SecretFinder

    init(secrets: [String]) { finder = SecretFinder(Set(secrets).map { ($0, "***") }) }

    /// `text` without secrets.
    func redact(_ text: String) -> String { finder.replacing(in: text) }
}
