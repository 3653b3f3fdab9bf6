import Foundation
import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import TestSupport
import StoreTestSupport
import Testing

/// Random models and pages: both stores hold the same after each page.
@Suite struct StoreAgreementTests {
    @Test(arguments: 0..<20)
    func `stores agree on random pages`(_ round: Int) throws {
        for iteration in 0..<20 {
            let seed = UInt64(round * 20 + iteration)
            var random = RandomWorld(seed: seed)
            let model = try random.model()
            let memory = try StoreFixture(model, kind: .memory)
            let sqlite = try StoreFixture(model, kind: .sqlite)
            for page in 1...5 {
                let entity = random.element(model.entities).name
                let batches = random.batches(of: entity, in: model)
                let end: PageEnd = random.chance(20) ? .rollback : .commit
                let expected = try memory.addBatches(batches, of: entity, page: page, end: end)
                let actual = try sqlite.addBatches(batches, of: entity, page: page, end: end)
                let what: Comment = "seed \(seed), page \(page) of \(entity), \(end): \(batches)"
                try #require(actual == expected, what)
                let differences = Self.differences(of: try sqlite.text(), from: try memory.text())
                try #require(differences.isEmpty, what)
            }
            #expect(try sqlite.faults().isEmpty, "seed \(seed)")
        }
    }

    /// BMO_TEST_SEED=N begins with other models and pages.
    private static let firstSeed = ProcessInfo.processInfo.environment["BMO_TEST_SEED"].flatMap { UInt64($0) } ?? 5000

    @Test(arguments: StoreKind.allCases, 0..<5)
    func `a store agrees with the reference importer`(_ kind: StoreKind, _ round: Int) throws {
        try expectAgreement(kind, seed: Self.firstSeed &+ UInt64(round * 20), extents: [.part])
    }

    @Test(arguments: StoreKind.allCases, 0..<5)
    func `a store agrees on what listings leave out`(_ kind: StoreKind, _ round: Int) throws {
        try expectAgreement(
            kind, seed: Self.firstSeed &+ 1000 &+ UInt64(round * 20), extents: [.part, .changes, .whole, .whole])
    }

    private func expectAgreement(_ kind: StoreKind, seed first: UInt64, extents: [RecordExtent]) throws {
        for seed in first..<first &+ (kind.isLocal ? 20 : 4) {
            var random = RandomWorld(seed: seed, hasAbsence: extents.count > 1, hasNUL: kind.holdsNUL)
            let model = try random.model()
            let database = try StoreFixture(model, kind: kind)
            var reference = ReferenceImporter(model)
            for page in 1...6 {
                let entity = random.element(model.entities).name
                let batches = random.batches(of: entity, in: model)
                let end: PageEnd = random.chance(20) ? .rollback : .commit
                let extent = extents.count > 1 ? random.element(extents) : extents[0]
                try database.addBatches(batches, of: entity, page: page, extent: extent, end: end)
                try reference.add(batches, of: entity, extent: extent, end: end)
                let what = "seed \(seed), page \(page) of \(entity), \(extent), \(end): \(batches)"
                for (table, rows) in reference.tables {
                    let found = try database.text(of: table)
                    try #require(found == rows, "\(table) has\n\(found)\nand should have\n\(rows)\n\(what)")
                }
                let quarantined = try database.text(of: "quarantine").split(separator: "\n").count
                try #require(quarantined == reference.quarantined, "quarantine, \(what)")
            }
            #expect(try database.faults().isEmpty, "seed \(seed)")
        }
    }

    private static func differences(of found: String, from wanted: String) -> [String] {
        func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }
        return lines(found).difference(from: lines(wanted)).map { change in
            switch change {
            case .insert(_, let line, _): "SQLite has \(line)"
            case .remove(_, let line, _): "SQLite lacks \(line)"
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a page twice is as once`(_ kind: StoreKind) throws {
        // The rows are the same; a page that contradicts itself is written twice, as it was the first time.
        for seed in 1000..<(kind.isLocal ? 1100 : 1010) as Range<UInt64> {
            var random = RandomWorld(seed: seed, hasSubentities: false, hasNUL: kind.holdsNUL)
            let model = try random.model()
            let database = try StoreFixture(model, kind: kind)
            for page in 1...3 {
                let entity = random.element(model.entities).name
                let batches = random.batches(of: entity, in: model)
                try database.addBatches(batches, of: entity, page: page)
                let once = try database.textWithoutProgress()
                try database.addBatches(batches, of: entity, page: page)
                let what: Comment = "seed \(seed), page \(page) of \(entity): \(batches)"
                try #require(try database.textWithoutProgress() == once, what)
            }
        }
    }
}

/// Makes small models and records that collide often, the same ones for the same seed.
struct RandomWorld {
    private var random: SplitMix64
    private let hasSubentities: Bool
    private let hasAbsence: Bool

    private let hasNUL: Bool

    init(seed: UInt64, hasSubentities: Bool = true, hasAbsence: Bool = false, hasNUL: Bool = true) {
        self.hasAbsence = hasAbsence
        self.hasNUL = hasNUL
        random = SplitMix64(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        self.hasSubentities = hasSubentities
    }

    mutating func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    mutating func element<Element>(_ list: [Element]) -> Element { list[below(list.count)] }

    // MARK: models

    mutating func model() throws -> CompiledModel {
        let names = Array(["A", "B", "C", "D"].prefix(2 + below(3)))
        var entities = names.map { name in
            let isComposite = chance(25)
            var attributes: [Attribute] =
                isComposite ? [.of("k1", .integer), .of("k2", .text)] : [.of("k1", chance(50) ? .integer : .text)]
            let key = attributes.map(\.name)
            for index in 0...below(3) {
                attributes.append(
                    .of("v\(index)", element([.text, .integer, .real, .boolean, .decimal, .json, .data, .date])))
            }
            if chance(20) { attributes.append(.constant("c", .text, "constant")) }
            return Entity(name, key: chance(50) ? key : key.reversed(), attributes)
        }
        for index in entities.indices {
            for number in 0..<below(4) {
                let target = element(names)
                entities[index].relationships.append(
                    chance(40)
                        ? .one("r\(number)", target)
                        : .many("r\(number)", target, merge: element(Relationship.Merge.allCases)))
            }
        }
        pairInverses(&entities)
        if hasSubentities {
            for index in entities.indices {
                for number in entities[index].relationships.indices where chance(30) {
                    entities[index].relationships[number].isOrdered = false
                }
            }
        }
        if hasAbsence { declareAbsence(&entities) }
        for name in names where hasSubentities && chance(40) { addSubentities(of: name, to: &entities, targets: names) }
        return try CompiledModel(Model(entities: entities))
    }

    private mutating func declareAbsence(_ entities: inout [Entity]) {
        for index in entities.indices {
            if chance(30) { entities[index].absent = element(AbsentRule.allCases) }
            for number in entities[index].attributes.indices where chance(20) {
                entities[index].attributes[number].absent = element(AbsentRule.allCases)
            }
            for number in entities[index].relationships.indices where chance(20) {
                entities[index].relationships[number].absent = element(AbsentRule.allCases)
            }
        }
    }

    /// Up to three, one below the other or side by side, which a record's `kind` tells.
    private mutating func addSubentities(of root: String, to entities: inout [Entity], targets: [String]) {
        var above = [root]
        for number in 0...below(3) {
            let name = "\(root)\(number)"
            var attributes: [Attribute] = [.of("w\(number)", element([.text, .integer]))]
            if chance(30) { attributes.append(.of("shared", .text)) }
            if chance(30) { attributes.append(.of("v0", attribute("v0", of: root, in: entities), from: ["own"])) }
            var entity = Entity(name, key: [], attributes)
            entity.superentity = element(above)
            entity.isScanned = false
            if chance(80) { entity.matcher = Matcher([.equals(RemotePath(["kind"]), [name])]) }
            if chance(40) {
                let target = element(targets)
                entity.relationships = [chance(50) ? .one("s\(number)", target) : .many("s\(number)", target)]
            }
            entities.append(entity)
            above.append(name)
            let index = below(targets.count)
            if chance(50) {
                entities[index].relationships.append(
                    chance(50) ? .one("to\(name)", name) : .many("to\(name)", name))
            }
        }
    }

    private func attribute(_ name: String, of entity: String, in entities: [Entity]) -> AttributeType {
        entities.first { $0.name == entity }?.attribute(named: name)?.type ?? .text
    }

    private mutating func pairInverses(_ entities: inout [Entity]) {
        var paired: Set<String> = []
        for index in entities.indices {
            for number in entities[index].relationships.indices {
                let relationship = entities[index].relationships[number]
                let name = entities[index].name
                guard relationship.kind == .toMany, !paired.contains(name + relationship.name), chance(70),
                    let target = entities.first(where: { $0.name == relationship.target })
                else { continue }
                let candidates = target.relationships.filter {
                    $0.target == name && !paired.contains(target.name + $0.name)
                        && (target.name != name || $0.name != relationship.name)
                }
                guard !candidates.isEmpty else { continue }
                let inverse = element(candidates)
                entities[index].relationships[number].inverse = inverse.name
                paired.formUnion([name + relationship.name, target.name + inverse.name])
            }
        }
    }

    // MARK: records

    mutating func batches(of entity: String, in model: CompiledModel) -> [[Literal]] {
        (0...below(2)).map { _ in (0..<below(5)).map { _ in record(entity, in: model, depth: 0) } }
    }

    private mutating func record(_ name: String, in model: CompiledModel, depth: Int) -> Literal {
        guard let entity = model.model.entity(named: name), !chance(1) else { return element([nil, 7, "x", []]) }
        var members: [(key: String, value: Literal)] = []
        let kinds = model.model.family(of: entity)
        if kinds.count > 1, chance(70) { members.append(("kind", .text(element(kinds).name))) }
        let key = model.model.key(of: entity)
        for attribute in kinds.flatMap(\.attributes) where attribute.name != "c" {
            if members.contains(where: { $0.key == attribute.name }) { continue }
            let isKey = key.contains { $0.name == attribute.name }
            if chance(isKey ? 1 : 25) { continue }
            if chance(isKey ? 1 : 15) {
                members.append((attribute.name, nil))
            } else {
                members.append((attribute.name, value(attribute.type, isKey: isKey)))
            }
        }
        if kinds.count > 1, chance(40) { members.append(("own", value(.text, isKey: false))) }
        for relationship in kinds.flatMap(\.relationships) where chance(60) {
            members.append((relationship.name, related(relationship, in: model, depth: depth)))
        }
        if chance(5), !members.isEmpty { members.append(element(members)) }
        var shuffled: [(key: String, value: Literal)] = []
        while !members.isEmpty { shuffled.append(members.remove(at: below(members.count))) }
        return .object(shuffled)
    }

    private mutating func related(
        _ relationship: Relationship, in model: CompiledModel, depth: Int
    ) -> Literal {
        if chance(10) { return nil }
        if relationship.kind == .toOne { return target(relationship.target, in: model, depth: depth) }
        return .array((0..<below(4)).map { _ in target(relationship.target, in: model, depth: depth) })
    }

    private mutating func target(_ name: String, in model: CompiledModel, depth: Int) -> Literal {
        guard let entity = model.model.entity(named: name) else { return nil }
        if chance(5) { return nil }
        let key = model.model.key(of: entity)
        if key.count == 1, depth == 2 || chance(50), let attribute = key.first {
            return value(attribute.type, isKey: true)
        }
        if depth < 2 { return record(name, in: model, depth: depth + 1) }
        return .object(
            key.map { attribute in
                var copy = self
                let member = (key: attribute.name, value: copy.value(attribute.type, isKey: true))
                self = copy
                return member
            })
    }

    private mutating func value(_ type: AttributeType, isKey: Bool) -> Literal {
        if chance(1) { return ["un": ["expected"]] }
        switch type {
        case .integer: return chance(80) ? .integer(Int64(below(5))) : .text("\(below(5))")
        case .text where isKey: return element(["a", "b", "\u{e9}", "e\u{301}", "", hasNUL ? "a\u{0}" : "a\u{1}"])
        case .text: return element(["x", "y", "", "\u{fc}", "u\u{308}", 7])
        case .real: return element([0, 0.5, .double(-0.0), 1e300, "2.5", .double(.nan)])
        case .boolean: return element([true, false, 1, 0, "TRUE"])
        case .decimal: return element(["0.10", "0.1", 7, .decimal("123456789012345678901234567890")])
        case .json: return element([[1, "a", nil], ["k": true], "text", 1.5])
        case .data: return element([.bytes([]), .bytes([0, 255]), "AP8=", "*"])
        default: return element(["2024-02-29", "2023-02-29", "2024-02-29Z"])
        }
    }
}
