internal import BridgeHost
internal import Importer

extension BridgeConnection {
    /// Removes this connection's secrets from what is kept of its records.
    var redaction: Redaction { Redaction(data: { self.redacted($0) }, words: { self.masked($0) }) }
}
