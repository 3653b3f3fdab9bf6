/// The only stylesheet: light or dark as the system's setting says, for screens of at least 360 pixels.
package enum Stylesheet {
    /// The text of the stylesheet.
    ///
    /// All pairs of text and background colours have a contrast of 4.5 or more (WCAG 2.2, AA).
    package static let text = """
        :root {
            color-scheme: light dark;
            --back: #fff; --raised: #f4f5f7; --line: #c9ced6; --text: #1b1f24; --quiet: #545d69; --link: #0a58ca;
            --good: #116329; --warn: #7a4b00; --warn-back: #fff4d6; --bad: #a40e26; --bad-back: #ffebe9;
            --accent: #0a58ca; --on-accent: #fff; --new: #dafbe1; --old: #ffebe9;
        }
        @media (prefers-color-scheme: dark) {
            :root {
                --back: #14171b; --raised: #1e2329; --line: #3f4751; --text: #e6e9ed; --quiet: #a5afbb; --link: #7cb7ff;
                --good: #6fdd8b; --warn: #f2c14e; --warn-back: #362a0b; --bad: #ff9d98; --bad-back: #3d1518;
                --accent: #7cb7ff; --on-accent: #10161d; --new: #12351d; --old: #3d1518;
            }
        }
        * { box-sizing: border-box; }
        html { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; background: var(--back); color: var(--text); }
        body { margin: 0; }
        header { border-bottom: 1px solid var(--line); background: var(--raised); }
        header > div, main, footer { max-width: 100rem; margin: 0 auto; padding: .6rem 1rem; }
        header > div { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; align-items: center; }
        header .home { font-weight: 700; color: var(--text); text-decoration: none; font-size: 1.1rem; }
        nav { display: flex; flex-wrap: wrap; gap: .1rem .9rem; flex: 1; }
        nav a { padding: .3rem 0; }
        @media (max-width: 40rem) { header > div { justify-content: space-between; } nav { order: 3; flex-basis: 100%; } }
        nav a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
        footer { color: var(--quiet); font-size: .85rem; border-top: 1px solid var(--line); margin-top: 2rem; }
        a { color: var(--link); }
        a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, textarea:focus-visible,
        summary:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
        .skip { position: absolute; left: -100rem; }
        .skip:focus { left: 1rem; top: .3rem; background: var(--back); padding: .3rem .6rem; }
        h1 { font-size: 1.5rem; line-height: 1.25; margin: .8rem 0 .4rem; overflow-wrap: anywhere; }
        h2 { font-size: 1.15rem; margin: 1.6rem 0 .4rem; }
        p { margin: .4rem 0; max-width: 75ch; overflow-wrap: anywhere; }
        .quiet { color: var(--quiet); }
        .good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }
        .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; }
        table { border-collapse: collapse; width: 100%; font-size: .93rem; }
        th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
        tr:last-child > td, tr:last-child > th { border-bottom: 0; }
        thead th { background: var(--raised); white-space: nowrap; font-weight: 600; }
        tbody th { font-weight: 600; white-space: nowrap; }
        td { max-width: 30rem; overflow-wrap: break-word; min-width: 4.5rem; }
        td.wide { min-width: 14rem; }
        @media (max-width: 40rem) {
            .cards thead { display: none; }
            .cards tr { display: block; padding: .4rem 0; border-bottom: 1px solid var(--line); }
            .cards td { display: block; border: 0; max-width: none; text-align: left; padding: .15rem .6rem; }
            .cards td:empty { display: none; }
            .cards td[data-label]::before { content: attr(data-label) ": "; color: var(--quiet); }
            .cards td > div:not(.row) { display: inline-block; }
        }
        .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .time { white-space: nowrap; font-variant-numeric: tabular-nums; }
        .null { color: var(--quiet); font-style: italic; }
        .old { background: var(--old); } .new { background: var(--new); }
        code, pre, .mono { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9em; }
        pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--raised); padding: .6rem; margin: .4rem 0;
              border: 1px solid var(--line); border-radius: 6px; max-height: 24rem; overflow-y: auto; }
        .notice { border: 1px solid var(--line); border-left: 5px solid var(--accent); border-radius: 6px;
                  padding: .5rem .8rem; margin: .5rem 0; background: var(--raised); }
        .notice.warn { color: inherit; border-left-color: var(--warn); background: var(--warn-back); }
        .notice.bad { color: inherit; border-left-color: var(--bad); background: var(--bad-back); }
        .todo { list-style: none; padding: 0; margin: .5rem 0; }
        .todo li { display: flex; flex-wrap: wrap; gap: .3rem .8rem; align-items: center; justify-content: space-between; }
        .tag { display: inline-block; border: 1px solid currentColor; border-radius: 999px; padding: 0 .5rem;
               font-size: .8rem; line-height: 1.4; white-space: nowrap; }
        form { margin: 0; }
        form.inline { display: inline-block; }
        .row { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .5rem 0; }
        .fields { display: grid; grid-template-columns: minmax(8rem, 16rem) minmax(0, 40rem); gap: .5rem .8rem;
                  align-items: start; margin: .5rem 0; }
        .fields label { padding-top: .35rem; overflow-wrap: anywhere; }
        .fields small { display: block; color: var(--quiet); }
        @media (max-width: 40rem) { .fields { grid-template-columns: minmax(0, 1fr); gap: .2rem; } }
        input, select, textarea, button { font: inherit; color: var(--text); background: var(--back); max-width: 100%;
            border: 1px solid var(--quiet); border-radius: 6px; padding: .35rem .6rem; min-height: 2.3rem; }
        input[type=text], input[type=number], input[type=date], input[type=url], input[type=password], textarea {
            width: 100%; }
        input[type=checkbox], input[type=radio] { min-height: 0; width: 1.15rem; height: 1.15rem; vertical-align: -.2rem; }
        .grow { flex: 1; min-width: 12rem; }
        button { cursor: pointer; background: var(--raised); font-weight: 600; }
        button.main { background: var(--accent); color: var(--on-accent); border-color: var(--accent); }
        button.danger { color: var(--bad); border-color: var(--bad); }
        svg { max-width: 100%; height: auto; display: block; }
        svg text { fill: var(--text); font-size: 13px; }
        svg .small { fill: var(--quiet); font-size: 11px; }
        svg .box { fill: var(--raised); stroke: var(--line); }
        svg .edge { fill: none; stroke: var(--quiet); stroke-width: 1.3; }
        svg .bar { fill: var(--accent); } svg .bar.failed { fill: var(--bad); } svg .axis { fill: var(--quiet); }
        svg a text { fill: var(--link); text-decoration: underline; font-weight: 600; }
        svg .bridge0 { stroke: #2f81f7; stroke-width: 2; } svg .bridge1 { stroke: #2da44e; stroke-width: 2; }
        svg .bridge2 { stroke: #bf8700; stroke-width: 2; } svg .bridge3 { stroke: #a475f9; stroke-width: 2; }
        svg .bridge4 { stroke: #e85aad; stroke-width: 2; } svg .bridge5 { stroke: #1b9e9e; stroke-width: 2; }

        """
}
