internal import Model
public import RecordBatch

/// Turns the records of batches into mixed representations.
///
/// One mapper serves one walk over one entity at a time. It reads the batch in place: an object's members are walked
/// once, and a member's key index leads to its place in the entity's path tree.
public final class Mapper {
    let model: CompiledModel
    /// Per plan of the model, for the batch at hand.
    private var resolved: [ResolvedPlan?]
    private var knownUnknown: Set<UnknownField> = []
    private var newUnknown: [UnknownField] = []

    /// A mapper for a model.
    public init(_ model: CompiledModel) {
        self.model = model
        resolved = Array(repeating: nil, count: model.plans.count)
    }

    /// The mixed representations of a batch of records.
    ///
    /// A record that cannot be mapped, with all that is nested in it, is in ``MixedPage/rejections`` and nowhere else.
    ///
    /// - Parameters:
    ///   - plan: The index of the plan in ``CompiledModel/plans``: that of the entity, or of one of its sources.
    ///   - parent: The key of the object that a walk per parent asked for: the records refer to it, or are it, unless
    ///     they say otherwise.
    public func map(_ batch: RecordBatch, as plan: Int, parent: [StoredValue]? = nil) -> MixedPage {
        let page = MixedPage(batch: batch)
        let layout = model.entities[model.plans[plan].entity]
        page.rows.reserveCapacity(batch.count)
        page.cells.reserveCapacity(batch.count * layout.fields.count)
        for index in resolved.indices { resolved[index] = nil }
        let top = TopLevel(inherited: model.plans[plan].inherited, key: parent)
        for index in 0..<batch.count {
            let mark = page.mark
            do throws(Rejection) {
                _ = try mapObject(batch[index], as: plan, record: index, parent: nil, in: batch, page, top)
            } catch {
                page.takeBack(to: mark)
                page.rejections.append(
                    MixedPage.Rejection(record: index, reason: error.reason, representation: batch[index].json))
            }
        }
        return page
    }

    /// The fields that no path of their plan has, each once in the life of the mapper: those found since the last call.
    public func takeUnknownFields() -> [UnknownField] {
        defer { newUnknown.removeAll() }
        return newUnknown
    }

    private struct Rejection: Error {
        let reason: String
    }

    /// What only the records themselves have, and no objects that are nested in them.
    private struct TopLevel {
        let inherited: MappingPlan.Inherited?
        /// The key of the object that a walk per parent asked for.
        let key: [StoredValue]?
    }

    /// The relationship of a nested object's parent that it is the other side of.
    private struct Parent {
        let toOne: EntityLayout.ToOne
        let row: Int
        let key: [Int]
    }

    /// Appends the row of an object and of all that is nested in it; returns the row's index.
    private func mapObject(
        _ object: BatchValue, as expected: Int, record: Int, parent: Parent?, in batch: RecordBatch,
        _ page: MixedPage, _ top: TopLevel? = nil
    ) throws(Rejection) -> Int {
        guard object.tag == .object else {
            let name = model.entities[model.plans[expected].entity].name
            throw Rejection(reason: "\(RemoteScalar(object).shown) is not an object of \(name)")
        }
        var plan = resolve(expected, batch)
        if let recognition = plan.mapping.recognition {
            plan = resolve(recognition.plan(for: object), batch)
        }
        let mapping = plan.mapping
        let layout = model.entities[mapping.entity]
        let first = page.cells.count
        let row = appendRow(layout, record: record, isReference: false, page)
        for constant in mapping.constants {
            do {
                page.cells[first + constant.field] = try constant.converter.convert(constant.value, page.arena)
            } catch {
                throw Rejection(reason: "\(layout.name).\(layout.fields[constant.field].name): \(error.reason)")
            }
        }
        var relationships: [Pending] = []
        // The row's cells stay where they are until its relationships are followed.
        try page.cells.withUnsafeMutableBufferPointer { cells throws(Rejection) in
            let row = UnsafeMutableBufferPointer(rebasing: cells[first..<first + layout.fields.count])
            try walk(object, plan.root, plan, layout, row, &relationships, page.arena)
        }
        if let top { finish(top, object, plan, layout, first, page) }
        if let key = top?.key {
            for (field, part) in mapping.parentKey { fill([field], with: [key[part]], first, page) }
        }
        let missing = page.cells.withUnsafeBufferPointer { cells in
            layout.key.first { cells[first + $0].kind == .null || cells[first + $0].kind == .absent }
        }
        if let field = missing {
            let state = page.cells[first + field].kind == .null ? "null" : "missing"
            throw Rejection(reason: "the key \(layout.name).\(layout.fields[field].name) is \(state)")
        }
        for var pending in relationships {
            if let nulls = mapping.nullValues[pending.binding] { pending.drop(nulls) }
            try follow(pending, from: row, layout, record: record, in: batch, page)
        }
        if let parent { copyKey(of: parent, to: first, page) }
        for field in mapping.fallbacks { page.cells[first + field] = page.cells[first + field].asFallback }
        if let top, case .toOne(let index) = top.inherited, let key = top.key {
            let toOne = layout.toOne[index]
            fill(toOne.firstField..<toOne.firstField + toOne.fieldCount, with: key, first, page)
        }
        return row
    }

    /// Sets what the record as a whole says: that it is there, what nobody reads of it, and who asked for it.
    ///
    /// An object nested in another says less of itself: it would take back what its own listing says.
    private func finish(
        _ top: TopLevel, _ object: BatchValue, _ plan: ResolvedPlan, _ layout: EntityLayout, _ first: Int,
        _ page: MixedPage
    ) {
        if let deletion = layout.deletion { page.cells[first + deletion] = .null }
        if let extra = layout.extra, plan.mapping.source == nil {
            page.cells[first + extra] = unknownMembers(of: object, plan, page.arena)
        }
        if case .key = top.inherited, let key = top.key { fill(layout.key, with: key, first, page) }
    }

    /// Gives fields that the record leaves open the values of the parent's key.
    private func fill<Fields: Collection<Int>>(
        _ fields: Fields, with key: [StoredValue], _ first: Int, _ page: MixedPage
    ) {
        let isOpen = fields.allSatisfy {
            page.cells[first + $0].kind == .absent || page.cells[first + $0].kind == .null
        }
        guard isOpen, fields.count == key.count else { return }
        for (field, value) in zip(fields, key) { page.cells[first + field] = page.arena.cell(value) }
    }

    private func appendRow(_ layout: EntityLayout, record: Int, isReference: Bool, _ page: MixedPage) -> Int {
        let first = page.cells.count
        page.cells.append(contentsOf: repeatElement(.absent, count: layout.fields.count))
        if isReference, let field = layout.discriminator {
            page.cells[first + field] = .text(page.arena.copy(layout.name))
        }
        page.rows.append(
            MixedPage.Row(entity: layout.index, firstCell: first, record: record, isReference: isReference))
        return page.rows.count - 1
    }

    /// Refers to the parent, unless the object itself refers to another.
    private func copyKey(of parent: Parent, to first: Int, _ page: MixedPage) {
        let own = first + parent.toOne.firstField
        let isOpen = (own..<own + parent.toOne.fieldCount).allSatisfy {
            page.cells[$0].kind == .absent || page.cells[$0].kind == .null
        }
        guard isOpen else { return }
        let parentCells = page.rows[parent.row].firstCell
        for (offset, field) in parent.key.enumerated() {
            page.cells[first + parent.toOne.firstField + offset] = page.cells[parentCells + field]
        }
    }

    // MARK: - Members

    /// A relationship whose value waits until the object's key is known.
    private struct Pending {
        let binding: PathNode.Binding
        /// The elements of a list, or the one value; null ones name no object.
        var values: [BatchValue]

        /// Leaves out what the configuration says names no object.
        mutating func drop(_ nulls: Set<String>) {
            values.removeAll { value in RemoteScalar(value).text.map(nulls.contains) ?? false }
        }
    }

    private func resolve(_ plan: Int, _ batch: RecordBatch) -> ResolvedPlan {
        if let known = resolved[plan] { return known }
        let new = ResolvedPlan(model.plans[plan], batch)
        resolved[plan] = new
        return new
    }

    private func walk(
        _ object: BatchValue, _ node: Int, _ plan: ResolvedPlan, _ layout: EntityLayout,
        _ row: UnsafeMutableBufferPointer<Cell>, _ relationships: inout [Pending], _ arena: Arena
    ) throws(Rejection) {
        guard plan.steps[node].hasChildren else { return }
        let table = plan.steps[node].table
        let mapping = plan.mapping
        for index in 0..<object.count {
            let member = object[index]
            let child = Int(plan.tables[table + Int(member.keyIndex)])
            guard child >= 0 else {
                if child == ResolvedPlan.unknown { noteUnknown(member, below: node, plan, layout) }
                continue
            }
            let step = plan.steps[child]
            // Of members with one name the last counts, and nothing below the others.
            if step.hasChildren, isRepeated(member, in: object, after: index) { continue }
            for position in step.firstBinding..<step.firstBinding + step.bindingCount {
                let binding = plan.bindings[position]
                switch binding {
                case .attribute(let field):
                    if let type = mapping.plainTypes[field], let cell = UsualForm.cell(of: member, as: type, arena) {
                        row[field] = cell
                        continue
                    }
                    do {
                        row[field] = try mapping.converters[field].convert(member, arena)
                    } catch {
                        if isRepeated(member, in: object, after: index) { continue }
                        throw Rejection(reason: "\(layout.name).\(layout.fields[field].name): \(error.reason)")
                    }
                case .toOne, .toMany:
                    note(binding, member, &relationships)
                }
            }
            guard step.hasChildren else { continue }
            try descend(member, child, plan, layout, row, &relationships, arena)
        }
    }

    private func descend(
        _ value: BatchValue, _ node: Int, _ plan: ResolvedPlan, _ layout: EntityLayout,
        _ row: UnsafeMutableBufferPointer<Cell>, _ relationships: inout [Pending], _ arena: Arena
    ) throws(Rejection) {
        switch value.tag {
        case .object: try walk(value, node, plan, layout, row, &relationships, arena)
        case .array:
            let elements = plan.elements(of: value, at: node)
            try walkElements(elements, of: value, plan, layout, row, &relationships, arena)
            try walkAcross(value, node, besides: elements, plan, layout, row, &relationships, arena)
        case .null: clear(below: node, plan, row, &relationships)
        default: break
        }
    }

    /// What is read of single elements, `position.1`; one that is not there is null.
    private func walkElements(
        _ elements: [ResolvedPlan.Element], of array: BatchValue, _ plan: ResolvedPlan, _ layout: EntityLayout,
        _ row: UnsafeMutableBufferPointer<Cell>, _ relationships: inout [Pending], _ arena: Arena
    ) throws(Rejection) {
        for (index, child) in elements {
            let element = index < array.count ? array[index] : nil
            for binding in plan.nodes[child].bindings {
                switch (binding, element) {
                case (.attribute(let field), let element?):
                    do {
                        row[field] = try plan.mapping.converters[field].convert(element, arena)
                    } catch {
                        throw Rejection(reason: "\(layout.name).\(layout.fields[field].name): \(error.reason)")
                    }
                case (.attribute(let field), nil): row[field] = .null
                case (.toOne, let element?), (.toMany, let element?): note(binding, element, &relationships)
                case (.toOne, nil), (.toMany, nil): relationships.append(Pending(binding: binding, values: []))
                }
            }
            guard plan.nodes[child].hasChildren else { continue }
            if let element {
                try descend(element, child, plan, layout, row, &relationships, arena)
            } else {
                clear(below: child, plan, row, &relationships)
            }
        }
    }

    private func noteUnknown(_ member: BatchValue, below node: Int, _ plan: ResolvedPlan, _ layout: EntityLayout) {
        // What the column of extra fields keeps is not lost.
        guard let path = plan.noteUnknown(member, below: node), layout.extra == nil || node != plan.root else { return }
        let field = UnknownField(entity: layout.index, path: path)
        if knownUnknown.insert(field).inserted { newUnknown.append(field) }
    }

    /// The members of an object that no path of the plan leads to, as JSON; null when there are none.
    private func unknownMembers(of object: BatchValue, _ plan: ResolvedPlan, _ arena: Arena) -> Cell {
        let table = plan.steps[plan.root].table
        let hasPaths = plan.steps[plan.root].hasChildren
        var json = ""
        for index in 0..<object.count {
            let member = object[index]
            guard !hasPaths || plan.tables[table + Int(member.keyIndex)] < 0,
                !isRepeated(member, in: object, after: index)
            else { continue }
            json += json.isEmpty ? "{" : ","
            json.appendJSONString(member.key)
            json += ":" + member.json
        }
        return json.isEmpty ? .null : .text(arena.copy(json + "}"))
    }

    private func isRepeated(_ member: BatchValue, in object: BatchValue, after index: Int) -> Bool {
        (index + 1..<object.count).contains { object[$0].keyIndex == member.keyIndex }
    }

    private func note(_ binding: PathNode.Binding, _ value: BatchValue, _ relationships: inout [Pending]) {
        let pending = Pending(binding: binding, values: value.tag == .array ? value.elements : [value])
        if let earlier = relationships.firstIndex(where: { $0.binding == binding }) {
            relationships[earlier] = pending
        } else {
            relationships.append(pending)
        }
    }

    /// Null on the way of a path: what was there is gone.
    private func clear(
        below node: Int, _ plan: ResolvedPlan, _ row: UnsafeMutableBufferPointer<Cell>,
        _ relationships: inout [Pending]
    ) {
        plan.eachBinding(below: node) { binding in
            switch binding {
            case .attribute(let field): row[field] = .null
            case .toOne, .toMany: relationships.append(Pending(binding: binding, values: []))
            }
        }
    }

    /// A path across an array: what its elements have becomes one list.
    private func walkAcross(
        _ array: BatchValue, _ node: Int, besides elements: [ResolvedPlan.Element], _ plan: ResolvedPlan,
        _ layout: EntityLayout, _ row: UnsafeMutableBufferPointer<Cell>, _ relationships: inout [Pending],
        _ arena: Arena
    ) throws(Rejection) {
        var lists: [(binding: PathNode.Binding, values: [BatchValue])] = []
        plan.eachBinding(below: node, besides: elements) { lists.append(($0, [])) }
        for index in 0..<array.count {
            plan.collect(from: array[index], at: node, besides: elements) { position, value in
                lists[position].values.append(value)
            }
        }
        for list in lists {
            switch list.binding {
            case .toOne, .toMany:
                let values = list.values.flatMap { $0.tag == .array ? $0.elements : [$0] }
                relationships.append(Pending(binding: list.binding, values: values))
            case .attribute(let field):
                guard layout.fields[field].type == .json else {
                    let name = "\(layout.name).\(layout.fields[field].name)"
                    throw Rejection(reason: "\(name): its path leads across an array; use type json")
                }
                let json = "[" + list.values.map(\.json).joined(separator: ",") + "]"
                row[field] = .text(arena.copy(json))
            }
        }
    }

    // MARK: - Relationships

    private func follow(
        _ pending: Pending, from row: Int, _ layout: EntityLayout, record: Int, in batch: RecordBatch,
        _ page: MixedPage
    ) throws(Rejection) {
        switch pending.binding {
        case .attribute: break
        case .toOne(let index):
            try followOne(layout.toOne[index], pending, from: row, layout, record: record, in: batch, page)
        case .toMany(let index):
            try followMany(index, pending, from: row, layout, record: record, in: batch, page)
        }
    }

    private func followOne(
        _ relationship: EntityLayout.ToOne, _ pending: Pending, from row: Int, _ layout: EntityLayout, record: Int,
        in batch: RecordBatch, _ page: MixedPage
    ) throws(Rejection) {
        let name = "\(layout.name).\(relationship.name)"
        guard pending.values.count <= 1 else {
            throw Rejection(reason: "\(name): a list of \(pending.values.count) for a relationship to one")
        }
        let first = page.rows[row].firstCell + relationship.firstField
        guard let value = pending.values.first, value.tag != .null else {
            for offset in 0..<relationship.fieldCount { page.cells[first + offset] = .null }
            return
        }
        let target = model.entities[relationship.target]
        if value.tag == .object {
            let nested = try mapObject(
                value, as: relationship.target, record: record, parent: nil, in: batch, page)
            for (offset, field) in target.key.enumerated() {
                page.cells[first + offset] = page.cells[page.rows[nested].firstCell + field]
            }
        } else {
            page.cells[first] = try bareKey(value, of: target, name, page)
        }
    }

    private func followMany(
        _ index: Int, _ pending: Pending, from row: Int, _ layout: EntityLayout, record: Int, in batch: RecordBatch,
        _ page: MixedPage
    ) throws(Rejection) {
        let relationship = layout.toMany[index]
        let target = model.entities[relationship.target]
        let name = "\(layout.name).\(relationship.name)"
        var parent: Parent?
        if case .inverse(let toOne) = relationship.storage {
            parent = Parent(toOne: target.toOne[toOne], row: row, key: layout.key)
        }
        var keys: [Cell] = []
        for value in pending.values where value.tag != .null {
            let child: Int
            if value.tag == .object {
                child = try mapObject(
                    value, as: relationship.target, record: record, parent: parent, in: batch, page)
            } else {
                let cell = try bareKey(value, of: target, name, page)
                child = appendRow(target, record: record, isReference: true, page)
                page.cells[page.rows[child].firstCell + target.key[0]] = cell
                if let parent { copyKey(of: parent, to: page.rows[child].firstCell, page) }
            }
            for field in target.key { keys.append(page.cells[page.rows[child].firstCell + field]) }
        }
        page.links.append(
            MixedPage.Link(
                row: row, relationship: index, firstCell: page.linkCells.count, count: keys.count / target.key.count))
        page.linkCells.append(contentsOf: keys)
    }

    /// A reference by its bare key, read as the target's key attribute reads it.
    private func bareKey(
        _ value: BatchValue, of target: EntityLayout, _ name: String, _ page: MixedPage
    ) throws(Rejection) -> Cell {
        guard target.key.count == 1 else {
            throw Rejection(
                reason: "\(name): \(RemoteScalar(value).shown) cannot name a \(target.name), whose key has "
                    + "\(target.key.count) attributes; an object can")
        }
        let cell: Cell
        do {
            cell = try model.plans[target.index].converters[target.key[0]].convert(value, page.arena)
        } catch {
            throw Rejection(reason: "\(name): \(error.reason)")
        }
        guard cell.kind != .null else {
            throw Rejection(reason: "\(name): \(RemoteScalar(value).shown) is no key of \(target.name)")
        }
        return cell
    }
}
