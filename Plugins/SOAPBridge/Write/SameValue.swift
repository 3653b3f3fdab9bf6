internal import BridgeKit
internal import RecordBatch
internal import TextFormats

/// Compares two values of the remote, regardless of their notation.
enum SameValue {
    /// Returns the path of the first value that differs; nil if all are equal.
    static func difference(_ before: InputValue, _ now: InputValue?, path: String = "") -> String? {
        switch before {
        case .object(let members):
            for member in members {
                let place = path.isEmpty ? member.name : "\(path)/\(member.name)"
                if let found = difference(member.value, now?.value(at: [member.name]), path: place) { return found }
            }
            return nil
        case .array(let list):
            let others = now?.elements ?? []
            guard list.count == others.count else { return path }
            return zip(list, others).lazy.compactMap { difference($0, $1, path: path) }.first
        case .bytes(let bytes):
            let text = (now?.scalar ?? "").filter { !$0.isWhitespace }
            return text == BinaryText.base64(bytes) || text.uppercased() == BinaryText.hex(bytes) ? nil : path
        default:
            guard let text = (now ?? .null).scalar else { return path }
            return SameNotation.isSame(before.scalar ?? "", text) ? nil : path
        }
    }
}
