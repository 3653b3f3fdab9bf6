/// The hidden field of a form that makes something new: by it, a form that is sent twice is known.
enum FormMark {
    /// The field's name.
    static let field = "once"

    /// Returns the mark of a new form.
    static func make() -> String { RandomToken.make() }
}
