internal import Mapping
internal import Model
internal import StoreContract

/// Values as markup.
enum ValueView {
    /// The number of characters after which a table truncates a text.
    private static let maxLength = 300

    /// Returns a value; a web address becomes a link.
    ///
    /// - Parameter isWhole: Whether long texts are shown whole.
    static func value(_ value: StoredValue, _ type: AttributeType?, isWhole: Bool = false) -> HTML {
        switch value.form {
        case .null: return HTML("span", .class("null")) { "null" }
        case .bytes(let bytes): return HTML("span", .class("quiet")) { NumberText.count(bytes.count, "byte", "bytes") }
        case .text(let text):
            if text.isEmpty { return HTML("span", .class("quiet")) { "(empty text)" } }
            if let link = WebLink(remote: text) {
                return HTML("a", .href(link), .rel("noopener noreferrer nofollow")) { shortened(text, isWhole) }
            }
            guard type == .json else { return HTML("bdi") { shortened(text, isWhole) } }
            return isWhole && text.utf8.count > 80 ? HTML("pre") { text } : HTML("code") { shortened(text, isWhole) }
        default: return HTML(text: ValueText.typed(value, type))
        }
    }

    /// Returns an optional value; empty markup for nil, when the row did not exist.
    static func optional(_ value: StoredValue?, _ type: AttributeType?) -> HTML {
        value.map { Self.value($0, type) } ?? .empty
    }

    /// Returns whether values of a type are aligned to the right.
    static func isNumber(_ type: AttributeType) -> Bool { [.integer, .real, .decimal].contains(type) }

    /// Returns an instant, with its age.
    static func time(_ instant: String?) -> HTML {
        guard let instant, !instant.isEmpty else { return .empty }
        return HTML("span", .class("time"), .title(ValueText.age(instant) ?? instant)) { ValueText.time(instant) }
    }

    private static func shortened(_ text: String, _ isWhole: Bool) -> String {
        guard !isWhole, text.utf8.count > maxLength, text.count > maxLength else { return text }
        return "\(text.prefix(maxLength))…"
    }
}
