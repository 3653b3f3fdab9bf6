<?php

declare(strict_types=1);

// A small gazetteer for PHP's built-in server (php -S 127.0.0.1:PORT gazetteer.php): the WSDL of Examples/demo, seven
// subdivisions, at most five at once.

const ROWS = [
    ['CH-BE', 'Bern', 'Canton', 'CH', null],
    ['CH-GE', 'Genève', 'Canton', 'CH', null],
    ['CH-ZH', 'Zürich', 'Canton', 'CH', null],
    ['LI-01', 'Balzers', 'Commune', 'LI', null],
    ['LI-11', 'Vaduz', 'Commune', 'LI', null],
    ['LU-CA', 'Capellen', 'Canton', 'LU', null],
    ['LU-LU', 'Luxembourg & surroundings', 'Canton', 'LU', 'LU-CA'],
];

final class Gazetteer
{
    public function ListSubdivisions(object $request): array
    {
        if ($request->limit > 5) {
            $detail = ['limit' => $request->limit, 'largest' => 5];
            throw new SoapFault(
                'Client', "limit is {$request->limit}, at most 5 are given at once", null, $detail, 'LimitExceeded');
        }
        $rows = array_map(
            fn (array $row) => array_combine(['code', 'name', 'type', 'countryCode', 'parentCode'], $row), ROWS);
        return [
            'total' => count($rows),
            'subdivisions' => ['subdivision' => array_slice($rows, $request->offset, $request->limit)],
        ];
    }
}

$wsdl = str_replace(
    '@ENDPOINT@', 'http://' . $_SERVER['HTTP_HOST'] . '/gazetteer',
    file_get_contents(__DIR__ . '/../../Examples/demo/gazetteer.wsdl'));
header('Content-Type: text/xml; charset=utf-8');
if ($_SERVER['REQUEST_METHOD'] === 'GET') {
    echo $wsdl;
} else {
    $server = new SoapServer('data://text/xml;base64,' . base64_encode($wsdl), ['cache_wsdl' => WSDL_CACHE_NONE]);
    $server->setClass(Gazetteer::class);
    $server->handle();
}
