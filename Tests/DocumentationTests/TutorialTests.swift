import Foundation
import TestSupport
import Testing

/// Does what the pages of docs/tutorial say, each in a folder of its own.
@Suite struct TutorialTests {
    @Test(arguments: ["1-first-sync", "2-three-apis", "3-writing-back", "4-your-own-bridge"])
    func `each command of the tutorial prints what the page shows`(name: String) async throws {
        let folder = PackageFolder.path + "/docs/tutorial"
        let port = try FreePort.find()
        let markdown = try String(contentsOfFile: "\(folder)/\(name).md", encoding: .utf8)
        let page = try TutorialPage(markdown.replacing("8000", with: String(port)))
        #expect(page.steps.count > 5)

        let work = try TemporaryFolder()
        let files = FileManager.default
        try files.copyItem(atPath: folder + "/people.py", toPath: work.appending("people.py"))
        try files.createSymbolicLink(atPath: work.appending("bmo"), withDestinationPath: PackageFolder.path)
        let shell = try await ProcessRun.run(
            "bash", ["-c", try script(page, results: work.appending("results"))],
            environment: [
                "PATH": Products.folder + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? ""), "HOME": work.path,
                "XDG_DATA_HOME": work.appending("data"), "LC_ALL": "C.UTF-8",
            ], directory: work.path)
        #expect(shell.exitCode == 0, "\(shell)")
        for (index, step) in page.steps.enumerated() {
            guard case .command(let command, let shown) = step else { continue }
            let results = work.appending("results/\(index)")
            let printed = try String(contentsOfFile: results, encoding: .utf8)
            let code = try String(contentsOfFile: results + ".code", encoding: .utf8)
            #expect(code == "0\n", "\(command)\n\(printed)")
            let isAsShown = shown.isEmpty || TutorialPage.matches(printed, shown)
            #expect(isAsShown, "\(command)\nprinted:\n\(printed)\nthe page shows:\n\(shown.joined(separator: "\n"))")
        }
    }

    @Test func `what a page shows is compared with what a command prints`() {
        #expect(TutorialPage.matches("a 1.2 s\nb\n", ["a … s", "b"]))
        #expect(TutorialPage.matches("x\ny\nb", ["...", "b"]))
        #expect(TutorialPage.matches("b\n", ["...", "b", "..."]))
        #expect(!TutorialPage.matches("a\nb\n", ["a"]))
        #expect(!TutorialPage.matches("a+\n", ["aa"]))
    }

    @Test func `a block that nothing would run is a fault`() {
        #expect(throws: TutorialPage.Fault.self) { try TutorialPage("```yaml\nversion: 1\n```\n") }
    }

    /// Returns a program for bash that takes all steps in one shell, as a reader does.
    ///
    /// Each command's output and exit code are files below `results`.
    private func script(_ page: TutorialPage, results: String) throws -> String {
        let work =
            "work=$PWD; mkdir '\(results)'; trap 'kill $(jobs -p) 2>/dev/null; cd \"$work\"; [[ ! -e servers ]] || "
            + "bmo/Scripts/servers stop servers' EXIT\n"
        return page.steps.enumerated().reduce(into: work) { script, step in
            switch step.element {
            case .file(let name, let content):
                script += "cat >\"$work/\(name)\" <<'END OF FILE'\n\(content)END OF FILE\n"
            case .excerpt(let name, let content):
                script += "excerpt=$(cat <<'END OF FILE'\n\(content)END OF FILE\n)\n"
                script +=
                    "[[ $(<\"$work/\(name)\") == *\"$excerpt\"* ]] || { echo \"not in \(name): $excerpt\"; exit 1; }\n"
            case .command(let text, _):
                let file = "\(results)/\(step.offset)"
                script += "{ \(text)\n} >'\(file)' 2>&1; echo $? >'\(file).code'\n"
            }
        }
    }
}
