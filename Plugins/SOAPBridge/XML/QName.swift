/// An expanded name of XML: a namespace, empty for none, and a local name (Namespaces in XML 1.0, section 2.1).
struct QName: Hashable, Sendable, CustomStringConvertible {
    var namespace: String
    var local: String

    init(_ namespace: String, _ local: String) {
        self.namespace = namespace
        self.local = local
    }

    var description: String { namespace.isEmpty ? local : "{\(namespace)}\(local)" }
}

/// The namespaces that the bridge knows.
enum Namespace {
    static let wsdl = "http://schemas.xmlsoap.org/wsdl/"
    static let wsdl2 = "http://www.w3.org/ns/wsdl"
    static let wsdlSOAP11 = "http://schemas.xmlsoap.org/wsdl/soap/"
    static let wsdlSOAP12 = "http://schemas.xmlsoap.org/wsdl/soap12/"
    static let schema = "http://www.w3.org/2001/XMLSchema"
    static let instance = "http://www.w3.org/2001/XMLSchema-instance"
    static let envelope11 = "http://schemas.xmlsoap.org/soap/envelope/"
    static let envelope12 = "http://www.w3.org/2003/05/soap-envelope"
    static let encoding11 = "http://schemas.xmlsoap.org/soap/encoding/"
    static let encoding12 = "http://www.w3.org/2003/05/soap-encoding"
    static let xml = "http://www.w3.org/XML/1998/namespace"

    /// Schemas that are never fetched: naive clients do, and their hosts answer 403 or not at all.
    static let wellKnown: Set<String> = [
        wsdl, wsdlSOAP11, wsdlSOAP12, schema, instance, envelope11, envelope12, encoding11, encoding12, xml,
        "http://www.w3.org/2000/09/xmldsig#", "http://www.w3.org/2005/05/xmlmime",
        "http://www.w3.org/2004/08/xop/include", "http://www.w3.org/2005/08/addressing",
        "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd",
        "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd",
    ]
}
