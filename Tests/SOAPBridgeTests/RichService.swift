import TestSupport

/// Services whose objects have nested objects, attributes, lists in wrappers, bytes and derived types.
enum RichService {
    /// PHP's SoapServer: `GetThing` and `ListThings` bring things, `UpdateThing` replaces one, `UpdateLabel` takes less.
    static func php() async throws -> RemoteServer {
        try await RemoteServer.php(["server.php": script, "service.wsdl": wsdl], router: "server.php")
    }

    private static let script = TestServers.text("rich.php")

    private static let operations = ["GetThing", "ListThings", "UpdateThing", "UpdateLabel"]

    private static let wsdl =
        #"""
        <definitions name="Things" targetNamespace="urn:things" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:things"
            xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
          <types><xs:schema targetNamespace="urn:things" elementFormDefault="qualified">
            <xs:complexType name="Size"><xs:sequence><xs:element name="width" type="xs:int"/>
              <xs:element name="height" type="xs:decimal"/></xs:sequence>
              <xs:attribute name="unit" type="xs:string"/><xs:anyAttribute/></xs:complexType>
            <xs:complexType name="ArrayOfString"><xs:sequence>
              <xs:element name="tag" type="xs:string" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
            <xs:complexType name="Price"><xs:simpleContent><xs:extension base="xs:decimal">
              <xs:attribute name="currency" type="xs:string"/></xs:extension></xs:simpleContent></xs:complexType>
            <xs:complexType name="Thing"><xs:sequence>
              <xs:element name="id" type="xs:int"/><xs:element name="name" type="xs:string"/>
              <xs:element name="title" type="xs:string" minOccurs="0"/>
              <xs:element name="size" type="t:Size" minOccurs="0"/><xs:element name="tags" type="t:ArrayOfString" minOccurs="0"/>
              <xs:element name="code" type="xs:hexBinary" minOccurs="0"/><xs:element name="price" type="t:Price" minOccurs="0"/>
              <xs:any namespace="##other" processContents="lax" minOccurs="0"/>
            </xs:sequence><xs:attribute name="kind" type="xs:string" use="required"/></xs:complexType>
            <xs:complexType name="Gadget"><xs:complexContent><xs:extension base="t:Thing"><xs:sequence>
              <xs:element name="volts" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
            <xs:complexType name="Label"><xs:sequence><xs:element name="id" type="xs:int"/>
              <xs:element name="title" type="xs:string" minOccurs="0"/><xs:element name="colour" type="xs:string" minOccurs="0"/>
            </xs:sequence></xs:complexType>
            <xs:complexType name="One"><xs:sequence><xs:element name="thing" type="t:Thing" minOccurs="0"/></xs:sequence></xs:complexType>
            <xs:element name="GetThing"><xs:complexType><xs:sequence><xs:element name="id" type="xs:int"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="ListThings"><xs:complexType/></xs:element>
            <xs:element name="UpdateThing" type="t:One"/>
            <xs:element name="UpdateLabel"><xs:complexType><xs:sequence><xs:element name="label" type="t:Label"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="GetThingResponse" type="t:One"/><xs:element name="UpdateThingResponse" type="t:One"/>
            <xs:element name="UpdateLabelResponse" type="t:One"/>
            <xs:element name="ListThingsResponse"><xs:complexType><xs:sequence>
              <xs:element name="thing" type="t:Thing" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
          </xs:schema></types>
        """#
        + operations.map {
            #"<message name="\#($0)In"><part name="p" element="t:\#($0)"/></message>"#
                + #"<message name="\#($0)Out"><part name="p" element="t:\#($0)Response"/></message>"#
        }.joined() + #"<portType name="Things">"#
        + operations.map {
            #"<operation name="\#($0)"><input message="t:\#($0)In"/><output message="t:\#($0)Out"/></operation>"#
        }.joined()
        + #"</portType><binding name="Things" type="t:Things"><soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>"#
        + operations.map {
            #"<operation name="\#($0)"><soap:operation soapAction="\#($0)"/><input><soap:body use="literal"/></input>"#
                + #"<output><soap:body use="literal"/></output></operation>"#
        }.joined()
        + #"</binding><service name="Things"><port name="Things" binding="t:Things"><soap:address location="@URL@/s"/></port></service></definitions>"#
}
