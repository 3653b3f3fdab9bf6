internal import TextFormats

/// Markup that escapes all text; only tags and attribute names, which are constants of this program, stay as they are.
///
/// ```swift
/// HTML("p", .class("note")) { "5 < 6 in "; HTML("b") { name } }
/// ```
package struct HTML: Sendable, Equatable {
    /// The markup as UTF-8.
    package private(set) var bytes: [UInt8]

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// No markup.
    package static let empty = HTML(bytes: [])

    /// Creates an element with an end tag.
    ///
    /// - Parameters:
    ///   - tag: The name of the element; never `script` or `style`, whose content would not be text.
    ///   - attributes: The attributes; nil ones are left out.
    package init(_ tag: StaticString, _ attributes: HTMLAttribute?..., @HTMLBuilder content: () -> HTML = { .empty }) {
        bytes = Self.start(tag, attributes)
        bytes += content().bytes
        bytes += Array("</\(tag)>".utf8)
    }

    /// Creates an element that has neither content nor an end tag, such as `input`.
    package init(void tag: StaticString, _ attributes: HTMLAttribute?...) { bytes = Self.start(tag, attributes) }

    /// Creates text.
    package init(text: String) { bytes = Self.escaped(text) }

    /// Creates the document around an `html` element.
    package static func document(_ html: HTML) -> HTML {
        HTML(bytes: Array("<!DOCTYPE html>\n".utf8) + html.bytes + [UInt8(ascii: "\n")])
    }

    /// Joins parts in their order.
    package static func joined(_ parts: [HTML]) -> HTML { HTML(bytes: parts.flatMap(\.bytes)) }

    private static func start(_ tag: StaticString, _ attributes: [HTMLAttribute?]) -> [UInt8] {
        var bytes = Array("<\(tag)".utf8)
        for attribute in attributes.compactMap({ $0 }) {
            bytes += Array(" \(attribute.name)".utf8)
            guard let value = attribute.value else { continue }
            bytes += Array("=\"".utf8)
            bytes += escaped(value)
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: ">"))
        return bytes
    }

    /// Returns text escaped for content and for quoted attribute values.
    ///
    /// Control characters, and marks that change the direction of text (UAX 9), are shown as `\u{..}`, because they could
    /// disguise a value.
    private static func escaped(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'": bytes += Array("&#39;".utf8)
            case "\n", "\t": bytes.append(UInt8(scalar.value))
            case _ where scalar.isDisguising: bytes += Array(scalar.escape.utf8)
            default:
                if let reference = XMLText.reference(for: scalar) {
                    bytes += Array(reference.utf8)
                } else {
                    bytes += Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
                }
            }
        }
        return bytes
    }

    /// Returns whether a text has no characters that are shown as `\u{..}`.
    package static func isShownAsIs(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0 == "\n" || $0 == "\t" || !$0.isDisguising }
    }
}

/// Builds markup from texts and elements.
@resultBuilder
package enum HTMLBuilder {
    /// Makes markup of a text.
    package static func buildExpression(_ text: String) -> HTML { HTML(text: text) }
    /// Makes markup of a text; nothing of nil.
    package static func buildExpression(_ text: String?) -> HTML { text.map(HTML.init(text:)) ?? .empty }
    /// Takes an element.
    package static func buildExpression(_ html: HTML) -> HTML { html }
    /// Takes an element; nothing of nil.
    package static func buildExpression(_ html: HTML?) -> HTML { html ?? .empty }
    /// Takes elements.
    package static func buildExpression(_ parts: [HTML]) -> HTML { .joined(parts) }
    /// Joins the parts of a block.
    package static func buildBlock(_ parts: HTML...) -> HTML { .joined(parts) }
    /// Joins the parts of a loop.
    package static func buildArray(_ parts: [HTML]) -> HTML { .joined(parts) }
    /// Takes an `if` without `else`.
    package static func buildOptional(_ part: HTML?) -> HTML { part ?? .empty }
    /// Takes the first branch.
    package static func buildEither(first part: HTML) -> HTML { part }
    /// Takes the second branch.
    package static func buildEither(second part: HTML) -> HTML { part }
}
