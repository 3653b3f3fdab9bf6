<?php
class Owner { public $name; public $age; }
class Item { public $id; public $price; public $owner; public $tags; public $made; }
class Service {
    public function listItems($from, $count, $names) {
        $owner = new Owner(); $owner->name = 'Ann & <b>'; $owner->age = 7;
        $items = [];
        for ($i = $from; $i < min(250, $from + $count); $i++) {
            $item = new Item();
            $item->id = $i; $item->price = '0.10'; $item->owner = $owner; $item->made = '2020-01-02';
            $item->tags = $i % 2 ? ['a', $names[0] ?? 'none'] : [];
            $items[] = $item;
        }
        return $items;
    }
    public function echoItem($item) {
        $item->price = $item->price . '0';
        return $item;
    }
}
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$wsdl = str_replace('@HOST@', $_SERVER['HTTP_HOST'], file_get_contents(__DIR__ . '/service.wsdl'));
if ($_SERVER['REQUEST_METHOD'] === 'GET') {
    header('Content-Type: text/xml');
    echo $wsdl;
    return;
}
file_put_contents(__DIR__ . '/request.xml', file_get_contents('php://input'));
$server = new SoapServer('data://text/xml;base64,' . base64_encode($wsdl), ['cache_wsdl' => WSDL_CACHE_NONE,
    'soap_version' => $path === '/v12' ? SOAP_1_2 : SOAP_1_1, 'features' => SOAP_SINGLE_ELEMENT_ARRAYS]);
$server->setClass('Service');
$server->handle();
