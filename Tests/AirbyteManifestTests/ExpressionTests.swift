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

    @Test(arguments: ["{{ 'a }}", "{{ a b }}", "{% macro x %}", "{{ a"])
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
