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
