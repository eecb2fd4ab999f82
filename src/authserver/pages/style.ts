import { createHash } from 'node:crypto';
import { DARK, LIGHT, type Palette } from './palette.ts';

function variables(palette: Palette): string {
  return Object.entries(palette)
    .map(([name, colour]) => `--${name}:${colour};`)
    .join('');
}

/**
 * A page elsewhere can lay a window over ours, ask for a double click, and be gone before the second one, which then falls on
 * Allow. So a mouse has to rest on the card for a moment before a decision can be clicked. Keyboard and touch do not wait.
 */
const ARMED_BY_RESTING = `
@media (hover:hover) and (pointer:fine){
form .way{pointer-events:none;transition:pointer-events 0s allow-discrete}
main:hover form .way{pointer-events:auto;transition-delay:.4s}}`;

/** Sizes are in rem, so that they follow the reader's own font size. */
const RULES = `
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;align-items:center;padding:clamp(1rem,5vh,3.5rem) 1rem 2rem;
  background:var(--ground);color:var(--text);
  font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif;overflow-wrap:anywhere}
header,main,footer{width:100%;max-width:33rem}
header{display:flex;align-items:center;gap:.625rem;padding:0 .25rem 1rem}
header p{margin:0;line-height:1.25}
header strong{display:block;font-weight:650;letter-spacing:.01em}
header span{color:var(--quiet);font-size:.875rem}
.mark{flex:none;width:2.5rem;height:2.5rem;color:var(--accent)}
main{background:var(--card);border:1px solid var(--line);border-radius:1rem;padding:clamp(1.25rem,5vw,2rem);
  box-shadow:0 1px 2px rgb(0 0 0/.04),0 .75rem 2rem rgb(0 0 0/.06)}
h1{margin:0;font-size:clamp(1.375rem,5.5vw,1.75rem);line-height:1.2;font-weight:680;letter-spacing:-.012em;text-wrap:balance}
h2{margin:0 0 .5rem;font-size:.9375rem;line-height:1.3;font-weight:650}
p{margin:.5rem 0 0}
.lead{margin-top:.625rem;font-size:1.0625rem}
.quiet{color:var(--quiet)}
.small{font-size:.875rem}
section{margin-top:1.5rem;padding-top:1.25rem;border-top:1px solid var(--line)}
code{font:.9375em/1.45 ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace;overflow-wrap:anywhere}
.tag{display:inline-block;margin-top:.625rem;padding:.0625rem .5625rem;border:1px solid var(--cautionLine);border-radius:1rem;
  background:var(--cautionGround);color:var(--caution);font-size:.8125rem;font-weight:600}
.odd{padding:0 .25em;border:1px solid var(--cautionLine);border-radius:.25em;background:var(--cautionGround);color:var(--caution);
  font:.75em/1.4 ui-monospace,Menlo,Consolas,monospace;white-space:nowrap}
.caution{margin-top:1rem;padding:.75rem .875rem;border:1px solid var(--cautionLine);border-inline-start-width:.25rem;border-radius:.5rem;
  background:var(--cautionGround);color:var(--caution)}
.caution p{margin:0}
dl{display:grid;grid-template-columns:minmax(5.5rem,auto) 1fr;gap:.5rem 1rem;margin:0}
dt{color:var(--quiet)}
dd{margin:0;min-width:0}
dd strong{font-weight:650}
ul.plain{margin:0;padding:0;list-style:none}
ul.plain li{position:relative;padding-inline-start:1.5rem}
ul.plain li+li{margin-top:.375rem}
ul.plain li::before{content:"";position:absolute;inset-inline-start:.25rem;top:.5em;width:.5rem;height:.5rem;border-radius:50%;
  border:2px solid var(--accent)}
ol.stops{margin:0;padding:0;list-style:none;counter-reset:stop}
ol.stops li{position:relative;counter-increment:stop;padding:0 0 1.125rem;padding-inline-start:2.75rem;min-height:3rem}
ol.stops li:last-child{padding-bottom:0;min-height:2rem}
ol.stops li::before{content:counter(stop);position:absolute;inset-inline-start:0;top:-.0625rem;width:1.875rem;height:1.875rem;border-radius:50%;
  border:2px solid var(--accent);background:var(--card);color:var(--accent);font-size:.875rem;font-weight:650;line-height:1.625rem;text-align:center}
ol.stops li:not(:last-child)::after{content:"";position:absolute;inset-inline-start:.875rem;top:1.8125rem;bottom:.0625rem;width:2px;
  background:var(--line)}
ol.stops li.done::before{content:"\\2713";background:var(--accent);color:var(--onAccent)}
ol.stops li.done:not(:last-child)::after{background:var(--accent)}
ol.stops li.later::before{border-color:var(--line);color:var(--quiet)}
ol.stops strong{font-weight:650}
.state{display:inline-block;margin-inline-start:.25rem;padding:0 .5rem;border:1px solid var(--line);border-radius:1rem;color:var(--quiet);
  font-size:.8125rem;font-weight:600}
.done .state,.next .state{border-color:var(--accent);color:var(--accent)}
.ways{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.75rem}
.way{flex:1 1 9rem;min-height:3rem;display:inline-flex;align-items:center;justify-content:center;padding:.625rem 1.25rem;border-radius:.625rem;
  border:1px solid var(--accent);background:transparent;color:var(--accent);font:inherit;font-weight:620;text-align:center;text-decoration:none;cursor:pointer}
.way.first{background:var(--accent);color:var(--onAccent)}
.way:hover{text-decoration:underline;text-underline-offset:.2em}
.way.first:hover{background:var(--accentHover);border-color:var(--accentHover)}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
section.login h2{margin:0;font-size:1.1875rem}
ul.connections{margin:.875rem 0 0;padding:0;list-style:none}
ul.connections>li{padding:1rem 0;border-top:1px dashed var(--line)}
ul.connections dl{gap:.25rem 1rem}
ul.connections h3{margin:0 0 .375rem;font-size:1rem;line-height:1.4;font-weight:650}
ul.connections h3 .quiet{font-weight:400}
.connected .state{border-color:var(--accent);color:var(--accent)}
.over .state{border-color:var(--cautionLine);background:var(--cautionGround);color:var(--caution)}
.scope{display:inline-block;margin:0 .25rem .125rem 0;padding:0 .4375rem;border:1px solid var(--line);border-radius:.375rem;font-size:.8125rem}
.notice{margin-top:1rem;padding:.75rem .875rem;border:1px solid var(--accent);border-inline-start-width:.25rem;border-radius:.5rem}
.steps{display:flex;flex-wrap:wrap;align-items:flex-start;gap:.5rem .625rem;margin-top:.75rem}
.steps .way,.ends .way{flex:none;min-height:2.75rem;padding:.375rem 1rem;font-size:.9375rem}
.steps details[open],.ends{flex:1 1 100%}
.ends{padding-top:1rem;border-top:1px dashed var(--line)}
.notice p{margin:0}
summary.way{list-style:none;width:fit-content;border-color:var(--line);color:var(--text)}
summary.way::-webkit-details-marker{display:none}
details[open]>summary.way{border-style:dashed}
details .caution{margin-top:.625rem}
details .caution .way{margin-top:.625rem;border-color:var(--caution);color:var(--caution)}
.turn{display:flex;justify-content:space-between;gap:1rem}
.turn a{display:inline-flex;align-items:center;min-height:2.75rem;color:var(--accent)}
footer{padding:1rem .25rem 0;color:var(--quiet);font-size:.875rem}
footer p{margin:0}
${ARMED_BY_RESTING}
@media (max-width:24rem){dl{grid-template-columns:1fr;gap:.125rem}dd+dt{margin-top:.625rem}main{border-radius:.75rem}}
@media (forced-colors:active){.way,.tag,.caution,ol.stops li::before{border-color:currentColor}}
@media print{main{box-shadow:none}}
`;

export const STYLE = `:root{color-scheme:light dark;${variables(LIGHT)}}
@media (prefers-color-scheme:dark){:root{${variables(DARK)}}}${RULES}`;

/** The stylesheet is part of each page, and this is what the browser knows it by. Nothing else may style a page. */
export const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;
