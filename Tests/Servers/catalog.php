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
