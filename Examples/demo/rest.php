<?php

declare(strict_types=1);

// The demo's REST server: a router for PHP's built-in server (php -S 127.0.0.1:PORT rest.php).
//
//   /countries?page=N&per_page=M    iso_3166-1   {"items": [...], "page": N, "pages": P, "total": T}
//   /currencies?page=N&per_page=M   iso_4217     the same
//   /languages?offset=N&limit=M     iso_639-2    [...], with Link: <...>; rel="next" and X-Total-Count
//   /countries/CH and so on         one object
//
// DEMO_TOKEN asks for that bearer token. DEMO_FAULTS names a file of lines, read for each request:
//   delay MILLISECONDS      waits before it answers
//   status CODE [PATH]      answers CODE, with an error in JSON; for all paths or for that one
//   html CODE [PATH]        answers CODE with a page of HTML, as proxies do
//   truncate [PATH]         closes the connection in the middle of the body

require __DIR__ . '/iso_codes.php';

const COLLECTIONS = [
    'countries' => ['standard' => '3166-1', 'key' => 'alpha_2'],
    'currencies' => ['standard' => '4217', 'key' => 'alpha_3'],
    'languages' => ['standard' => '639-2', 'key' => 'alpha_3'],
];
const LARGEST_PAGE = 1000;

/** An answer other than 200. */
final class HTTPError extends RuntimeException
{
    public function __construct(public readonly int $status, string $message)
    {
        parent::__construct($message);
    }
}

function answer(int $status, mixed $value): void
{
    http_response_code($status);
    header('Content-Type: application/json; charset=utf-8');
    echo json_encode($value, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES), "\n";
}

function refuse(int $status, string $message): void
{
    answer($status, ['error' => ['status' => $status, 'message' => $message]]);
}

/** The integer parameter of that name, within bounds. */
function parameter(string $name, int $default, int $least, int $most = PHP_INT_MAX): int
{
    $text = $_GET[$name] ?? null;
    if ($text === null) {
        return $default;
    }
    $value = filter_var($text, FILTER_VALIDATE_INT);
    if ($value === false || $value < $least || $value > $most) {
        $range = $most === PHP_INT_MAX ? "of at least $least" : "from $least to $most";
        throw new HTTPError(400, "$name must be an integer $range");
    }
    return $value;
}

function authorize(): void
{
    $token = getenv('DEMO_TOKEN');
    if ($token === false || $token === '') {
        return;
    }
    if (!hash_equals("Bearer $token", $_SERVER['HTTP_AUTHORIZATION'] ?? '')) {
        header('WWW-Authenticate: Bearer realm="demo"');
        throw new HTTPError(401, 'a bearer token is needed');
    }
}

/** Does what DEMO_FAULTS asks for; returns true when that was the whole answer. */
function misbehave(string $path): bool
{
    $faults = faults();
    if (isset($faults['delay'])) {
        usleep(1000 * (int) $faults['delay']);
    }
    foreach (['status', 'html'] as $kind) {
        if (!isset($faults[$kind])) {
            continue;
        }
        [$status, $only] = explode(' ', $faults[$kind], 2) + [1 => $path];
        if ($only !== $path) {
            continue;
        }
        if ($kind === 'status') {
            refuse((int) $status, 'as the test asked');
        } else {
            http_response_code((int) $status);
            header('Content-Type: text/html');
            echo "<!DOCTYPE html><html><head><title>$status</title></head><body>Gateway trouble.</body></html>\n";
        }
        return true;
    }
    if (isset($faults['truncate']) && in_array($faults['truncate'], ['', $path], true)) {
        header('Content-Type: application/json; charset=utf-8');
        header('Content-Length: 100000');
        echo '{"items": [{"alpha_2": "AW", "alpha_3": "AB';
        return true;
    }
    return false;
}

function numbered_page(array $rows): array
{
    $page = parameter('page', 1, 1);
    $size = parameter('per_page', 100, 1, LARGEST_PAGE);
    $total = count($rows);
    return [
        'items' => array_slice($rows, ($page - 1) * $size, $size),
        'page' => $page,
        'pages' => intdiv($total + $size - 1, $size),
        'total' => $total,
    ];
}

function linked_page(array $rows): array
{
    $offset = parameter('offset', 0, 0);
    $limit = parameter('limit', 100, 1, LARGEST_PAGE);
    $total = count($rows);
    header("X-Total-Count: $total");
    $base = 'http://' . $_SERVER['HTTP_HOST'] . '/languages';
    $links = ["<$base?offset=0&limit=$limit>; rel=\"first\""];
    if ($offset + $limit < $total) {
        $next = $offset + $limit;
        $links[] = "<$base?offset=$next&limit=$limit>; rel=\"next\"";
    }
    header('Link: ' . implode(', ', $links));
    return array_slice($rows, $offset, $limit);
}

function respond(string $path): void
{
    authorize();
    if (!in_array($_SERVER['REQUEST_METHOD'], ['GET', 'HEAD'], true)) {
        header('Allow: GET, HEAD');
        throw new HTTPError(405, 'this server only reads');
    }
    $parts = explode('/', ltrim($path, '/'));
    $collection = COLLECTIONS[$parts[0]] ?? null;
    if ($collection === null || count($parts) > 2) {
        throw new HTTPError(404, "no such resource: $path");
    }
    $rows = iso_codes($collection['standard']);
    if (count($parts) === 1) {
        answer(200, $parts[0] === 'languages' ? linked_page($rows) : numbered_page($rows));
        return;
    }
    foreach ($rows as $row) {
        if (($row[$collection['key']] ?? null) === $parts[1]) {
            answer(200, $row);
            return;
        }
    }
    throw new HTTPError(404, "no such object: $path");
}

$path = rawurldecode(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) ?: '/');
try {
    if (!misbehave($path)) {
        respond($path);
    }
} catch (HTTPError $error) {
    refuse($error->status, $error->getMessage());
} catch (Throwable $error) {
    refuse(500, $error->getMessage());
}
