internal import Mapping
internal import WebServer

/// Finds the page for a path.
enum PageRouter {
    /// Returns the page of a GET request.
    ///
    /// - Throws: ``PageFailure``; `StoreError`.
    static func page(_ request: WebRequest, _ context: PageContext) async throws -> HTMLPage {
        let path = request.path
        switch (path.first, path.count) {
        case (nil, _): return try await OverviewPage.make(context)
        case ("decide", 1): return try await DecidePage.make(context, entity: request.query["entity"])
        case ("runs", 1): return try await RunsPage.make(context, entity: request.query["entity"])
        case ("runs", 2): return try await RunPage.make(context, id: path[1], entity: request.query["entity"])
        case ("plan", 1): return try await PlanPage.make(context)
        case ("model", 1): return ModelPage.make(context)
        case ("config", 1): return try await ConfigurationPage.make(context)
        case ("entity", 2): return try await EntityPage.make(context, entity: path[1], request.query)
        case ("object", 3...):
            return try await ObjectPage.make(context, entity: path[1], key: Array(path.dropFirst(2)))
        case ("new", 2):
            let layout = try context.layout(path[1])
            return HTMLPage("New \(layout.name)") { EditForm(context, new: layout).view }
        default: throw PageFailure.missing("There is no such page.")
        }
    }
}
