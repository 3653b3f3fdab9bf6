package import BMO
internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import StoreContract
internal import SystemCalls
internal import TextFormats
internal import WebServer

/// Receives webhooks, and passes each on as a hint to a watch: `POST /hooks/ENTITY`.
///
/// A webhook needs no session, because it is signed. Nothing that it says is written: the watch asks the remote.
package final class HookReceiver: Sendable {
    /// The maximum size of a body, in bytes.
    static let maxBytes = 256 << 10
    /// The minimum length of a secret.
    private static let minLength = 16
    /// The maximum length of a part of a key, in bytes.
    static let maxKeyBytes = 1000

    /// An entity that webhooks may name.
    private struct Target: Sendable {
        /// The name of the entity whose listing has the objects.
        let scanned: String
        let index: Int
        let signature: HookSignature
        let key: RemotePath
    }

    private let workspace: Workspace
    private let news: RemoteNews
    private let targets: [String: Target]
    private let signatures: [HookSignature]
    private let received: ReceivedWebhooks

    /// Creates a receiver; nil if no bridge has a hook.
    ///
    /// - Parameters:
    ///   - workspace: The configuration with the hooks.
    ///   - entities: The entities that the watch syncs; nil for all.
    ///   - news: What the watch syncs next.
    ///   - received: The webhooks that receivers of earlier configurations have accepted, too: none is accepted twice.
    ///   - warn: Called with why a secret's file that has changed cannot be used.
    /// - Throws: ``PageFailure`` for a secret that cannot be read or is too short.
    package init?(
        _ workspace: Workspace, watching entities: [String]?, news: RemoteNews, received: ReceivedWebhooks,
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        self.workspace = workspace
        self.news = news
        self.received = received
        var signatures: [String: (check: HookSignature, key: RemotePath)] = [:]
        for bridge in workspace.configuration.bridges {
            guard let hook = bridge.hook else { continue }
            let secret = try Self.secret(of: hook, bridge.name, workspace.configuration.directory, warn)
            signatures[bridge.name] = (HookSignature(hook, secret: secret.value), hook.key)
        }
        guard !signatures.isEmpty else { return nil }
        let model = workspace.model.model
        let watched = entities.map { model.names(under: $0) }
        var targets: [String: Target] = [:]
        for entity in model.entities where watched?.contains(entity.name) ?? true {
            guard let scanned = model.lineage(of: entity).last(where: \.isScanned),
                let index = workspace.model.index(of: scanned.name), let found = signatures[scanned.bridge]
            else { continue }
            targets[entity.name] = Target(
                scanned: scanned.name, index: index, signature: found.check, key: found.key)
        }
        self.targets = targets
        self.signatures = signatures.values.map(\.check)
    }

    private static func secret(
        of hook: HookConfiguration, _ bridge: String, _ directory: String, _ warn: @escaping @Sendable (String) -> Void
    ) throws -> FollowedSecret {
        let reference = hook.secret
        return try FollowedSecret(reference, in: directory, warn: warn) {
            let secret: String
            do throws(SecretError) {
                secret = try reference.resolve(relativeTo: directory, environment: Workspace.environment)
            } catch {
                throw PageFailure(500, "the hook of bridge \(bridge): \(error.description)")
            }
            guard secret.utf8.count >= Self.minLength else {
                throw PageFailure(
                    500,
                    "the hook of bridge \(bridge): the secret \(reference) is shorter than \(Self.minLength) bytes")
            }
            return secret
        }
    }

    /// Answers a webhook.
    ///
    /// - Parameter now: The time here, in seconds since 1970.
    func response(to request: WebRequest, now: Int64 = HookReceiver.now) -> WebResponse {
        guard request.body.count <= Self.maxBytes else {
            return WebResponse(413, text: "The body is larger than \(Self.maxBytes >> 10) KiB.\n")
        }
        let target = targets[request.path[1]]
        // A stranger does not learn which entities exist: an unknown name is refused like a wrong signature.
        let verdicts = (target.map { [$0.signature] } ?? signatures).map { $0.verdict(on: request, now: now) }
        guard let verdict = verdicts.min(by: { Self.rank($0) < Self.rank($1) }) else { return Self.refusal(.missing) }
        guard case .valid(let proof) = verdict else { return Self.refusal(verdict) }
        guard let target else {
            return WebResponse(404, text: "The watch does not sync an entity of this name from a bridge with a hook.\n")
        }
        let key: [String]?
        do throws(PageFailure) {
            key = try Self.key(in: request.body, at: target.key, of: target.index, workspace)
        } catch {
            return WebResponse(400, text: error.description + "\n")
        }
        if let sent = proof.sent {
            switch received.add(proof.code, sent: sent, now: now) {
            case .new: break
            case .known: return WebResponse(409, text: "This webhook was received before.\n")
            case .full: return WebResponse(503, headers: [("Retry-After", "60")])
            }
        }
        news.moved(target.scanned, key: key)
        return WebResponse(202, text: "accepted\n")
    }

    /// The time here, in seconds since 1970.
    static var now: Int64 { (Timestamp.microseconds(Clock.now()) ?? 0) / 1_000_000 }

    private static func rank(_ verdict: HookSignature.Verdict) -> Int {
        switch verdict {
        case .valid: 0
        case .late: 1
        case .noTime: 2
        case .timeInBody: 3
        case .wrong: 4
        case .missing: 5
        }
    }

    private static func refusal(_ verdict: HookSignature.Verdict) -> WebResponse {
        switch verdict {
        case .missing: WebResponse(401, text: "The signature is missing, or the time that it covers.\n")
        case .late:
            WebResponse(
                401,
                text: "The time of sending is more than \(HookSignature.tolerance) seconds from the time here.\n")
        case .noTime: WebResponse(400, text: "The time of sending is neither seconds since 1970 nor in ISO 8601.\n")
        case .timeInBody:
            WebResponse(401, text: "The body begins with a time, which belongs to the signature's field.\n")
        case .wrong, .valid: WebResponse(401, text: "The signature is wrong.\n")
        }
    }
}
