/// An attribute of an element.
///
/// There is one factory method per attribute in use: none accepts a script, and those for addresses take a ``WebLink``.
package struct HTMLAttribute: Sendable, Equatable {
    let name: String
    /// The value; nil for an attribute that has none, such as `checked`.
    let value: String?

    private init(_ name: StaticString, _ value: String?) {
        self.name = "\(name)"
        self.value = value
    }

    /// The classes, for the stylesheet.
    package static func `class`(_ value: String) -> Self { Self("class", value) }
    /// The identity in the document.
    package static func id(_ value: String) -> Self { Self("id", value) }
    /// The address that a link leads to.
    package static func href(_ link: WebLink) -> Self { Self("href", link.text) }
    /// The address that a form is sent to.
    package static func action(_ link: WebLink) -> Self { Self("action", link.text) }
    /// The method of a form: `get` or `post`.
    package static func method(_ value: StaticString) -> Self { Self("method", "\(value)") }
    /// The relation of a linked document.
    package static func rel(_ value: StaticString) -> Self { Self("rel", "\(value)") }
    /// The name of a form's field.
    package static func name(_ value: String) -> Self { Self("name", value) }
    /// The value of a form's field.
    package static func value(_ value: String) -> Self { Self("value", value) }
    /// The type of an input or a button.
    package static func type(_ value: String) -> Self { Self("type", value) }
    /// The field that a label belongs to, by its identity.
    package static func `for`(_ value: String) -> Self { Self("for", value) }
    /// A hint in an empty field.
    package static func placeholder(_ value: String) -> Self { Self("placeholder", value) }
    /// The granularity of numbers.
    package static func step(_ value: StaticString) -> Self { Self("step", "\(value)") }
    /// The number of a text area's lines.
    package static func rows(_ value: Int) -> Self { Self("rows", String(value)) }
    /// What a browser may fill in.
    package static func autocomplete(_ value: StaticString) -> Self { Self("autocomplete", "\(value)") }
    /// The text shown while pointing at the element.
    package static func title(_ value: String) -> Self { Self("title", value) }
    /// The language of the content.
    package static func lang(_ value: StaticString) -> Self { Self("lang", "\(value)") }
    /// The direction of the content: `auto` follows its first letter.
    package static func dir(_ value: StaticString) -> Self { Self("dir", "\(value)") }
    /// The content of a `meta` element.
    package static func content(_ value: String) -> Self { Self("content", value) }
    /// The header field that a `meta` element stands for.
    package static func httpEquiv(_ value: StaticString) -> Self { Self("http-equiv", "\(value)") }
    /// The encoding of the document.
    package static let utf8 = Self("charset", "utf-8")
    /// Whether a header cell belongs to a column (`col`) or a row (`row`).
    package static func scope(_ value: StaticString) -> Self { Self("scope", "\(value)") }
    /// The heading of a cell's column, which the stylesheet shows where the table's head is hidden.
    package static func heading(_ value: String) -> Self { Self("data-label", value) }
    /// The number of columns that a cell spans.
    package static func colspan(_ value: Int) -> Self { Self("colspan", String(value)) }
    /// The role for assistive technology.
    package static func role(_ value: StaticString) -> Self { Self("role", "\(value)") }
    /// The name for assistive technology.
    package static func label(_ value: String) -> Self { Self("aria-label", value) }
    /// Marks the link to the current page.
    package static let current = Self("aria-current", "page")
    /// Makes an element reachable by keyboard, for tables that scroll.
    package static let focusable = Self("tabindex", "0")
    /// Marks a check box as ticked.
    package static let checked = Self("checked", nil)
    /// Marks an option as chosen.
    package static let selected = Self("selected", nil)
    /// Marks a field that must be filled in.
    package static let required = Self("required", nil)
    /// An attribute of an SVG element with a number.
    package static func svg(_ name: StaticString, _ value: Int) -> Self { Self(name, String(value)) }
    /// An attribute of an SVG element with constants and numbers; never an address or script.
    package static func svg(_ name: StaticString, path: [SVGStep]) -> Self {
        Self(name, path.map(\.text).joined(separator: " "))
    }
    /// The part of the drawing that an SVG element shows.
    package static func viewBox(_ width: Int, _ height: Int) -> Self { Self("viewBox", "0 0 \(width) \(height)") }
}

/// A step of an SVG path, in whole units.
package enum SVGStep: Sendable, Equatable {
    /// Moves to a point.
    case move(Int, Int)
    /// Draws a curve to a point, by two control points.
    case curve(Int, Int, Int, Int, Int, Int)

    fileprivate var text: String {
        switch self {
        case .move(let x, let y): "M\(x) \(y)"
        case .curve(let a, let b, let c, let d, let x, let y): "C\(a) \(b) \(c) \(d) \(x) \(y)"
        }
    }
}
