<?php

declare(strict_types=1);

// Makes the tree that the demo shares over SMB: php share.php FOLDER
//
//   countries/CH/name.txt           the country's name
//   countries/CH/subdivisions.txt   a line for each of its subdivisions; empty where it has none
//   tables/country_names.csv        a header row and a row per country (RFC 4180)

require __DIR__ . '/iso_codes.php';

// Whole seconds, one minute apart: the modification times are the same wherever the tree is made.
const FIRST_CHANGE = 1682553600; // 2023-04-27T00:00:00Z, iso-codes 4.15.0

$root = $argv[1] ?? exit("usage: php share.php FOLDER\n");

function put(string $path, string $text, int $modified): void
{
    if (file_put_contents($path, $text) === false || !touch($path, $modified)) {
        exit(1); // PHP has said why.
    }
}

/** @param list<string> $fields */
function csv_row(array $fields): string
{
    return implode(',', array_map(
        static fn (string $field): string =>
            strpbrk($field, "\",\r\n") === false ? $field : '"' . str_replace('"', '""', $field) . '"',
        $fields,
    )) . "\r\n";
}

$lines = [];
foreach (subdivisions() as $row) {
    $lines[$row['countryCode']][] = "{$row['code']}\t{$row['name']}\t{$row['type']}\n";
}

$table = csv_row(['alpha_2', 'official_name', 'common_name', 'numeric']);
foreach (iso_codes('3166-1') as $index => $country) {
    $code = $country['alpha_2'];
    $folder = "$root/countries/$code";
    if (!is_dir($folder) && !mkdir($folder, 0755, true)) {
        exit(1);
    }
    $modified = FIRST_CHANGE + 60 * $index;
    put("$folder/name.txt", "{$country['name']}\n", $modified);
    put("$folder/subdivisions.txt", implode('', $lines[$code] ?? []), $modified + 30);
    $table .= csv_row([
        $code,
        $country['official_name'] ?? '',
        $country['common_name'] ?? '',
        $country['numeric'],
    ]);
}
if (!is_dir("$root/tables") && !mkdir("$root/tables", 0755)) {
    exit(1);
}
put("$root/tables/country_names.csv", $table, FIRST_CHANGE);
