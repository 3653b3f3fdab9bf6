/// A service of PHP's SoapServer whose objects can be listed, read, created, updated and deleted.
enum ObjectService {
    static let files = ["server.php": script, "service.wsdl": wsdl]

    private static let script = #"""
        <?php
        $store = __DIR__ . '/store.json';
        function rows() { global $store; return is_file($store) ? json_decode(file_get_contents($store), true) : []; }
        function keep($rows) { global $store; file_put_contents($store, json_encode($rows)); }
        class Service {
            public function ListNotes($request) {
                return ['total' => count(rows()), 'notes' => ['note' => array_values(rows())]];
            }
            public function GetNote($request) {
                $rows = rows();
                if (!isset($rows[$request->noteId])) {
                    return new SoapFault('Client', 'no such note', null, (object)['NotFound' => (object)['id' => $request->noteId]]);
                }
                return ['note' => $rows[$request->noteId]];
            }
            public function AddNote($request) {
                $rows = rows();
                $row = (array)$request->note;
                if (($row['text'] ?? '') === 'fail') return new SoapFault('Server', 'the disk is full');
                $row['id'] = count($rows) + 1;
                $row['version'] = 1;
                $rows[$row['id']] = $row;
                keep($rows);
                if (($row['text'] ?? '') === 'slow') sleep(2);
                if (($row['text'] ?? '') === 'silent') exit(0);
                return ['note' => $row];
            }
            public function AddNoteFast($request) {
                $rows = rows();
                $row = (array)$request->note + ['version' => 1];
                $row['id'] = count($rows) + 1;
                $rows[$row['id']] = $row;
                keep($rows);
                return ['noteId' => $row['id']];
            }
            public function UpdateNote($request) {
                $rows = rows();
                $id = $request->noteId;
                if (!isset($rows[$id])) {
                    return new SoapFault('Client', 'no such note', null, (object)['NotFound' => (object)['id' => $id]]);
                }
                if (isset($request->note->version) && $request->note->version != $rows[$id]['version']) {
                    return new SoapFault('Client', 'it was changed', null,
                        (object)['Conflict' => (object)['version' => $rows[$id]['version']]]);
                }
                $rows[$id] = ['id' => $id, 'version' => $rows[$id]['version'] + 1] + (array)$request->note;
                keep($rows);
                return ['note' => $rows[$id]];
            }
            public function DeleteNote($request) {
                $rows = rows();
                if (!isset($rows[$request->noteId])) {
                    return new SoapFault('Client', 'no such note', null, (object)['NotFound' => (object)['id' => $request->noteId]]);
                }
                unset($rows[$request->noteId]);
                keep($rows);
                return ['deleted' => true];
            }
        }
        $wsdl = str_replace('@HOST@', $_SERVER['HTTP_HOST'], file_get_contents(__DIR__ . '/service.wsdl'));
        if ($_SERVER['REQUEST_METHOD'] === 'GET') {
            header('Content-Type: text/xml');
            echo $wsdl;
            return;
        }
        file_put_contents(__DIR__ . '/requests.log', file_get_contents('php://input') . "\n\n", FILE_APPEND);
        $server = new SoapServer('data://text/xml;base64,' . base64_encode($wsdl), ['cache_wsdl' => WSDL_CACHE_NONE,
            'soap_version' => parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) === '/v12' ? SOAP_1_2 : SOAP_1_1,
            'features' => SOAP_SINGLE_ELEMENT_ARRAYS]);
        $server->setClass('Service');
        $server->handle();
        """#

    private static let names = ["ListNotes", "GetNote", "AddNote", "AddNoteFast", "UpdateNote", "DeleteNote"]

    private static func binding(_ name: String, _ prefix: String) -> String {
        #"<binding name="\#(name)" type="t:Notes"><\#(prefix):binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>"#
            + names.map {
                #"<operation name="\#($0)"><\#(prefix):operation soapAction="urn:notes/\#($0)"/><input><\#(prefix):body use="literal"/>"#
                    + #"</input><output><\#(prefix):body use="literal"/></output></operation>"#
            }.joined() + "</binding>"
    }

    private static let wsdl = #"""
        <?xml version="1.0" encoding="UTF-8"?>
        <definitions name="Notes" targetNamespace="urn:notes" xmlns="http://schemas.xmlsoap.org/wsdl/"
            xmlns:t="urn:notes" xmlns:xs="http://www.w3.org/2001/XMLSchema"
            xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/">
          <types><xs:schema targetNamespace="urn:notes" elementFormDefault="qualified">
            <xs:complexType name="Note"><xs:sequence>
              <xs:element name="id" type="xs:int" minOccurs="0"/><xs:element name="version" type="xs:int" minOccurs="0"/>
              <xs:element name="text" type="xs:string"/><xs:element name="price" type="xs:decimal" minOccurs="0"/>
              <xs:element name="due" type="xs:dateTime" minOccurs="0" nillable="true"/>
              <xs:element name="tag" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
              <xs:element name="authorId" type="xs:int" minOccurs="0"/>
            </xs:sequence></xs:complexType>
            <xs:complexType name="Notes"><xs:sequence>
              <xs:element name="note" type="t:Note" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
            <xs:element name="ListNotes"><xs:complexType><xs:sequence>
              <xs:element name="offset" type="xs:int" minOccurs="0"/><xs:element name="limit" type="xs:int" minOccurs="0"/>
            </xs:sequence></xs:complexType></xs:element>
            <xs:element name="ListNotesResponse"><xs:complexType><xs:sequence>
              <xs:element name="total" type="xs:int"/><xs:element name="notes" type="t:Notes"/>
            </xs:sequence></xs:complexType></xs:element>
            <xs:element name="GetNote"><xs:complexType><xs:sequence><xs:element name="noteId" type="xs:int"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="GetNoteResponse"><xs:complexType><xs:sequence><xs:element name="note" type="t:Note"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="AddNote"><xs:complexType><xs:sequence><xs:element name="note" type="t:Note"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="AddNoteResponse"><xs:complexType><xs:sequence><xs:element name="note" type="t:Note"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="AddNoteFast"><xs:complexType><xs:sequence><xs:element name="note" type="t:Note"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="AddNoteFastResponse"><xs:complexType><xs:sequence><xs:element name="noteId" type="xs:int"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="UpdateNote"><xs:complexType><xs:sequence>
              <xs:element name="noteId" type="xs:int"/><xs:element name="note" type="t:Note"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="UpdateNoteResponse"><xs:complexType><xs:sequence><xs:element name="note" type="t:Note"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="DeleteNote"><xs:complexType><xs:sequence><xs:element name="noteId" type="xs:int"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="DeleteNoteResponse"><xs:complexType><xs:sequence><xs:element name="deleted" type="xs:boolean"/></xs:sequence></xs:complexType></xs:element>
          </xs:schema></types>
        """#
        + names.map {
            #"<message name="\#($0)In"><part name="parameters" element="t:\#($0)"/></message>"#
                + #"<message name="\#($0)Out"><part name="parameters" element="t:\#($0)Response"/></message>"#
        }.joined()
        + #"<portType name="Notes">"#
        + names.map {
            #"<operation name="\#($0)"><input message="t:\#($0)In"/><output message="t:\#($0)Out"/></operation>"#
        }.joined()
        + "</portType>" + binding("Notes11", "soap") + binding("Notes12", "soap12")
            + #"""
            <service name="Notes">
              <port name="Notes11" binding="t:Notes11"><soap:address location="http://@HOST@/v11"/></port>
              <port name="Notes12" binding="t:Notes12"><soap12:address location="http://@HOST@/v12"/></port>
            </service></definitions>
            """#
}
