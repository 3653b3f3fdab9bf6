internal import BridgeKit
internal import Glibc

/// What goes into the header of each request.
struct MessageHeaders: Sendable {
    /// Blocks by name, of the bridge's options and then of the entity's section.
    var blocks: [InputValue] = []
    var security: MessageSecurity?
    var addressing: MessageAddressing?

    /// The blocks of the config; an entity's wins over one of the same name.
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

    /// The blocks that the standards describe; each request gets new ones.
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
