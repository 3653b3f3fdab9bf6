/// Numbers in header fields.
package enum HeaderNumber {
    /// Returns a plain number, or the total of a Content-Range (RFC 9110, section 14.4).
    package static func total(_ text: String) -> Int? {
        (Int(text.filter { $0 != " " }) ?? text.split(separator: "/").last.flatMap { Int($0) })?.clampedPosition
    }
}
