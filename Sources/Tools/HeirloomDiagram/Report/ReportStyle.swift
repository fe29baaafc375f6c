/// For phones, desktops and paper, light and dark.
enum ReportStyle {
  static let rules = """
    :root { color-scheme: light dark; }
    * { box-sizing: border-box; }
    body { margin: 0; background: #f4f6f9; color: #1b2430; font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, \
    "Helvetica Neue", Arial, "Noto Sans", "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
    main, .page-header, .page-footer { max-width: 68rem; margin: 0 auto; padding: 0 1rem; }
    .page-header { padding-top: 1.5rem; }
    h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .75rem; }
    h2 { font-size: 1.2rem; line-height: 1.3; margin: 0 0 .6rem; }
    h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
    p { margin: 0 0 .6rem; }
    section { background: #ffffff; border: 1px solid #d5dbe4; border-radius: .6rem; padding: 1rem 1.1rem; \
    margin: 0 0 1rem; }
    .verdict { font-size: 1.15rem; font-weight: 600; border-radius: .6rem; border: 2px solid; padding: .8rem 1rem; \
    margin: 0 0 1rem; }
    .good { color: #16692e; background: #e2f6e8; border-color: #16692e; }
    .warning { color: #7a4f00; background: #fcf3d4; border-color: #9a6700; }
    .bad { color: #a3201a; background: #fce6e4; border-color: #b3261e; }
    .sign { font-weight: 700; margin-right: .5em; }
    ul.findings { list-style: none; margin: 0; padding: 0; }
    ul.findings > li { border-left: 4px solid; border-radius: .3rem; padding: .55rem .8rem; margin: 0 0 .6rem; }
    ul.findings p { margin: 0; }
    .count { font-weight: 700; font-variant-numeric: tabular-nums; }
    .advice { color: #3b4554; }
    ul, ol { margin: 0; padding-left: 1.4rem; }
    li { margin: .2rem 0; }
    .scroll { overflow-x: auto; max-width: 100%; }
    table { border-collapse: collapse; width: 100%; }
    th, td { text-align: left; vertical-align: top; padding: .4rem .7rem .4rem 0; border-bottom: 1px solid #e0e5ec; }
    td.number, th.number { text-align: right; white-space: nowrap; overflow-wrap: normal; \
    font-variant-numeric: tabular-nums; }
    caption { text-align: left; color: #566173; padding-bottom: .4rem; }
    dl { display: grid; grid-template-columns: minmax(7rem, 13rem) 1fr; gap: .35rem 1rem; margin: 0; }
    dt { color: #566173; }
    dd { margin: 0; }
    figure { margin: 0; }
    figcaption { color: #566173; margin-top: .5rem; }
    .picture { overflow: auto; max-height: 85vh; background: #ffffff; border: 1px solid #d5dbe4; border-radius: .4rem; }
    .picture svg { display: block; }
    code { font: .95em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
    .page-footer { color: #566173; padding-bottom: 2rem; }
    @media (max-width: 32rem) {
      dl { grid-template-columns: 1fr; gap: 0; }
      dd { margin-bottom: .5rem; }
      section { padding: .9rem .85rem; }
      h1 { font-size: 1.35rem; }
    }
    @media screen and (prefers-color-scheme: dark) {
      body { background: #0c1117; color: #e8edf3; }
      section { background: #141b24; border-color: #303b49; }
      .good { color: #7fe598; background: #10301c; border-color: #4fb96b; }
      .warning { color: #f0cd72; background: #362b0e; border-color: #c79a35; }
      .bad { color: #ffaca5; background: #3d1818; border-color: #ff8279; }
      .advice { color: #cdd5df; }
      th, td { border-color: #2a3440; }
      caption, dt, figcaption, .page-footer { color: #a9b4c2; }
      .picture { border-color: #303b49; background: #11161d; }
    }
    @media print {
      body { background: #ffffff; font-size: 11pt; }
      section { border: 0; padding: 0 0 .5rem; break-inside: auto; }
      h2, h3 { break-after: avoid; }
      tr, li, .verdict { break-inside: avoid; }
      .scroll, .picture { overflow: visible; max-height: none; border: 0; }
      .picture svg { max-width: 100%; height: auto; }
    }

    """
}
