internal import Model
public import RecordBatch
internal import TextFormats

/// Maps the records of batches to mixed representations.
///
/// A mapper serves one scan of one entity at a time. It reads the batch in place: it visits an object's members once,
/// and each member's key index leads to a node of the entity's path tree.
public final class Mapper {
    let model: CompiledModel
    /// Per plan of the model: the plan resolved for the current batch.
    ///
    /// In memory of its own, like ``ledgers``: an access to a class's variable calls the runtime's exclusivity check.
    private let resolved: UnsafeMutableBufferPointer<ResolvedPlan?>
    private var unknown = UnknownFields()

    /// The members that earlier scans of the listing returned.
    let knownMembers: Set<ListedMember>
    /// Per plan of the model: the members seen so far.
    let ledgers: UnsafeMutableBufferPointer<MemberLedger?>
    var newMembers: [ListedMember] = []
    /// Whether each batch reports all members that it has, and not just those that no batch before it had.
    package var reportsMembersOfEachBatch = false
    /// The objects being mapped, outermost first, with their positions in their lists.
    ///
    /// Maintained only if a plan may read them.
    private var around: [(object: BatchValue, index: Int)] = []
    /// As many absent cells as the widest row has.
    let absentCells: UnsafeMutableBufferPointer<Cell>
    /// Whether to read what records say about their lists.
    let readsMetadata: Bool
    /// The names of the relationships that lead from the record to the object being mapped.
    ///
    /// Maintained only if the mapper reads metadata.
    var trail: [String] = []

    /// Creates a mapper for a model.
    ///
    /// - Parameters:
    ///   - model: The model whose entities the records are mapped to.
    ///   - knownMembers: The members that earlier scans of the same listing returned.
    ///   - readsMetadata: Whether to read what records say about their lists, if the model has paths to it.
    public init(_ model: CompiledModel, knownMembers: Set<ListedMember> = [], readsMetadata: Bool = false) {
        self.model = model
        self.readsMetadata = readsMetadata && model.plansReadMetadata
        self.knownMembers = knownMembers
        ledgers = .allocate(capacity: model.plans.count)
        ledgers.initialize(repeating: nil)
        resolved = .allocate(capacity: model.plans.count)
        resolved.initialize(repeating: nil)
        absentCells = .allocate(capacity: model.maxFieldCount)
        absentCells.initialize(repeating: .absent)
    }

    deinit {
        ledgers.deinitialize().deallocate()
        resolved.deinitialize().deallocate()
        absentCells.deinitialize().deallocate()
    }

    /// Maps a batch of records.
    ///
    /// A record that cannot be mapped is in ``MixedPage/rejections``; the page contains no rows of it or its nested
    /// objects.
    ///
    /// - Parameters:
    ///   - batch: The records.
    ///   - plan: The index in ``CompiledModel/plans`` of the plan for the entity, or for one of its sources.
    ///   - parent: The parent's key, in a scan per parent. The records refer to the parent, or are it, unless they say
    ///     otherwise.
    ///   - extent: How much of its object each record has, which decides what a missing member means.
    public func map(
        _ batch: RecordBatch, as plan: Int, parent: [StoredValue]? = nil, extent: RecordExtent = .part
    ) -> MixedPage {
        let page = MixedPage(batch: batch)
        let layout = model.entities[model.plans[plan].entity]
        page.rows.reserveCapacity(batch.count)
        page.cells.reserveCapacity(batch.count * layout.fields.count)
        for index in resolved.indices { resolved[index] = nil }
        if reportsMembersOfEachBatch { for ledger in ledgers { ledger?.forgetSeen() } }
        let top = TopLevel(inherited: model.plans[plan].inherited, key: parent, extent: extent)
        let expected = resolve(plan, batch)
        let mapping = expected.mapping
        for index in 0..<batch.count {
            let mark = page.mark
            if model.readsSurroundings { around.removeAll(keepingCapacity: true) }
            do throws(Rejection) {
                if mapping.recognition == nil, batch[index].tag == .object {
                    _ = try mapObject(
                        batch[index], by: expected, mapping, layout, isTold: true, record: index, parent: nil, index: 0,
                        in: batch, page, top)
                } else {
                    _ = try mapObject(batch[index], as: plan, record: index, parent: nil, in: batch, page, top)
                }
            } catch {
                page.takeBack(to: mark)
                page.rejections.append(
                    MixedPage.Rejection(record: index, reason: error.reason, representation: batch[index].json))
            }
        }
        return page
    }

    /// Returns the fields found since the last call that no path of their plan matches; each once per mapper.
    public func takeUnknownFields() -> [UnknownField] {
        unknown.takeNew()
    }

    /// Returns the members found since the last call; each once per mapper, or once per batch.
    public func takeMembers() -> [ListedMember] {
        defer { newMembers.removeAll() }
        return newMembers
    }

    struct Rejection: Error {
        let reason: String
    }

    /// The context that applies to top-level records only, and not to nested objects.
    struct TopLevel {
        let inherited: MappingPlan.Inherited?
        /// The parent's key, in a scan per parent.
        let key: [StoredValue]?
        let extent: RecordExtent
    }

    /// The parent of a nested object, and the object's to-one relationship to it.
    struct Parent {
        let toOne: EntityLayout.ToOne
        let row: Int
        let key: [Int]
    }

    /// Appends the row of an object and the rows of its nested objects; returns the index of its row.
    func mapObject(
        _ object: BatchValue, as expected: Int, record: Int, parent: Parent?, index: Int = 0, in batch: RecordBatch,
        _ page: MixedPage, _ top: TopLevel? = nil
    ) throws(Rejection) -> Int {
        guard object.tag == .object else {
            let name = model.entities[model.plans[expected].entity].name
            throw Rejection(reason: "\(RemoteScalar(object).shown) is not an object of \(name)")
        }
        var (plan, isTold) = (resolve(expected, batch), true)
        if plan.mapping.recognition != nil { (plan, isTold) = try recognize(object, as: plan, batch) }
        return try mapObject(
            object, by: plan, plan.mapping, model.entities[plan.mapping.entity], isTold: isTold, record: record,
            parent: parent, index: index, in: batch, page, top)
    }

    /// Appends the rows of an object whose plan is known.
    ///
    /// Its arguments are the same for most objects of a batch, and are retained once there.
    private func mapObject(
        _ object: BatchValue, by plan: ResolvedPlan, _ mapping: MappingPlan, _ layout: EntityLayout, isTold: Bool,
        record: Int, parent: Parent?, index: Int, in batch: RecordBatch, _ page: MixedPage, _ top: TopLevel?
    ) throws(Rejection) -> Int {
        let first = page.cells.count
        let row = appendRow(layout, record: record, isReference: false, page)
        if !mapping.constants.isEmpty { try setConstants(mapping, layout, first, page) }
        // The place of a nested object says what is expected there, and not that an object is of another sub-entity.
        if top == nil, !isTold, let field = layout.discriminator {
            page.cells[first + field] = page.cells[first + field].asFallback
        }
        var relationships: [Pending] = []
        // The row's cells do not move until its relationships are followed.
        try page.cells.withUnsafeMutableBufferPointer { cells throws(Rejection) in
            let row = UnsafeMutableBufferPointer(rebasing: cells[first..<first + layout.fields.count])
            try scan(object, plan.root, plan, layout, row, &relationships, page.arena)
            if model.readsSurroundings {
                if mapping.readsSurroundings {
                    try scanSurroundings(
                        of: object, index, around[...], plan.root, plan, layout, row, &relationships, page.arena)
                }
                around.append((object, index))
            }
            if !mapping.joins.isEmpty { try join(relationships, mapping, layout, row, page.arena) }
        }
        defer { if model.readsSurroundings, !around.isEmpty { around.removeLast() } }
        if let top {
            try finish(top, object, plan, layout, first, page)
        } else if let extra = layout.extra, model.comeOnlyNested[layout.index], mapping.source == nil {
            page.cells[first + extra] = mapping.extra(unknownMembers(of: object, plan, page.arena), of: .part)
        }
        if let top, let key = top.key {
            for (field, part) in mapping.parentKey(as: top.inherited) { fill([field], with: [key[part]], first, page) }
        }
        // Mutable, because the other access retains the array.
        if let field = page.cells.withUnsafeMutableBufferPointer({ layout.missingKey(in: $0, from: first) }) {
            let state = page.cells[first + field].kind == .null ? "null" : "missing"
            throw Rejection(reason: "the key \(layout.name).\(layout.fields[field].name) is \(state)")
        }
        if readsMetadata, !mapping.metadata.isEmpty { noteMetadata(relationships, mapping, row: row, page) }
        if !relationships.isEmpty {
            for var pending in relationships {
                if let nulls = mapping.nullValues[pending.binding] { pending.drop(nulls) }
                try follow(pending, from: row, layout, record: record, in: batch, page)
            }
        }
        if let parent { copyKey(of: parent, to: first, page) }
        let extent = top?.extent ?? (mapping.isPositional ? .whole : .part)
        if extent != .part {
            settleAbsence(mapping, row: row, first: first, extent, page) { list in
                relationships.contains { $0.binding == .toMany(list) }
            }
        }
        if !mapping.fallbacks.isEmpty {
            for field in mapping.fallbacks { page.cells[first + field] = page.cells[first + field].asFallback }
        }
        if let top, case .toOne(let index) = top.inherited, let key = top.key {
            let toOne = layout.toOne[index]
            fill(toOne.firstField..<toOne.firstField + toOne.fieldCount, with: key, first, page)
        }
        return row
    }

    /// Sets the values of a record as a whole: not deleted, its extra members, and the key of its parent.
    ///
    /// Does not apply to nested objects, whose partial data would overwrite that of their own listing.
    ///
    /// - Throws: ``Rejection`` of the details of another object than the one that was asked for.
    private func finish(
        _ top: TopLevel, _ object: BatchValue, _ plan: ResolvedPlan, _ layout: EntityLayout, _ first: Int,
        _ page: MixedPage
    ) throws(Rejection) {
        if let deletion = layout.deletion { page.cells[first + deletion] = .null }
        if let extra = layout.extra, plan.mapping.source == nil {
            page.cells[first + extra] = plan.mapping.extra(unknownMembers(of: object, plan, page.arena), of: top.extent)
        }
        guard case .key = top.inherited, let key = top.key else { return }
        for (field, asked) in zip(layout.key, key) {
            guard let value = page.cells[first + field].value, value != .null, value.identity != asked.identity else {
                continue
            }
            throw Rejection(
                reason:
                    "it is of another object than the request: \(layout.name).\(layout.fields[field].name) is \(value), "
                    + "and \(asked) was asked for")
        }
        fill(layout.key, with: key, first, page)
    }

    /// Fills the fields that the record leaves open with the parent's key.
    private func fill<Fields: Collection<Int>>(
        _ fields: Fields, with key: [StoredValue], _ first: Int, _ page: MixedPage
    ) {
        let isOpen = fields.allSatisfy {
            page.cells[first + $0].kind == .absent || page.cells[first + $0].kind == .null
        }
        guard isOpen, fields.count == key.count else { return }
        for (field, value) in zip(fields, key) { page.cells[first + field] = page.arena.cell(value) }
    }

    // MARK: - Members

    func resolve(_ plan: Int, _ batch: RecordBatch) -> ResolvedPlan {
        if let known = resolved[plan] { return known }
        let new = ResolvedPlan(model.plans[plan], batch)
        resolved[plan] = new
        return new
    }

    private func scan(
        _ object: BatchValue, _ node: Int, _ plan: ResolvedPlan, _ layout: EntityLayout,
        _ row: UnsafeMutableBufferPointer<Cell>, _ relationships: inout [Pending], _ arena: Arena
    ) throws(Rejection) {
        guard plan.steps[node].hasChildren else { return }
        let table = plan.table(of: node)
        let mapping = plan.mapping
        for index in 0..<object.count {
            let member = object[index]
            let child = Int(plan.tables[table + Int(member.keyIndex)])
            guard child >= 0 else {
                if child == ResolvedPlan.unknown { noteUnknown(member, below: node, plan, layout) }
                continue
            }
            let step = plan.steps[child]
            // The last of several members with the same name counts, also for everything below it.
            if step.hasChildren, isRepeated(member, in: object, after: index) { continue }
            for position in step.firstBinding..<step.firstBinding + step.bindingCount {
                let binding = plan.bindings[position]
                switch binding {
                case .attribute(let field):
                    if let type = mapping.plainTypes[field],
                        let cell = FastPathConverter.cell(of: member, as: type, arena)
                    {
                        row[field] = cell
                        continue
                    }
                    do {
                        row[field] = try mapping.converters[field].convert(member, arena)
                    } catch {
                        if isRepeated(member, in: object, after: index) { continue }
                        throw Rejection(reason: "\(layout.name).\(layout.fields[field].name): \(error.reason)")
                    }
                case .toOne, .toMany, .part:
                    note(binding, member, &relationships)
                case .metadata:
                    if readsMetadata { relationships.append(Pending(binding: binding, values: [member])) }
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
        case .object: try scan(value, node, plan, layout, row, &relationships, arena)
        case .array:
            let elements = plan.elements(of: value, at: node)
            try scanElements(elements, of: value, plan, layout, row, &relationships, arena)
            try scanAcross(value, node, besides: elements, plan, layout, row, &relationships, arena)
        case _ where value.standsForNothing: clear(below: node, plan, row, &relationships)
        default: try check(value, instead: node, plan, layout)
        }
    }

    /// Checks a value that paths lead through and that is neither an object nor a list.
    ///
    /// If a path ends there too, the remote sends either form.
    private func check(
        _ value: BatchValue, instead node: Int, _ plan: ResolvedPlan, _ layout: EntityLayout
    ) throws(Rejection) {
        guard plan.steps[node].bindingCount == 0 else { return }
        var name: String?
        plan.eachBinding(below: node) { binding in
            switch binding {
            case .attribute(let field), .part(let field, _): name = name ?? layout.fields[field].name
            case .toOne(let index): name = name ?? layout.toOne[index].name
            case .toMany(let index): name = name ?? layout.toMany[index].name
            // A record is not refused for what it says about its list.
            case .metadata: break
            }
        }
        guard let name else { return }
        let shown = RemoteScalar(value).shown
        throw Rejection(reason: "\(layout.name).\(name): its path leads through \(shown), which is not an object")
    }

    /// Reads single elements of an array, such as `position.1`.
    ///
    /// A missing element is null.
    private func scanElements(
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
                case (.toOne, let element?), (.toMany, let element?), (.part, let element?):
                    note(binding, element, &relationships)
                case (.toOne, nil), (.toMany, nil), (.part, nil):
                    relationships.append(Pending(binding: binding, values: []))
                case (.metadata, let element?):
                    if readsMetadata { relationships.append(Pending(binding: binding, values: [element])) }
                case (.metadata, nil): break
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

    // Not in its caller, whose every call would begin with the exclusivity check of the class's variable.
    @inline(never)
    private func noteUnknown(_ member: BatchValue, below node: Int, _ plan: ResolvedPlan, _ layout: EntityLayout) {
        // Members stored in the column of extra fields are not lost.
        guard plan.markUnknown(member, below: node), layout.extra == nil || node != plan.root,
            unknown.hasRoom(for: layout.index)
        else { return }
        unknown.insert(UnknownField(entity: layout.index, path: plan.path(to: member, below: node)))
    }

    func isRepeated(_ member: BatchValue, in object: BatchValue, after index: Int) -> Bool {
        (index + 1..<object.count).contains { object[$0].keyIndex == member.keyIndex }
    }

    private func note(_ binding: PathNode.Binding, _ value: BatchValue, _ relationships: inout [Pending]) {
        let isList = value.tag == .array
        let pending = Pending(binding: binding, values: isList ? value.elements : [value], isList: isList)
        if let earlier = relationships.firstIndex(where: { $0.binding == binding }) {
            relationships[earlier] = pending
        } else {
            relationships.append(pending)
        }
    }

    /// Clears everything below a path whose value is null.
    private func clear(
        below node: Int, _ plan: ResolvedPlan, _ row: UnsafeMutableBufferPointer<Cell>,
        _ relationships: inout [Pending]
    ) {
        plan.eachBinding(below: node) { binding in
            switch binding {
            case .attribute(let field): row[field] = .null
            case .toOne, .toMany, .part: relationships.append(Pending(binding: binding, values: []))
            case .metadata: break
            }
        }
    }

    /// Reads a path across an array, and collects the values of its elements in one list.
    private func scanAcross(
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
            case .toOne, .toMany, .part:
                let values = list.values.flatMap { $0.tag == .array ? $0.elements : [$0] }
                relationships.append(Pending(binding: list.binding, values: values, isList: true))
            case .metadata:
                if readsMetadata {
                    relationships.append(Pending(binding: list.binding, values: list.values, isList: true))
                }
            case .attribute(let field):
                guard layout.fields[field].type == .json || plan.mapping.converters[field].joinsLists else {
                    // In PHP, an object without members is an empty list.
                    guard array.count > 0 else {
                        row[field] = .null
                        continue
                    }
                    let name = "\(layout.name).\(layout.fields[field].name)"
                    throw Rejection(reason: "\(name): its path crosses an array; use type json")
                }
                let json = "[" + list.values.map(\.json).joined(separator: ",") + "]"
                guard plan.mapping.converters[field].joinsLists else {
                    row[field] = .json(arena.copy(json))
                    continue
                }
                do {
                    row[field] = try plan.mapping.converters[field].convert(.composite(json), arena)
                } catch {
                    throw Rejection(reason: "\(layout.name).\(layout.fields[field].name): \(error.reason)")
                }
            }
        }
    }

    // MARK: - Surroundings

    /// Reads the surroundings of an object.
    ///
    /// Members of the object itself that have these names take precedence.
    private func scanSurroundings(
        of object: BatchValue, _ index: Int, _ around: ArraySlice<(object: BatchValue, index: Int)>, _ node: Int,
        _ plan: ResolvedPlan, _ layout: EntityLayout, _ row: UnsafeMutableBufferPointer<Cell>,
        _ relationships: inout [Pending], _ arena: Arena
    ) throws(Rejection) {
        // A top-level record has no outer object here: its surroundings come from its bridge.
        guard let outer = around.last else { return }
        if let child = plan.child("@index", of: node), object["@index"] == nil {
            for binding in plan.nodes[child].bindings {
                guard case .attribute(let field) = binding else { continue }
                do {
                    row[field] = try plan.mapping.converters[field].convert(RemoteScalar.int(Int64(index)), arena)
                } catch {
                    throw Rejection(reason: "\(layout.name).\(layout.fields[field].name): \(error.reason)")
                }
            }
        }
        guard let child = plan.child("@parent", of: node), object["@parent"] == nil else { return }
        try scan(outer.object, child, plan, layout, row, &relationships, arena)
        try scanSurroundings(
            of: outer.object, outer.index, around.dropLast(), child, plan, layout, row, &relationships, arena)
    }
}
