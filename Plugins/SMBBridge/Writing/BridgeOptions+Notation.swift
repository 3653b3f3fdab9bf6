import BridgeKit

extension BridgeOptions {
    /// Returns whether a member has this value, or is a number that the text writes in another way; nil is null.
    func isSame(_ name: String, as text: String?) -> Bool {
        guard let text, let value = string(name) else { return text == nil && !has(name) }
        if value == text { return true }
        let isNumber = withValue(name) { member in
            switch member?.tag {
            case .int64, .decimal, .double: true
            default: false
            }
        }
        return isNumber && SameNotation.isSame(value, text)
    }
}
