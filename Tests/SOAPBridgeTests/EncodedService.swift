import TestSupport

/// A service of PHP's SoapServer in SOAP encoding, 1.1 and 1.2: arrays, an object that two others share, typed requests.
enum EncodedService {
    static let files = ["server.php": script, "service.wsdl": wsdl]

    private static let script = TestServers.text("encoded.php")

    private static func binding(_ prefix: String, _ name: String, _ encoding: String) -> String {
        let operations = ["listItems", "echoItem"].map { operation in
            let body = #"<\#(prefix):body use="encoded" namespace="urn:enc" encodingStyle="\#(encoding)"/>"#
            return #"<operation name="\#(operation)"><\#(prefix):operation soapAction="urn:enc#\#(operation)"/>"#
                + "<input>\(body)</input><output>\(body)</output></operation>"
        }
        return
            #"<binding name="\#(name)" type="t:Items"><\#(prefix):binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>"#
            + operations.joined() + "</binding>"
    }

    private static let wsdl =
        #"""
        <?xml version="1.0" encoding="UTF-8"?>
        <definitions name="Items" targetNamespace="urn:enc" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:enc"
            xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/"
            xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
            xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/">
          <types><xsd:schema targetNamespace="urn:enc">
            <xsd:import namespace="http://schemas.xmlsoap.org/soap/encoding/"/>
            <xsd:complexType name="Owner"><xsd:all><xsd:element name="name" type="xsd:string"/>
              <xsd:element name="age" type="xsd:int"/></xsd:all></xsd:complexType>
            <xsd:complexType name="Item"><xsd:all><xsd:element name="id" type="xsd:int"/>
              <xsd:element name="price" type="xsd:decimal"/><xsd:element name="owner" type="t:Owner"/>
              <xsd:element name="tags" type="t:Strings"/><xsd:element name="made" type="xsd:date"/></xsd:all></xsd:complexType>
            <xsd:complexType name="Strings"><xsd:complexContent><xsd:restriction base="soapenc:Array">
              <xsd:attribute ref="soapenc:arrayType" wsdl:arrayType="xsd:string[]"/></xsd:restriction></xsd:complexContent></xsd:complexType>
            <xsd:complexType name="ItemArray"><xsd:complexContent><xsd:restriction base="soapenc:Array">
              <xsd:attribute ref="soapenc:arrayType" wsdl:arrayType="t:Item[]"/></xsd:restriction></xsd:complexContent></xsd:complexType>
          </xsd:schema></types>
          <message name="listIn"><part name="from" type="xsd:int"/><part name="count" type="xsd:int"/>
            <part name="names" type="t:Strings"/></message>
          <message name="listOut"><part name="return" type="t:ItemArray"/></message>
          <message name="echoIn"><part name="item" type="t:Item"/></message>
          <message name="echoOut"><part name="return" type="t:Item"/></message>
          <portType name="Items">
            <operation name="listItems"><input message="t:listIn"/><output message="t:listOut"/></operation>
            <operation name="echoItem"><input message="t:echoIn"/><output message="t:echoOut"/></operation>
          </portType>
        """#
        + binding("soap", "B11", "http://schemas.xmlsoap.org/soap/encoding/")
        + binding("soap12", "B12", "http://www.w3.org/2003/05/soap-encoding") + #"""
              <service name="Items">
                <port name="P11" binding="t:B11"><soap:address location="http://@HOST@/v11"/></port>
                <port name="P12" binding="t:B12"><soap12:address location="http://@HOST@/v12"/></port>
              </service>
            </definitions>
            """#
}
