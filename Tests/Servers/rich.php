<?php
$store = __DIR__ . '/store.xml';
$first = '<t:id>1</t:id><t:name>their name</t:name><t:title>their title</t:title>'
    . '<t:size t:scale="2" unit="cm"><t:width>3</t:width><t:height>4.50</t:height></t:size>'
    . '<t:tags><t:tag>a</t:tag><t:tag>b</t:tag></t:tags><t:code>00FF</t:code><t:price currency="EUR">9.90</t:price>'
    . '<o:extra xmlns:o="urn:other" o:mark="m"><o:deep>kept</o:deep></o:extra><t:volts>230</t:volts>';
$uri = 'http://' . $_SERVER['HTTP_HOST'];
if ($_SERVER['REQUEST_METHOD'] === 'GET') {
    header('Content-Type: text/xml');
    echo str_replace('@URL@', $uri, file_get_contents(__DIR__ . '/service.wsdl'));
    return;
}
$body = file_get_contents('php://input');
preg_match('/Envelope([^>]*)>.*Body><(?:\w+:)?(\w+)/s', $body, $found);
[, $namespaces, $call] = $found;
$things = is_file($store) ? file_get_contents($store)
    : '<g:thing xmlns:g="urn:things" xmlns:x="http://www.w3.org/2001/XMLSchema-instance" x:type="g:Gadget" kind="k">'
        . str_replace('t:', 'g:', $first) . '</g:thing>';
if ($call === 'UpdateThing') {
    file_put_contents(__DIR__ . '/requests.log', $body);
    // What it gets replaces what it had.
    preg_match('/<(\w+):thing(.*)<\/\1:thing>/s', $body, $thing);
    $things = "<$thing[1]:thing$namespaces$thing[2]</$thing[1]:thing>";
    file_put_contents($store, $things);
}
$odd = file_exists(__DIR__ . '/odd') ? file_get_contents(__DIR__ . '/odd') : '';
header('Content-Type: text/xml');
echo '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><r:', $call,
    'Response xmlns:r="urn:things">', $odd ?: $things, '</r:', $call, 'Response></s:Body></s:Envelope>';
