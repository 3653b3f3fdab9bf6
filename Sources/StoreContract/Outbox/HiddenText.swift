/// A text that descriptions and dumps do not show, since it may hold a secret.
struct HiddenText: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    var text: String?

    var description: String { text == nil ? "nil" : "***" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
