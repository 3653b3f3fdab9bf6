internal import BridgeKit
internal import Glibc

/// The header of each request.
struct MessageHeaders: Sendable {
    /// Blocks by name: those of the bridge's options, followed by those of the entity's section.
    var blocks: [InputValue] = []
    var security: MessageSecurity?
    var addressing: MessageAddressing?

    /// The configured blocks; an entity's block replaces the bridge's block of the same name.
    var merged: InputValue {
        var members: [InputValue.Member] = []
        for case .object(let more) in blocks {
            for member in more {
                members.removeAll { $0.name == member.name }
                members.append(member)
            }
        }
        return .object(members)
    }

    /// Returns the standardized blocks, new for each request.
    func standard(
        _ operation: WSDLOperation, version: SOAPVersion, endpoint: String, hasSecurity: Bool = true
    ) throws(BridgeError) -> String {
        var text = ""
        if let addressing {
            text += try addressing.blocks(operation, endpoint: endpoint, id: MessageAddressing.identifier())
        }
        if hasSecurity, let security {
            let nonce = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
            text += try security.block(version, now: Int64(time(nil)), nonce: nonce)
        }
        return text
    }
}
