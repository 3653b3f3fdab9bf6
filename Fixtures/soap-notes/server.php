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
