package import BridgeContract
package import Testing

/// Returns the error of a bridge that `body` throws.
package func bridgeError(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) throws -> BridgeError {
    try #require(throws: BridgeError.self, sourceLocation: sourceLocation, performing: body)
}
