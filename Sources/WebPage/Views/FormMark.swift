/// The hidden field of a form that makes something new: by it, a form that is sent twice is known.
///
/// It is not a secret: the session's token keeps other pages from sending the form.
enum FormMark {
    /// The field's name.
    static let field = "once"

    /// Returns the mark of a new form.
    static func make() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }
}
