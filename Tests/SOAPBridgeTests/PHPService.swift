/// A service of PHP's SoapServer: 2,345 products, both versions of SOAP, document/literal and rpc/literal.
enum PHPService {
    static let files = ["server.php": script, "service.wsdl": wsdl]

    static let count = 2_345

    private static let script = #"""
        <?php
        class Service {
            private function row($i) {
                $row = ['id' => $i, 'name' => "Product & <$i> \u{1F600} é", 'price' => '10.10',
                    'ratio' => $i / 2, 'active' => $i % 2 == 0, 'image' => "\x00\xFF$i", 'note' => $i % 3 ? "n$i" : null,
                    'tag' => $i % 5 == 0 ? [] : ($i % 5 == 1 ? ['only'] : ['a', 'b']), 'kind' => "k$i"];
                return $row;
            }
            public function ListProducts($request) {
                $start = isset($request->paging) ? $request->paging->offset : ($request->page - 1) * $request->limit;
                if ($start > 100000) {
                    return new SoapFault('Client', 'offset is too large', null, (object)['BadOffset' => (object)['largest' => 100000]]);
                }
                $rows = [];
                for ($i = $start; $i < min(2345, $start + $request->limit); $i++) $rows[] = $this->row($i);
                return ['total' => 2345, 'products' => ['product' => $rows]];
            }
            public function CountTo($n) {
                $rows = [];
                for ($i = 1; $i <= $n; $i++) $rows[] = $this->row($i);
                return ['product' => $rows];
            }
        }
        $path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
        $wsdl = str_replace('@HOST@', $_SERVER['HTTP_HOST'], file_get_contents(__DIR__ . '/service.wsdl'));
        if ($_SERVER['REQUEST_METHOD'] === 'GET') {
            header('Content-Type: text/xml');
            echo $wsdl;
            return;
        }
        file_put_contents(__DIR__ . '/requests.log', json_encode([
            'type' => $_SERVER['CONTENT_TYPE'] ?? '', 'action' => $_SERVER['HTTP_SOAPACTION'] ?? null,
            'auth' => $_SERVER['HTTP_AUTHORIZATION'] ?? null]) . "\n", FILE_APPEND);
        if ($path === '/cdata') {
            header('Content-Type: text/xml; charset=utf-8');
            echo '<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>',
                '<p:ListProductsResponse xmlns:p="urn:products"><p:total>1</p:total><p:products><p:product kind="&amp;">',
                '<p:id>1</p:id><p:name><![CDATA[<b>&amp;</b>]]> &amp; more</p:name></p:product></p:products>',
                '</p:ListProductsResponse></s:Body></s:Envelope>';
            return;
        }
        $server = new SoapServer('data://text/xml;base64,' . base64_encode($wsdl), ['cache_wsdl' => WSDL_CACHE_NONE,
            'soap_version' => $path === '/v12' ? SOAP_1_2 : SOAP_1_1, 'features' => SOAP_SINGLE_ELEMENT_ARRAYS]);
        $server->setClass('Service');
        $server->handle();
        """#

    private static let wsdl = #"""
        <?xml version="1.0" encoding="UTF-8"?>
        <definitions name="Products" targetNamespace="urn:products" xmlns="http://schemas.xmlsoap.org/wsdl/"
            xmlns:t="urn:products" xmlns:xs="http://www.w3.org/2001/XMLSchema"
            xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/">
          <types><xs:schema targetNamespace="urn:products" elementFormDefault="qualified">
            <xs:complexType name="Product"><xs:sequence>
              <xs:element name="id" type="xs:int"/><xs:element name="name" type="xs:string"/>
              <xs:element name="price" type="xs:decimal"/><xs:element name="ratio" type="xs:double"/>
              <xs:element name="active" type="xs:boolean"/><xs:element name="image" type="xs:base64Binary"/>
              <xs:element name="note" type="xs:string" nillable="true"/>
              <xs:element name="tag" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
            </xs:sequence><xs:attribute name="kind" type="xs:string"/></xs:complexType>
            <xs:complexType name="Products"><xs:sequence>
              <xs:element name="product" type="t:Product" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
            <xs:complexType name="Paging"><xs:sequence><xs:element name="offset" type="xs:int"/></xs:sequence></xs:complexType>
            <xs:element name="ListProducts"><xs:complexType><xs:sequence>
              <xs:element name="paging" type="t:Paging" minOccurs="0"/><xs:element name="page" type="xs:int" minOccurs="0"/>
              <xs:element name="limit" type="xs:int"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="ListProductsResponse"><xs:complexType><xs:sequence>
              <xs:element name="total" type="xs:int"/><xs:element name="products" type="t:Products"/>
            </xs:sequence></xs:complexType></xs:element>
          </xs:schema></types>
          <message name="ListIn"><part name="parameters" element="t:ListProducts"/></message>
          <message name="ListOut"><part name="parameters" element="t:ListProductsResponse"/></message>
          <message name="CountIn"><part name="n" type="xs:int"/></message>
          <message name="CountOut"><part name="result" type="t:Products"/></message>
          <portType name="Products">
            <operation name="ListProducts"><input message="t:ListIn"/><output message="t:ListOut"/></operation>
          </portType>
          <portType name="Counter">
            <operation name="CountTo"><input message="t:CountIn"/><output message="t:CountOut"/></operation>
          </portType>
          <binding name="Products11" type="t:Products">
            <soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
            <operation name="ListProducts"><soap:operation soapAction="urn:products/List"/>
              <input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation>
          </binding>
          <binding name="Products12" type="t:Products">
            <soap12:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
            <operation name="ListProducts"><soap12:operation soapAction="urn:products/List"/>
              <input><soap12:body use="literal"/></input><output><soap12:body use="literal"/></output></operation>
          </binding>
          <binding name="Counter11" type="t:Counter">
            <soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>
            <operation name="CountTo"><soap:operation soapAction="urn:products/CountTo"/>
              <input><soap:body use="literal" namespace="urn:counter"/></input>
              <output><soap:body use="literal" namespace="urn:counter"/></output></operation>
          </binding>
          <service name="Products">
            <port name="Products11" binding="t:Products11"><soap:address location="http://@HOST@/v11"/></port>
            <port name="Products12" binding="t:Products12"><soap12:address location="http://@HOST@/v12"/></port>
            <port name="Counter11" binding="t:Counter11"><soap:address location="http://@HOST@/v11"/></port>
          </service>
        </definitions>
        """#
}
