/// What `bmo doctor` found out about one thing.
struct Finding {
    /// How bad it is.
    enum State: String {
        case ok, warning, error
        /// It was not examined, because something else has to be right first.
        case skipped
    }

    /// The subject, such as `disk` or `server registry`.
    let subject: String
    let state: State
    let message: String
    /// What to do about it; nil for a finding without trouble.
    let remedy: String?

    static func ok(_ subject: String, _ message: String) -> Finding {
        Finding(subject: subject, state: .ok, message: message, remedy: nil)
    }

    static func warning(_ subject: String, _ message: String, remedy: String) -> Finding {
        Finding(subject: subject, state: .warning, message: message, remedy: remedy)
    }

    static func error(_ subject: String, _ message: String, remedy: String) -> Finding {
        Finding(subject: subject, state: .error, message: message, remedy: remedy)
    }

    static func skipped(_ subject: String, _ message: String) -> Finding {
        Finding(subject: subject, state: .skipped, message: message, remedy: nil)
    }
}
