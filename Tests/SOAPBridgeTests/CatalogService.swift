import TestSupport

/// One service on several SOAP stacks of others: 10,500 items, some of them books, for who sends the right header.
enum CatalogService {
    static let count = 10_500

    static func php() async throws -> RemoteServer {
        try await RemoteServer.php(["server.php": phpScript, "service.wsdl": wsdl], router: "server.php")
    }

    static func spyne() async throws -> RemoteServer {
        try await RemoteServer.python("spyne-catalog.py", interpreter: SpyneService.python)
    }

    private static let phpScript = TestServers.text("catalog.php")

    private static let operations = ["ListItems", "GetItem", "AddItem", "UpdateItem", "DeleteItem"]

    private static func binding(_ name: String, _ prefix: String) -> String {
        let body = #"<\#(prefix):body use="literal"/>"#
        let header = #"<\#(prefix):header message="t:LoginHeader" part="login" use="literal"/>"#
        return
            #"<binding name="\#(name)" type="t:Catalog"><\#(prefix):binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>"#
            + operations.map {
                #"<operation name="\#($0)"><\#(prefix):operation soapAction="urn:catalog/\#($0)"/>"#
                    + "<input>\(body)\(header)</input><output>\(body)</output></operation>"
            }.joined() + "</binding>"
    }

    private static let wsdl =
        #"""
        <?xml version="1.0" encoding="UTF-8"?>
        <definitions name="Catalog" targetNamespace="urn:catalog" xmlns="http://schemas.xmlsoap.org/wsdl/"
            xmlns:t="urn:catalog" xmlns:xs="http://www.w3.org/2001/XMLSchema"
            xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/">
          <types><xs:schema targetNamespace="urn:catalog" elementFormDefault="qualified">
            <xs:complexType name="Item"><xs:sequence>
              <xs:element name="id" type="xs:int" minOccurs="0"/><xs:element name="name" type="xs:string"/>
              <xs:element name="price" type="xs:decimal"/><xs:element name="image" type="xs:base64Binary" minOccurs="0"/>
              <xs:element name="note" type="xs:string" nillable="true"/>
            </xs:sequence></xs:complexType>
            <xs:complexType name="Book"><xs:complexContent><xs:extension base="t:Item"><xs:sequence>
              <xs:element name="pages" type="xs:int" minOccurs="0"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
            <xs:complexType name="Items"><xs:sequence>
              <xs:element name="item" type="t:Item" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
            <xs:element name="Login"><xs:complexType><xs:sequence>
              <xs:element name="user" type="xs:string"/><xs:element name="key" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="ListItems"><xs:complexType><xs:sequence>
              <xs:element name="offset" type="xs:int"/><xs:element name="limit" type="xs:int"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="ListItemsResponse"><xs:complexType><xs:sequence>
              <xs:element name="total" type="xs:int"/><xs:element name="items" type="t:Items"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="GetItem"><xs:complexType><xs:sequence><xs:element name="id" type="xs:int"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="GetItemResponse"><xs:complexType><xs:sequence><xs:element name="item" type="t:Item"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="AddItem"><xs:complexType><xs:sequence><xs:element name="item" type="t:Item"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="AddItemResponse"><xs:complexType><xs:sequence><xs:element name="item" type="t:Item"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="UpdateItem"><xs:complexType><xs:sequence>
              <xs:element name="id" type="xs:int"/><xs:element name="item" type="t:Item"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="UpdateItemResponse"><xs:complexType><xs:sequence><xs:element name="item" type="t:Item"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="DeleteItem"><xs:complexType><xs:sequence><xs:element name="id" type="xs:int"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="DeleteItemResponse"><xs:complexType><xs:sequence><xs:element name="deleted" type="xs:boolean"/></xs:sequence></xs:complexType></xs:element>
          </xs:schema></types>
          <message name="LoginHeader"><part name="login" element="t:Login"/></message>
        """#
        + operations.map {
            #"<message name="\#($0)In"><part name="parameters" element="t:\#($0)"/></message>"#
                + #"<message name="\#($0)Out"><part name="parameters" element="t:\#($0)Response"/></message>"#
        }.joined() + #"<portType name="Catalog">"#
        + operations.map {
            #"<operation name="\#($0)"><input message="t:\#($0)In"/><output message="t:\#($0)Out"/></operation>"#
        }.joined() + "</portType>" + binding("Catalog11", "soap") + binding("Catalog12", "soap12")
            + #"""
            <service name="Catalog">
              <port name="Catalog11" binding="t:Catalog11"><soap:address location="http://@HOST@/v11"/></port>
              <port name="Catalog12" binding="t:Catalog12"><soap12:address location="http://@HOST@/v12"/></port>
            </service></definitions>
            """#

}
