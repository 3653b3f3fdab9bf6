import TestSupport

/// One service on several SOAP stacks of others: 10,500 items, some of them books, for who sends the right header.
enum CatalogService {
    static let count = 10_500

    static func php() async throws -> LoopbackServer {
        try await LoopbackServer.php(["server.php": phpScript, "service.wsdl": wsdl], router: "server.php")
    }

    static func spyne() async throws -> LoopbackServer {
        try await LoopbackServer(
            [SpyneService.python, "-u", "server.py"], files: ["server.py": spyneScript], marker: "port ")
    }

    private static let phpScript = #"""
        <?php
        class Item {}
        class Book extends Item {}
        $store = __DIR__ . '/store.json';
        class Service {
            private $known = false;
            private function made($i) {
                $item = $i % 3 == 0 ? new Book() : new Item();
                $item->id = $i; $item->name = "Item & <$i> \u{e9}"; $item->price = $i . '.50';
                $item->image = "\x00\xFF$i"; $item->note = $i % 2 ? null : "n$i";
                if ($i % 3 == 0) $item->pages = $i * 10;
                return $item;
            }
            private function changed() {
                global $store;
                return is_file($store) ? unserialize(file_get_contents($store)) : [];
            }
            private function keep($id, $item) {
                global $store;
                $all = $this->changed();
                $all[$id] = $item;
                file_put_contents($store, serialize($all));
            }
            private function check() { if (!$this->known) throw new SoapFault('Client', 'who are you?', null, (object)['Refused' => true]); }
            private function item($id) {
                $changed = $this->changed();
                $item = array_key_exists($id, $changed) ? $changed[$id] : ($id >= 0 && $id < 10500 ? $this->made($id) : null);
                if ($item === null) {
                    throw new SoapFault('Client', 'no such item', null, (object)['UnknownItem' => (object)['id' => $id]]);
                }
                return $item;
            }
            // The header block is a call of its own, before the body's.
            public function Login($header) { $this->known = $header->key === 'sesame'; }
            public function ListItems($request) {
                $this->check();
                $items = [];
                for ($i = $request->offset; $i < min(10500, $request->offset + $request->limit); $i++) $items[] = $this->made($i);
                return ['total' => 10500, 'items' => ['item' => $items]];
            }
            public function GetItem($request) { $this->check(); return ['item' => $this->item($request->id)]; }
            public function AddItem($request) {
                $this->check();
                $request->item->id = 20000;
                $this->keep(20000, $request->item);
                return ['item' => $request->item];
            }
            public function UpdateItem($request) {
                $this->check();
                $this->item($request->id);
                $request->item->id = $request->id;
                $this->keep($request->id, $request->item);
                return ['item' => $request->item];
            }
            public function DeleteItem($request) {
                $this->check();
                $this->item($request->id);
                $this->keep($request->id, null);
                return ['deleted' => true];
            }
        }
        $wsdl = str_replace('@HOST@', $_SERVER['HTTP_HOST'], file_get_contents(__DIR__ . '/service.wsdl'));
        if ($_SERVER['REQUEST_METHOD'] === 'GET') {
            header('Content-Type: text/xml');
            echo $wsdl;
            return;
        }
        $server = new SoapServer('data://text/xml;base64,' . base64_encode($wsdl), ['cache_wsdl' => WSDL_CACHE_NONE,
            'soap_version' => parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) === '/v12' ? SOAP_1_2 : SOAP_1_1,
            'features' => SOAP_SINGLE_ELEMENT_ARRAYS, 'classmap' => ['Item' => 'Item', 'Book' => 'Book']]);
        $server->setClass('Service');
        $server->handle();
        """#

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

    private static let spyneScript = #"""
        import decimal, logging
        from socketserver import ThreadingMixIn
        from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
        from spyne import Application, Boolean, ByteArray, ComplexModel, Decimal, Fault, Integer, ServiceBase, Unicode, rpc
        from spyne.protocol.soap import Soap11, Soap12
        from spyne.server.wsgi import WsgiApplication
        from spyne.util.wsgi_wrapper import WsgiMounter

        NS = 'urn:catalog'
        COUNT = 10500
        changed = {}

        class Login(ComplexModel):
            __namespace__ = NS
            user = Unicode
            key = Unicode

        class Item(ComplexModel):
            __namespace__ = NS
            id = Integer
            name = Unicode
            price = Decimal
            image = ByteArray
            note = Unicode(min_occurs=1, nillable=True)

        class Book(Item):
            __namespace__ = NS
            pages = Integer

        class Page(ComplexModel):
            __namespace__ = NS
            total = Integer
            items = Item.customize(max_occurs='unbounded', min_occurs=0)

        def made(i):
            kind, more = (Book, {'pages': i * 10}) if i % 3 == 0 else (Item, {})
            return kind(id=i, name='Item & <%d> \u00e9' % i, price=decimal.Decimal('%d.50' % i),
                        image=[b'\x00\xff%d' % i], note=None if i % 2 else 'n%d' % i, **more)

        def check(ctx):
            if ctx.in_header is None or ctx.in_header.key != 'sesame':
                raise Fault('Client.Login', 'who are you?', detail={'Refused': 'true'})

        def find(id):
            item = changed[id] if id in changed else made(id) if 0 <= id < COUNT else None
            if item is None:
                raise Fault('Client', 'no such item', detail={'UnknownItem': {'id': str(id)}})
            return item

        class Catalog(ServiceBase):
            __in_header__ = Login

            @rpc(Integer, Integer, _returns=Page)
            def ListItems(ctx, offset, limit):
                check(ctx)
                return Page(total=COUNT, items=[made(i) for i in range(offset, min(COUNT, offset + limit))])

            @rpc(Integer, _returns=Item)
            def GetItem(ctx, id):
                check(ctx)
                return find(id)

            @rpc(Item, _returns=Item)
            def AddItem(ctx, item):
                check(ctx)
                item.id = 20000
                changed[20000] = item
                return item

            @rpc(Integer, Item, _returns=Item)
            def UpdateItem(ctx, id, item):
                check(ctx)
                find(id)
                item.id = id
                changed[id] = item
                return item

            @rpc(Integer, _returns=Boolean)
            def DeleteItem(ctx, id):
                check(ctx)
                find(id)
                changed[id] = None
                return True

        def app(protocol):
            return WsgiApplication(Application(
                [Catalog], NS, name='Catalog', in_protocol=protocol(validator='lxml'), out_protocol=protocol(polymorphic=True)))

        class Server(ThreadingMixIn, WSGIServer):
            daemon_threads = True

        class Handler(WSGIRequestHandler):
            def log_message(self, *args): pass

        logging.disable(logging.CRITICAL)
        server = make_server('127.0.0.1', 0, WsgiMounter({'v11': app(Soap11), 'v12': app(Soap12)}), Server, Handler)
        print('port', server.server_address[1], flush=True)
        server.serve_forever()
        """#
}
