internal import RecordBatch
internal import SystemCalls
internal import TextFormats

/// Replaces a connection's secrets with `***` in text from a bridge, in every spelling that `SecretFinder` knows.
///
/// A secret shorter than four bytes is replaced only where it is a whole word. Copies share the secrets they learn.
struct Redactor: Sendable {
    private let known: SecretFinder
    private let learned = Learned()

    /// Secrets learned at run time, newest last.
    private final class Learned: Sendable {
        let state = Mutex((secrets: [String](), finder: SecretFinder([])))
    }

    /// Tokens are renewed for as long as a process lives; the oldest of more than this number have expired.
    private static let maxLearned = 256
    private static let longest = 8192

    init(secrets: [String]) { known = SecretFinder(Set(secrets).map { ($0, "***") }) }

    /// Redacts `secret` from now on; ignores a string so short that it would match in any text.
    func learn(_ secret: String) {
        guard (4...Self.longest).contains(secret.utf8.count) else { return }
        learned.state.withLock { state in
            guard !state.secrets.contains(secret) else { return }
            state.secrets.append(secret)
            if state.secrets.count > Self.maxLearned {
                state.secrets.removeFirst(Self.maxLearned / 2)
                state.finder = SecretFinder(state.secrets.map { ($0, "***") })
            } else {
                state.finder.add(secret, mark: "***")
            }
        }
    }

    /// Redacts text for people: secrets and pieces of them.
    func mask(_ text: String) -> String { SecretFinder.masking(text, [known, learned.state.withLock { $0.finder }]) }

    /// Redacts data: whole secrets only.
    func redact(_ text: String) -> String {
        learned.state.withLock { $0.finder }.replacing(in: known.replacing(in: text))
    }
}
