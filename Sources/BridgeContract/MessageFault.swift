/// The reason why the bytes of a message are not one, in words that follow "the bridge answered with".
package struct MessageFault: Error, Equatable {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}
