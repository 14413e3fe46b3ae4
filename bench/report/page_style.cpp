#include "report/page.hpp"

namespace headwise::report {

std::string_view page_style() {
  return R"(*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:66rem;padding:2.5rem 1.25rem 5rem;background:var(--paper);color:var(--ink);
font:1rem/1.6 system-ui,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
sup{font-size:.75em;line-height:0}
h1{font-size:2rem;line-height:1.2;margin:0 0 .25rem;letter-spacing:-.01em}
h2{font-size:1.4rem;line-height:1.3;margin:3.5rem 0 .75rem;padding-top:.75rem;border-top:1px solid var(--faint)}
h3{font-size:1.05rem;margin:2rem 0 .5rem}
p,li{max-width:44rem}
.lede,figcaption,.note{color:var(--soft)}
nav{margin:1.25rem 0;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
a{color:var(--see);text-underline-offset:.2em}
.findings{padding-left:1.2rem}
.findings li{margin:.5rem 0}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1.5rem 2.5rem;align-items:start}
.gallery{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(46%,12.5rem),1fr));gap:1.5rem 1.25rem}
figure.chart svg{max-width:32rem}
.curves{grid-template-columns:repeat(auto-fill,minmax(min(100%,18rem),1fr))}
figure{margin:0;min-width:0}
figure svg{display:block;width:100%;height:auto}
figcaption{font-size:.9rem;line-height:1.45;margin-top:.5rem}
figcaption b{color:var(--ink);display:block}
.scroll{overflow-x:auto;margin:1rem 0}
table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--soft);padding:.25rem 0 .5rem;font-size:.95rem}
th,td{padding:.3rem .8rem;border-bottom:1px solid var(--faint);vertical-align:top}
thead th{border-bottom:2px solid var(--faint);font-weight:600}
th{text-align:left;font-weight:500}
td,thead th:not(:first-child){text-align:right;white-space:nowrap}
.words td:nth-child(2){min-width:12rem}
.words td,.words thead th:not(:first-child){text-align:left;white-space:normal}
.map{font-size:.85rem}
.map th,.map td{padding:.3rem;border:1px solid var(--paper);text-align:center}
.map thead th:not(:first-child){text-align:center}
.map tbody th{text-align:left;font-weight:400;white-space:nowrap}
.map .topic{color:var(--soft)}
.warning{border-left:4px solid var(--c1);padding:.25rem 1rem;margin:1rem 0}
details{margin:1rem 0}
summary{cursor:pointer;color:var(--see)}
@media (max-width:40rem){body{padding-top:1.5rem}.map .long{display:none}.map th,.map td{padding:.25rem .2rem;font-size:.78rem}
th,td{padding:.3rem .5rem}figcaption{font-size:.85rem}}
@media print{body{max-width:none}details{display:block}})";
}

}  // namespace headwise::report
