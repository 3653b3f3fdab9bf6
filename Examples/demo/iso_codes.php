<?php

declare(strict_types=1);

/** The folder of Debian's iso-codes; ISO_CODES names another. */
function iso_codes_folder(): string
{
    return getenv('ISO_CODES') ?: '/usr/share/iso-codes/json';
}

/**
 * The objects of one iso-codes file, as they stand in it.
 *
 * @param string $standard the part of the file's name after "iso_", such as "3166-1"
 * @return list<array<string, string>>
 */
function iso_codes(string $standard): array
{
    $file = iso_codes_folder() . "/iso_$standard.json";
    $text = file_get_contents($file);
    if ($text === false) {
        throw new RuntimeException("cannot read $file: install Debian's package iso-codes");
    }
    return json_decode($text, true, 8, JSON_THROW_ON_ERROR)[$standard];
}

/**
 * The subdivisions of iso_3166-2, with country and parent as whole codes.
 *
 * The file writes most parents without their country ("NX" for "AZ-NX"), and those of Great Britain with it.
 *
 * @return list<array{code: string, name: string, type: string, countryCode: string, parentCode: ?string}>
 */
function subdivisions(): array
{
    return array_map(static function (array $row): array {
        $country = strstr($row['code'], '-', true);
        $parent = $row['parent'] ?? null;
        return [
            'code' => $row['code'],
            'name' => $row['name'],
            'type' => $row['type'],
            'countryCode' => $country,
            'parentCode' => $parent === null || str_contains($parent, '-') ? $parent : "$country-$parent",
        ];
    }, iso_codes('3166-2'));
}

/**
 * What a test asks this server to do wrong: lines of KEY VALUE in the file that DEMO_FAULTS names.
 *
 * @return array<string, string> empty when there is no such file
 */
function faults(): array
{
    $file = getenv('DEMO_FAULTS');
    $faults = [];
    if ($file !== false && is_file($file)) {
        foreach (file($file, FILE_IGNORE_NEW_LINES | FILE_SKIP_EMPTY_LINES) as $line) {
            [$key, $value] = explode(' ', $line, 2) + [1 => ''];
            $faults[$key] = $value;
        }
    }
    return $faults;
}
