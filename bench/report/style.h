#pragma once

namespace shoal::bench {

/// The page's style sheet. Series 0 is Shoal's; the palette is told apart by people with any kind
/// of colour vision (after Okabe and Ito), in light and in dark.
inline constexpr char kStyle[] = R"css(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f6f8fa; --ink: #1b2530; --soft: #5b6876; --rule: #dfe4ea;
  --grid: #e4e8ed; --minor: #f1f3f6; --good: #0a7d4f; --bad: #c1272d; --own: #eaf3fb;
  --series-0: #0b63b6; --series-1: #e07b00; --series-2: #b8860b; --series-3: #c0508c;
  --series-4: #00875f; --series-5: #56a618; --series-6: #7a8694; --series-7: #9aa4ae;
  --series-8: #4fa3e0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12171d; --panel: #1a2129; --ink: #e3e9ef; --soft: #97a4b1; --rule: #2b3540;
    --grid: #28323c; --minor: #1c242c; --good: #4fc98f; --bad: #ff7b72; --own: #16293c;
    --series-0: #5db0ff; --series-1: #ffa033; --series-2: #e3c04a; --series-3: #ee86bd;
    --series-4: #3fd0a0; --series-5: #9bdc5a; --series-6: #8d99a6; --series-7: #6b7682;
    --series-8: #a5d3ff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2.2rem 1.5rem 4rem; max-width: 1360px; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
}
h1 { margin: 0; font-size: 1.75rem; letter-spacing: -0.01em; }
h2 {
  margin: 2.6rem 0 0.3rem; font-size: 1.3rem; padding-top: 1rem;
  border-top: 1px solid var(--rule);
}
h3 { margin: 1.8rem 0 0.3rem; font-size: 1.05rem; }
p { margin: 0.3rem 0 0.8rem; max-width: 78ch; color: var(--soft); }
.sub { margin: 0.15rem 0 1.2rem; color: var(--soft); }
.verdict { font-weight: 600; color: var(--good); }
.verdict.bad { color: var(--bad); }
.facts {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(210px, 1fr)); gap: 0.7rem 1.6rem;
  margin: 0; padding: 1rem 1.2rem; background: var(--panel); border-radius: 8px;
}
.facts dt {
  color: var(--soft); font-size: 0.78rem; text-transform: uppercase; letter-spacing: 0.04em;
}
.facts dd { margin: 0; overflow-wrap: anywhere; }
.facts .wide { grid-column: 1 / -1; border-top: 1px solid var(--rule); padding-top: 0.6rem; }
.facts details { margin: 0.2rem 0 0; font-size: 0.85rem; }
code { font: 0.88em ui-monospace, "DejaVu Sans Mono", monospace; }
.tiles {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 0.8rem;
  margin: 1.2rem 0 0;
}
.tile { border: 1px solid var(--rule); border-radius: 8px; padding: 0.75rem 1rem; }
.tile span, .tile em {
  display: block; color: var(--soft); font-size: 0.85rem; font-style: normal; min-height: 1.3em;
}
.tile strong {
  display: block; font-size: 1.45rem; letter-spacing: -0.01em; color: var(--series-0);
}
.legend {
  display: flex; flex-wrap: wrap; gap: 0.2rem 1.3rem; margin: 0.4rem 0 0.6rem; padding: 0;
  list-style: none;
}
.legend li {
  display: flex; align-items: center; gap: 0.45rem; color: var(--soft); font-size: 0.9rem;
}
.legend li.own { color: var(--ink); font-weight: 600; }
.legend i { width: 22px; height: 0; border-top: 3px solid var(--c); border-radius: 2px; }
.charts {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(560px, 100%), 1fr));
  gap: 1rem;
}
.charts.small {
  grid-template-columns: repeat(auto-fit, minmax(min(330px, 100%), 1fr)); margin-bottom: 1rem;
}
figure {
  margin: 0; padding: 0.7rem 0.6rem 0.3rem; border: 1px solid var(--rule); border-radius: 8px;
}
.chart { display: block; width: 100%; height: auto; font-family: inherit; }
.chart-title { font-size: 14px; font-weight: 600; fill: var(--ink); }
.tick { font-size: 11px; fill: var(--soft); }
.axis-label { font-size: 12px; fill: var(--soft); }
.grid { stroke: var(--grid); stroke-width: 1; }
.minor { stroke: var(--minor); stroke-width: 1; }
.axis { stroke: var(--soft); stroke-width: 1; }
.series path { fill: none; stroke: var(--c); stroke-width: 1.7; stroke-linejoin: round; }
.series circle { fill: var(--c); stroke: var(--paper); stroke-width: 1; }
.series.strong path { stroke-width: 3.2; }
.series.dashed path { stroke-dasharray: 5 4; }
.series:hover path { stroke-width: 3.6; }
.line-label { font-size: 11.5px; fill: var(--c); }
.line-label.strong { font-weight: 700; }
.scroll { overflow-x: auto; }
table {
  border-collapse: collapse; font-size: 0.84rem; font-variant-numeric: tabular-nums;
  margin: 0.6rem 0;
}
th, td {
  padding: 0.28rem 0.65rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--rule);
}
th { color: var(--soft); font-weight: 600; }
.word { text-align: left; }
tr.own td { background: var(--own); font-weight: 600; }
details { margin: 0.8rem 0; }
summary { cursor: pointer; color: var(--soft); }
footer { margin-top: 3rem; color: var(--soft); font-size: 0.85rem; }
@media print { details { display: none; } figure { break-inside: avoid; } }
)css";

}  // namespace shoal::bench
