internal import StoreContract
internal import BridgeHost
internal import Importer
internal import Model

/// A failure of a request, with the step at which it failed.
public struct RequestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The step at which it failed.
    public var step: RequestStep
    /// The entity.
    public var entity: String
    /// The kind of failure, as a word: of the bridge (`authentication`, `timeout`, ...), `database`, `configuration`,
    /// `quarantine`, `deletionLimit`, `request` for an invalid request, `limit` for one that is too large, `deadline` for
    /// one that took longer than its own time limit, `model` for a Swift type that does not fit the configuration, `value`
    /// for a value that a Swift type cannot represent, `closed` after the manager was closed.
    public var code: String
    /// What failed, and on which object.
    public var message: String
    /// The remedy.
    public var remedy: String?
    /// The bridge's name in the configuration; nil where the request failed earlier.
    public var bridge: String?
    /// The URL or path, without secrets.
    public var location: String?
    /// The remote's message.
    public var remote: String?
    /// Whether the same request may succeed later.
    public var isRetryable = false
    /// What your program said about the request.
    public var userInfo: UserInfo?

    /// Whether the remote was unreachable: the network is down, or the server is.
    public var isUnreachable: Bool { code == BridgeFailure.Code.unreachable.rawValue }

    init(
        _ step: RequestStep, entity: String, code: String, _ message: String, remedy: String? = nil,
        bridge: String? = nil
    ) {
        self.step = step
        self.entity = entity
        self.code = code
        self.message = message
        self.remedy = remedy
        self.bridge = bridge
    }

    /// Whether the request took longer than its own time limit.
    public var isDeadline: Bool { code == Self.deadlineCode }

    static let deadlineCode = "deadline"

    /// The code for a value that a Swift type cannot represent.
    static let unfitCode = "value"

    /// The error on one line.
    public var description: String {
        var text = "\(entity)\(bridge.map { " (bridge \($0))" } ?? ""): \(code) while \(step): \(message)"
        if let location, !message.contains(location) { text += " at \(location)" }
        if let remote { text += "; the remote says: \(remote)" }
        if let remedy { text += "; \(remedy)" }
        return text
    }
}

extension RequestError {
    /// Returns the error of a call of a closed manager.
    static func closed(_ entity: String) -> RequestError {
        RequestError(
            .requested, entity: entity, code: "closed", "the manager is closed",
            remedy: "make another `RequestManager`")
    }

    /// Creates a request error from any other.
    ///
    /// - Parameter step: The step of the failure, where the error does not contain it.
    init(_ error: any Error, entity: Entity, bridge: String, at step: RequestStep) {
        if let known = error as? RequestError {
            self = known
            return
        }
        let failure = SyncFailure(error, entity: entity, bridge: bridge, page: nil)
        self.init(
            Self.step(of: failure.code, at: step), entity: failure.entity, code: failure.code, failure.message,
            remedy: failure.remedy, bridge: failure.bridge)
        location = failure.location
        remote = failure.remote
        if let cause = error as? BridgeFailure {
            isRetryable = cause.isRetryable
        } else if let cause = error as? StoreError {
            isRetryable = cause.code == .busy
        } else {
            isRetryable = ["unreachable", "timeout", "rate_limited"].contains(code)
        }
    }

    private static func step(of code: String, at step: RequestStep) -> RequestStep {
        switch code {
        case "database", "quarantine", "brake": step == .answeredLocally ? step : .importing
        case "configuration", "unsupported": .translating
        case "protocol": .representing
        case "unreachable", "timeout", "tls", "authentication", "permission", "rate_limited": .contacting
        default: step
        }
    }
}
