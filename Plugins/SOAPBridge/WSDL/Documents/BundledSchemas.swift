/// The well-known schemas, as far as services use them; they are never fetched.
enum BundledSchemas {
    private static let head = #"<schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace=""#

    /// The schemas by namespace.
    ///
    /// Values of definitions that they lack are typed by their appearance.
    static let texts: [String: String] = [
        Namespace.xml: head + Namespace.xml + #"">"# + xmlAttributes + "</schema>",
        Namespace.xop: head + Namespace.xop
            + #""><element name="Include"><complexType><attribute name="href" type="anyURI"/></complexType></element></schema>"#,
        "http://www.w3.org/2005/05/xmlmime": mime("http://www.w3.org/2005/05/xmlmime"),
        "http://www.w3.org/2004/11/xmlmime": mime("http://www.w3.org/2004/11/xmlmime"),
        "http://ws-i.org/profiles/basic/1.1/xsd": head
            + #"http://ws-i.org/profiles/basic/1.1/xsd"><simpleType name="swaRef"><restriction base="anyURI"/></simpleType></schema>"#,
        "http://www.w3.org/1999/xlink": head + #"http://www.w3.org/1999/xlink">"#
            + ["type", "href", "role", "arcrole", "title", "show", "actuate", "label", "from", "to"]
            .map { #"<attribute name="\#($0)" type="string"/>"# }.joined() + "</schema>",
        "http://schemas.microsoft.com/2003/10/Serialization/": serialization,
        "http://microsoft.com/wsdl/types/": head
            + #"http://microsoft.com/wsdl/types/"><simpleType name="guid"><restriction base="string"/></simpleType>"#
            + #"<simpleType name="char"><restriction base="unsignedShort"/></simpleType></schema>"#,
        Namespace.addressing: addressing,
        Namespace.addressing2004: addressing2004,
        Namespace.security: head + Namespace.security + #"">"#
            + open(["Security", "UsernameToken", "BinarySecurityToken", "SecurityTokenReference", "KeyIdentifier"])
            + "</schema>",
        Namespace.securityUtility: head + Namespace.securityUtility
            + #""><attribute name="Id" type="ID"/><complexType name="AttributedDateTime"><simpleContent>"#
            + #"<extension base="string"/></simpleContent></complexType>"# + open(["Timestamp"]) + "</schema>",
        "http://www.w3.org/2000/09/xmldsig#": head + #"http://www.w3.org/2000/09/xmldsig#">"#
            + open([
                "Signature", "SignedInfo", "SignatureValue", "KeyInfo", "KeyValue", "Reference", "Transforms",
                "Transform",
                "DigestMethod", "DigestValue", "X509Data", "KeyName", "RSAKeyValue", "DSAKeyValue", "Object",
                "Manifest",
                "CanonicalizationMethod", "SignatureMethod", "SignatureProperties", "PGPData", "SPKIData",
                "RetrievalMethod",
            ])
            + #"<simpleType name="CryptoBinary"><restriction base="base64Binary"/></simpleType>"#
            + #"<simpleType name="DigestValueType"><restriction base="base64Binary"/></simpleType></schema>"#,
        "http://www.w3.org/2001/04/xmlenc#": head + #"http://www.w3.org/2001/04/xmlenc#">"#
            + open(["EncryptedData", "EncryptedKey", "EncryptionMethod", "CipherData", "ReferenceList"]) + "</schema>",
    ]

    private static let xmlAttributes =
        #"<attribute name="lang" type="language"/><attribute name="space" type="NCName"/><attribute name="base" type="anyURI"/>"#
        + #"<attribute name="id" type="ID"/><attributeGroup name="specialAttrs"><attribute name="lang" form="qualified"/>"#
        + #"<attribute name="space" form="qualified"/><attribute name="base" form="qualified"/></attributeGroup>"#

    /// Returns elements with any content, and types named after them.
    private static func open(_ names: [String]) -> String {
        names.map { name in
            #"<element name="\#(name)"><complexType mixed="true"><sequence><any minOccurs="0" maxOccurs="unbounded"/>"#
                + #"</sequence><anyAttribute/></complexType></element><complexType name="\#(name)Type" mixed="true">"#
                + #"<sequence><any minOccurs="0" maxOccurs="unbounded"/></sequence><anyAttribute/></complexType>"#
        }.joined()
    }

    private static func mime(_ namespace: String) -> String {
        func binary(_ name: String) -> String {
            #"<complexType name="\#(name)"><simpleContent><extension base="\#(name)">"#
                + #"<attribute name="contentType" form="qualified" type="string"/></extension></simpleContent></complexType>"#
        }
        return head + namespace + #""><attribute name="contentType" type="string"/>"#
            + #"<attribute name="expectedContentTypes" type="string"/>"# + binary("base64Binary")
            + binary("hexBinary") + "</schema>"
    }

    private static let serialization: String = {
        let builtIn = [
            "anyURI", "base64Binary", "boolean", "byte", "dateTime", "decimal", "double", "float", "int", "long",
            "QName", "short", "string", "unsignedByte", "unsignedInt", "unsignedLong", "unsignedShort", "anyType",
        ]
        return head
            + #"http://schemas.microsoft.com/2003/10/Serialization/" xmlns:t="http://schemas.microsoft.com/2003/10/Serialization/">"#
            + builtIn.map { #"<element name="\#($0)" nillable="true" type="\#($0)"/>"# }.joined()
            + #"<simpleType name="char"><restriction base="int"/></simpleType>"#
            + #"<simpleType name="duration"><restriction base="duration"/></simpleType>"#
            + #"<simpleType name="guid"><restriction base="string"/></simpleType>"#
            + ["char", "duration", "guid"].map { #"<element name="\#($0)" nillable="true" type="t:\#($0)"/>"# }.joined()
            + #"<attribute name="FactoryType" type="QName"/><attribute name="Id" type="ID"/>"#
            + #"<attribute name="Ref" type="IDREF"/></schema>"#
    }()

    private static func reference(_ name: String, _ elements: String) -> String {
        #"<complexType name="\#(name)"><sequence>\#(elements)<any minOccurs="0" maxOccurs="unbounded"/>"#
            + #"</sequence><anyAttribute/></complexType>"#
    }

    private static func attributed(_ name: String, _ base: String) -> String {
        #"<complexType name="\#(name)"><simpleContent><extension base="\#(base)"><anyAttribute/>"#
            + "</extension></simpleContent></complexType>"
    }

    private static let addressing =
        head + Namespace.addressing
        + #"" xmlns:a="http://www.w3.org/2005/08/addressing" elementFormDefault="qualified">"#
        + reference(
            "EndpointReferenceType",
            #"<element name="Address" type="a:AttributedURIType"/><element ref="a:ReferenceParameters" minOccurs="0"/><element ref="a:Metadata" minOccurs="0"/>"#
        ) + reference("ReferenceParametersType", "") + reference("MetadataType", "")
        + attributed("AttributedURIType", "anyURI") + attributed("AttributedQNameType", "QName")
        + attributed("AttributedUnsignedLongType", "unsignedLong")
        + #"<complexType name="RelatesToType"><simpleContent><extension base="anyURI"><attribute name="RelationshipType" type="anyURI"/></extension></simpleContent></complexType>"#
        + ["EndpointReference", "ReplyTo", "From", "FaultTo"].map {
            #"<element name="\#($0)" type="a:EndpointReferenceType"/>"#
        }.joined()
        + ["MessageID", "To", "Action"].map { #"<element name="\#($0)" type="a:AttributedURIType"/>"# }.joined()
        + #"<element name="RelatesTo" type="a:RelatesToType"/><element name="ReferenceParameters" type="a:ReferenceParametersType"/>"#
        + #"<element name="Metadata" type="a:MetadataType"/></schema>"#

    private static let addressing2004 =
        head + Namespace.addressing2004
        + #"" xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" elementFormDefault="qualified">"#
        + reference(
            "EndpointReferenceType",
            #"<element name="Address" type="a:AttributedURI"/><element name="ReferenceProperties" type="a:ReferencePropertiesType" minOccurs="0"/>"#
                + #"<element name="ReferenceParameters" type="a:ReferenceParametersType" minOccurs="0"/><element name="PortType" type="a:AttributedQName" minOccurs="0"/>"#
                + #"<element name="ServiceName" type="a:ServiceNameType" minOccurs="0"/>"#
        ) + reference("ReferencePropertiesType", "") + reference("ReferenceParametersType", "")
        + attributed("AttributedURI", "anyURI") + attributed("AttributedQName", "QName")
        + attributed("ServiceNameType", "QName") + attributed("Relationship", "anyURI")
        + ["EndpointReference", "ReplyTo", "From", "FaultTo"].map {
            #"<element name="\#($0)" type="a:EndpointReferenceType"/>"#
        }.joined()
        + ["MessageID", "To", "Action"].map { #"<element name="\#($0)" type="a:AttributedURI"/>"# }.joined()
        + #"<element name="RelatesTo" type="a:Relationship"/></schema>"#
}
