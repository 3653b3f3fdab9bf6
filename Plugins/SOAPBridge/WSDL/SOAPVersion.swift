/// The version of SOAP that a port uses.
enum SOAPVersion: String, Sendable {
    case v11 = "1.1"
    case v12 = "1.2"

    var envelopeNamespace: String { self == .v11 ? Namespace.envelope11 : Namespace.envelope12 }
}
