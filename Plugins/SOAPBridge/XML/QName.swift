/// An expanded XML name: a namespace, empty for none, and a local name (Namespaces in XML 1.0, section 2.1).
struct QName: Hashable, Comparable, Sendable, CustomStringConvertible {
    var namespace: String
    var local: String

    init(_ namespace: String, _ local: String) {
        self.namespace = namespace
        self.local = local
    }

    /// Parses James Clark's notation, `{namespace}local`; a text without braces has no namespace.
    init(clark text: String) {
        if text.hasPrefix("{"), let end = text.firstIndex(of: "}") {
            namespace = String(text[text.index(after: text.startIndex)..<end])
            local = String(text[text.index(after: end)...])
        } else {
            (namespace, local) = ("", text)
        }
    }

    var description: String { namespace.isEmpty ? local : "{\(namespace)}\(local)" }

    static func < (a: QName, b: QName) -> Bool {
        (a.namespace, a.local) < (b.namespace, b.local)
    }

    /// Whether the name is in a namespace of types defined by XSD or SOAP encoding.
    var isBuiltIn: Bool {
        namespace == Namespace.schema || namespace == Namespace.encoding11 || namespace == Namespace.encoding12
    }
}

/// The namespaces known to the bridge.
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
    static let serialization = "http://schemas.microsoft.com/2003/10/Serialization/"
    static let xop = "http://www.w3.org/2004/08/xop/include"
    static let addressing = "http://www.w3.org/2005/08/addressing"
    static let addressing2004 = "http://schemas.xmlsoap.org/ws/2004/08/addressing"
    /// The namespaces of WS-Addressing in a WSDL: the final metadata (2007/05) and earlier ones.
    static let addressingWSDL: Set<String> = [
        "http://www.w3.org/2007/05/addressing/metadata", "http://www.w3.org/2006/05/addressing/wsdl",
        "http://www.w3.org/2007/02/addressing/metadata", addressing,
    ]
    static let security =
        "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"
    static let securityUtility =
        "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"

    /// Drafts and misspellings of namespaces that services use, mapped to the final ones.
    static let drafts: [String: String] = [
        "http://www.w3.org/1999/XMLSchema": schema, "http://www.w3.org/2000/10/XMLSchema": schema,
        "http://www.w3.org/2001/XMLSchema/": schema, "http://www.w3.org/2001/XMLSchema#": schema,
        "http://www.w3.org/1999/XMLSchema-instance": instance,
        "http://www.w3.org/2000/10/XMLSchema-instance": instance,
        "http://schemas.xmlsoap.org/soap/encoding": encoding11, "http://schemas.xmlsoap.org/wsdl": wsdl,
        "http://www.w3.org/2001/12/soap-encoding": encoding12, "http://www.w3.org/2001/09/soap-encoding": encoding12,
        "http://www.w3.org/2002/06/soap-encoding": encoding12,
        "http://www.w3.org/2002/12/soap-encoding": encoding12, "http://www.w3.org/2003/05/soap-encoding/": encoding12,
    ]

    /// Schemas that are never fetched: their hosts answer 403 or not at all.
    static let wellKnown: Set<String> = [
        wsdl, wsdlSOAP11, wsdlSOAP12, schema, instance, envelope11, envelope12, encoding11, encoding12, xml, xop,
        addressing, addressing2004, security, securityUtility,
        "http://www.w3.org/2000/09/xmldsig#", "http://www.w3.org/2001/04/xmlenc#",
        "http://www.w3.org/2005/05/xmlmime", "http://www.w3.org/2004/11/xmlmime", "http://www.w3.org/1999/xlink",
        "http://ws-i.org/profiles/basic/1.1/xsd", serialization,
        "http://microsoft.com/wsdl/types/",
    ]
}
