import Model
import Testing

@testable import AirbyteManifest

@Suite
struct ExpressionTests {
    private static func scope(_ set: [(name: String, value: String)] = []) -> Scope {
        let specification: ConfigValue = [
            "required": ["api_key"],
            "properties": [
                "api_key": ["type": "string", "airbyte_secret": true],
                "region": ["type": "string", "default": "eu"],
                "groups": ["type": "array"],
            ],
        ]
        var scope = Scope(inputs: Inputs(specification, set: set))
        scope.parameters = ["name": "users", "path": ["a", "b"]]
        return scope
    }

    @Test(arguments: [
        ("plain", "plain"), ("{{ parameters['name'] }}", "users"), ("{{ parameters.path[-1] }}", "b"),
        ("https://{{ config['region'] }}.x.org", "https://eu.x.org"),
        ("{{ config.get('missing', 'other') }}", "other"), ("{{ 'a' if config.region == 'eu' else 'b' }}", "a"),
        ("{{ ['x', 'y'] | join(',') }}", "x,y"), ("{{ 'A b' | lower | replace(' ', '_') }}", "a_b"),
        ("{{ 2 * 3 + 1 }}", "7"), ("{{ 'x' in ['x'] and not none }}", "True"),
        ("{% if config.region == 'us' %}us{% else %}other{% endif %}", "other"),
        (
            "{% set l = [] %}{% for g in ['1', '2'] %}{% set _ = l.append('g' + g) %}{% endfor %}{{ l | join('/') }}",
            "g1/g2"
        ),
        ("{{ 'https://x.y/z'.split('/')[2] }}", "x.y"),
        ("{% set p = 'https://a.b'.split('://') %} {{ p[1] if p|length > 1 else p[0] }}", "a.b"),
    ])
    func `what is known is evaluated`(text: String, expected: String) throws {
        #expect(try Template(text, Self.scope()).known?.printed == expected)
    }

    @Test(arguments: [
        ("{{ format_datetime('2024-01-02', '%d/%m/%Y') }}", "02/01/2024"),
        ("{{ format_datetime('2024-01-02T03:04:05.678+01:00', '%m%d %H %f %_ms %z') }}", "0102 02 678000 678 +0000"),
        ("{{ format_datetime('02/01/2024', '%Y-%m-%d', '%d/%m/%Y') }}", "2024-01-02"),
        ("{{ format_datetime(1704153600, '%ms') }}", "1704153600000"),
        ("{{ timestamp('2024-01-02') | int }}", "1704153600"), ("{{ timestamp('2024-01-02') }}", "1704153600.0"),
        ("{{ str_to_datetime('2024-01-02').strftime('%Y') }}", "2024"),
        ("{{ str_to_datetime('2024-01-02').isoformat() }}", "2024-01-02T00:00:00+00:00"),
        ("{{ str_to_datetime('2024-01-02T03:04:05.678Z').isoformat() }}", "2024-01-02T03:04:05.678000+00:00"),
        ("{{ max(2, 3) }}", "3"), ("{{ min('b', 'a') }}", "a"), ("{{ max([1, 2.5]) }}", "2.5"),
        ("{{ '2024-01-02'[:4] }}", "2024"), ("{{ '2024-01-02'[5:7] }}", "01"), ("{{ 'abc'[-2:] }}", "bc"),
        ("{{ 'abc'[5:] }}", ""), ("{{ 'abc'[2:1] }}", ""), ("{{ ['a', 'b', 'c'][1:] | join('') }}", "bc"),
        ("{{ config['region'][:1] }}", "e"),
    ])
    func `macros and parts of known values are computed`(text: String, expected: String) throws {
        #expect(try Template(text, Self.scope()).known?.printed == expected)
    }

    @Test(arguments: [
        ("{{ 1 < 7 < 5 }}", "False"), ("{{ 7 > 5 == true }}", "False"), ("{{ 3 >= 2 > 1 }}", "True"),
        ("{{ 1 == true and 0 == false }}", "True"), ("{{ 1 in [true] }}", "True"), ("{{ 'B' < 'a' <= 'a' }}", "True"),
        ("{{ '2024-01-02' > '2023-12-31' }}", "True"), ("{{ 'open'.startswith(('x', 'op')) }}", "True"),
        ("{{ 'open'.endswith(('x', 'y')) }}", "False"), ("{{ 'abc'[1] }}{{ 'abc'[-1] }}", "bc"),
        ("{{ 'abc' | first }}{{ 'abc' | last }}", "ac"), ("{{ sanitize_url('a b/c') }}", "a+b%2Fc"),
        ("{{ config.none is none }}", "False"), ("{{ config.get('none') is none }}", "True"),
        ("{{ {'a': none}.a is none and {'a': 1}.b is not none }}", "True"),
    ])
    func `comparisons, parts and tests of known values are those of Jinja`(text: String, expected: String) throws {
        #expect(try Template(text, Self.scope()).known?.printed == expected)
    }

    @Test(arguments: [
        "{{ format_datetime('soon', '%Y') }}", "{{ format_datetime(config['api_key'], '%Y') }}", "{{ max(1, 'a') }}",
        "{{ config['api_key'][:4] }}", "{{ 'abc'['a':] }}", "{{ format_datetime('2024-01-02', '%Y %s') }}",
    ])
    func `macros of other values stay expressions`(text: String) throws {
        #expect(try Template(text, Self.scope()).known == nil)
    }

    @Test(arguments: [
        ("{{ response.get('links', {}).get('next') }}", Expression.path(["response", "links", "next"])),
        ("{{ response['data'][-1]['id'] }}", .path(["response", "data", "-1", "id"])),
        ("{{ (record.get('author') or {}).get('id') }}", .path(["record", "author", "id"])),
        ("{{ stream_partition.board_id }}", .path(["slice", "board_id"])),
        ("{{ config['api_key'] }}", .input(Inputs.Open(path: ["api_key"], isSecret: true))),
    ])
    func `what is known only during a scan stays a path or an input`(text: String, expected: Expression) throws {
        #expect(try Template(text, Self.scope()).expression == expected)
    }

    @Test func `a default that counts is kept, one that does not is dropped`() throws {
        #expect(
            try Template("{{ record.get('a', record.get('b')) }}", Self.scope()).expression
                == .binary("or", .path(["record", "a"]), .path(["record", "b"])))
        #expect(try Template("{{ record.get('a', '') }}", Self.scope()).expression == .path(["record", "a"]))
    }

    @Test(arguments: ["{{ 'a }}", "{{ a b }}", "{% macro x %}", "{{ a", "{{ a[1:2:3] }}", "{{ a[] }}"])
    func `broken or unknown Jinja is refused in words`(text: String) {
        #expect(throws: Untranslatable.self) { try Template(text, Self.scope()) }
    }

    @Test(arguments: [
        "{{ " + String(repeating: "not ", count: 5000) + "1 }}",
        "{{ " + String(repeating: "- ", count: 5000) + "1 }}",
        "{{ 1" + String(repeating: " + 1", count: 5000) + " }}",
        "{% set x = 'ab' %}" + String(repeating: "{% set x = x ~ x %}", count: 40) + "{{ x }}",
        "{% set x = response.a %}" + String(repeating: "{% set x = x ~ x %}", count: 40) + "{{ x }}",
        "{% set x = ['a'] %}" + String(repeating: "{% set x = x + x %}", count: 40) + "{{ x | join(',') }}",
        "{% set x = 'aaaaaaaaaa' %}" + String(repeating: "{% set x = x | replace('a', x) %}", count: 9) + "{{ x }}",
        String(repeating: "{% if true %}", count: 5000) + String(repeating: "{% endif %}", count: 5000),
    ])
    func `expressions without end are refused`(text: String) {
        #expect(throws: Untranslatable.self) { try Template(text, Self.scope()) }
    }

    @Test func `nested loops share one limit`() {
        let list = "[" + String(repeating: "1,", count: 999) + "1]"
        let text =
            "{% set l = \(list) %}" + String(repeating: "{% for a in l %}", count: 4) + "{% set b = a %}"
            + String(repeating: "{% endfor %}", count: 4)
        var scope = Self.scope()
        scope.work = WorkLimit(steps: 10_000)
        #expect(throws: Untranslatable.self) { try Template(text, scope) }
    }

    @Test(arguments: ["{{ '1e30' | int }}", "{{ 'nan' | int }}"])
    func `numbers that do not fit are not computed`(text: String) {
        #expect((try? Template(text, Self.scope()))?.known == nil)
    }

    @Test func `a list of the user's is a list`() throws {
        let template = try Template("{{ config['groups'] }}", Self.scope([("groups", "a,b")]))
        #expect(template.known == ["a", "b"])
    }
}
