<?php

declare(strict_types=1);

// The demo's SOAP server: PHP's SoapServer in WSDL mode, behind PHP's built-in server
// (php -S 127.0.0.1:PORT soap.php). The contract is gazetteer.wsdl, served at /gazetteer.wsdl and /gazetteer?wsdl.
//
// DEMO_FAULTS names a file of lines, read for each request:
//   delay MILLISECONDS      waits before it answers
//   soap-fault MESSAGE      answers with that fault

require __DIR__ . '/iso_codes.php';

const LARGEST_LIMIT = 2000;

/** The operations, one method each. Arguments and results are wrapped (document/literal). */
final class Gazetteer
{
    public function ListSubdivisions(object $request): array
    {
        if ($request->limit > LARGEST_LIMIT) {
            throw $this->fault(
                "limit is {$request->limit}, at most " . LARGEST_LIMIT . ' are given at once',
                'LimitExceeded',
                ['limit' => $request->limit, 'largest' => LARGEST_LIMIT],
            );
        }
        $rows = subdivisions();
        $page = array_slice($rows, max(0, $request->offset), max(0, $request->limit));
        return ['total' => count($rows), 'subdivisions' => ['subdivision' => $page]];
    }

    public function GetSubdivision(object $request): array
    {
        foreach (subdivisions() as $row) {
            if ($row['code'] === $request->code) {
                return ['subdivision' => $row];
            }
        }
        throw $this->fault(
            "there is no subdivision {$request->code}",
            'UnknownSubdivision',
            ['code' => $request->code],
        );
    }

    private function fault(string $message, string $name, array $detail): SoapFault
    {
        return new SoapFault('Client', $message, null, $detail, $name);
    }
}

$endpoint = 'http://' . $_SERVER['HTTP_HOST'] . '/gazetteer';
$wsdl = str_replace('@ENDPOINT@', $endpoint, file_get_contents(__DIR__ . '/gazetteer.wsdl'));
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$faults = faults();
if (isset($faults['delay'])) {
    usleep(1000 * (int) $faults['delay']);
}

if ($path !== '/gazetteer' && $path !== '/gazetteer.wsdl') {
    http_response_code(404);
    header('Content-Type: text/plain');
    echo "The service is at /gazetteer, its description at /gazetteer.wsdl.\n";
} elseif ($_SERVER['REQUEST_METHOD'] === 'GET') {
    header('Content-Type: text/xml; charset=utf-8');
    echo $wsdl;
} else {
    // No cache: it would leave files in /tmp that describe another port.
    $server = new SoapServer(
        'data://text/xml;base64,' . base64_encode($wsdl),
        ['cache_wsdl' => WSDL_CACHE_NONE],
    );
    $server->setClass(Gazetteer::class);
    if (isset($faults['soap-fault'])) {
        $server->fault('Server', $faults['soap-fault']);
    }
    $server->handle();
}
