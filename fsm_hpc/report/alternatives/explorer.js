"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const ROW = 32, MARGIN = 8, MOST_ROWS = 200;
  const rows = data.labels.length;
  const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const names = data.families.map((f) => f.columns.map((c) => data.columns[c].name.toLowerCase()));
  let order = [], at = 0, chosen = null, other = null, only = null;

  // ---------------------------------------------------------------- formulas
  function holds(column, cut) {
    const { ranks, kind } = data.columns[column], truth = new Uint8Array(rows);
    const low = kind === "fixed" ? 1 : cut[0], high = kind === "interval" ? cut[1] : Infinity;
    for (let r = 0; r < rows; r++) truth[r] = ranks[r] >= low && ranks[r] <= high ? 1 : 0;
    return truth;
  }
  function evaluate(tree, atoms) {
    if (typeof tree === "number") return atoms[tree];
    const a = evaluate(tree[1], atoms), out = new Uint8Array(rows);
    if (tree[0] === "not") { for (let r = 0; r < rows; r++) out[r] = 1 - a[r]; return out; }
    const b = evaluate(tree[2], atoms), both = tree[0] === "and";
    for (let r = 0; r < rows; r++) out[r] = both ? a[r] & b[r] : a[r] | b[r];
    return out;
  }
  const truthOf = (one) => evaluate(one.family.tree, one.family.columns.map((c, v) => holds(c, one.cuts[v])));
  function errorsOf(truth) { let n = 0; for (let r = 0; r < rows; r++) n += truth[r] !== data.labels[r] ? 1 : 0; return n; }
  function atomText(one, v) {
    const column = data.columns[one.family.columns[v]], [low, high] = one.cuts[v];
    if (column.kind === "fixed") return column.text;
    return column.kind === "pivot" ? `${column.quoted} >= ${column.cuts[low]}` : `${column.cuts[low]} <= ${column.quoted} <= ${column.cuts[high]}`;
  }
  const BINDING = { or: 0, and: 1, not: 2 };
  function text(tree, atom, words = { not: "not ", and: " and ", or: " or " }) {
    const binding = (t) => typeof t === "number" ? 3 : BINDING[t[0]];
    const part = (t, least) => binding(t) >= least ? write(t) : `(${write(t)})`;
    const write = (t) => {
      if (typeof t === "number") return atom(t);
      if (t[0] === "not") return words.not + part(t[1], words.strict && binding(t[1]) === 3 ? 9 : 2);
      return part(t[1], BINDING[t[0]]) + words[t[0]] + part(t[2], BINDING[t[0]]);
    };
    return write(tree);
  }
  const formulaText = (one) => text(one.family.tree, (v) => atomText(one, v));
  const isBest = (one) => one.cuts.every((cut, v) => cut[0] === one.family.cuts[v][0] && cut[1] === one.family.cuts[v][1]);
  const shownText = (one) => isBest(one) ? one.family.formula : formulaText(one);

  // ---------------------------------------------------------------- the list
  function refresh() {
    const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const size = Number($("size").value || 99), errors = Number($("errors").value || 1e9), key = $("sort").value, held = Number($("held").value || 0) / 100;
    order = data.families.map((_, n) => n).filter((n) => {
      const f = data.families[n];
      return (only === null || names[n].includes(only)) && f.size <= size && f.errors <= errors && (held === 0 || (f.held !== null && f.held >= held)) && words.every((w) => w === "-" || (w[0] === "-"
        ? !names[n].some((c) => c.includes(w.slice(1))) : names[n].some((c) => c.includes(w))));
    });
    const sign = key === "count" || key === "held" ? -1 : 1;
    if (key !== "errors") order.sort((a, b) => {
      const x = data.families[a][key], y = data.families[b][key];
      return (x === y ? a - b : (x === null ? 1 : y === null ? -1 : x < y ? -sign : sign));
    });
    at = Math.max(0, order.indexOf(chosen ? data.families.indexOf(chosen.family) : 0));
    $("shown").textContent = `${order.length.toLocaleString("en")} of ${data.families.length.toLocaleString("en")} families`
      + (only === null ? "" : `, of those that use ${only}`) + (order.length || !data.families.length ? "" : "; no family matches these filters");
    $("space").style.height = `${order.length * ROW}px`;
    draw();
  }
  function draw() {
    const list = $("list"), first = Math.max(0, Math.floor(list.scrollTop / ROW) - MARGIN);
    const last = Math.min(order.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + MARGIN);
    const fragment = document.createDocumentFragment();
    for (let place = first; place < last; place++) {
      const n = order[place], f = data.families[n], row = document.createElement("div");
      row.className = "row" + (other && other.family === f ? " other" : "");
      row.id = `family-${n}`; row.style.top = `${place * ROW}px`; row.dataset.place = place;
      row.setAttribute("role", "option"); row.setAttribute("aria-setsize", order.length); row.setAttribute("aria-posinset", place + 1);
      row.setAttribute("aria-selected", String(Boolean(chosen && chosen.family === f)));
      for (const text of [f.errors, f.size, f.count.toLocaleString("en"), f.held === null ? "" : `${(100 * f.held).toFixed(1)} %`, f.formula]) {
        const cell = document.createElement("span"); cell.textContent = text; cell.title = text; row.append(cell);
      }
      fragment.append(row);
    }
    $("space").replaceChildren(fragment);
  }
  function choose(place) {
    if (!order.length) return;
    at = Math.min(order.length - 1, Math.max(0, place));
    const list = $("list"), top = at * ROW;
    if (top < list.scrollTop) list.scrollTop = top;
    if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
    take(data.families[order[at]]);
    list.setAttribute("aria-activedescendant", `family-${order[at]}`);
  }
  function take(family) {
    chosen = { family, cuts: family.cuts.map((cut) => [...cut]) };
    $("exported").hidden = true;
    sliders(); show(); draw();
  }

  // ---------------------------------------------------------------- cuts
  function curve(v, end) {
    const column = data.columns[chosen.family.columns[v]], length = column.cuts.length, out = [];
    const atoms = chosen.family.columns.map((c, w) => w === v ? null : holds(c, chosen.cuts[w]));
    const gain = new Int32Array(length + 1); let base = 0;
    // errors of each row where the literal is false, and what changes where it is true
    const off = evaluate(chosen.family.tree, atoms.map((a) => a || new Uint8Array(rows)));
    const on = evaluate(chosen.family.tree, atoms.map((a) => a || new Uint8Array(rows).fill(1)));
    for (let r = 0; r < rows; r++) {
      const wrong = off[r] !== data.labels[r] ? 1 : 0;
      base += wrong; gain[column.ranks[r]] += (on[r] !== data.labels[r] ? 1 : 0) - wrong;
    }
    const [low, high] = chosen.cuts[v];
    for (let c = 0; c < length; c++) {
      let total = base;
      const a = end === 0 ? c : low, b = column.kind === "interval" ? (end === 0 ? high : c) : length - 1;
      for (let k = a; k <= b; k++) total += gain[k];
      out.push(total);
    }
    return out;
  }
  function sliders() {
    const box = $("sliders"); box.replaceChildren();
    $("legend").hidden = chosen.family.columns.every((c) => data.columns[c].kind === "fixed");
    chosen.family.columns.forEach((c, v) => {
      const column = data.columns[c];
      if (column.kind === "fixed") return;
      for (const end of column.kind === "interval" ? [0, 1] : [0]) {
        const cut = document.createElement("div"); cut.className = "cut"; cut.dataset.v = v; cut.dataset.end = end;
        const label = document.createElement("label"), input = document.createElement("input"), value = document.createElement("output");
        const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        svg.setAttribute("preserveAspectRatio", "none"); svg.setAttribute("aria-hidden", "true");
        input.type = "range"; input.min = 0; input.max = column.cuts.length - 1; input.value = chosen.cuts[v][end];
        const what = column.kind === "pivot" ? "at least" : end === 0 ? "from" : "up to";
        label.append(`${column.name} ${what} `, value);
        input.setAttribute("aria-label", `${column.name} ${what}`);
        input.addEventListener("input", () => {
          let c = Number(input.value);
          if (column.kind === "interval") c = end === 0 ? Math.min(c, chosen.cuts[v][1]) : Math.max(c, chosen.cuts[v][0]);
          input.value = c; chosen.cuts[v][end] = c; show();
        });
        const ends = document.createElement("p"); ends.className = "soft ends";
        cut.append(label, svg, input, ends); box.append(cut);
      }
    });
  }
  function curves() {
    for (const cut of $("sliders").children) {
      const v = Number(cut.dataset.v), end = Number(cut.dataset.end), column = data.columns[chosen.family.columns[v]];
      const values = curve(v, end), least = Math.min(...values), most = Math.max(least + 1, ...values), last = values.length - 1;
      const y = (e) => 60 - 56 * (e - least) / (most - least), x = (k) => 1000 * k / last;
      const range = chosen.family.ranges[v].slice(2 * end, 2 * end + 2), svg = cut.querySelector("svg");
      svg.setAttribute("viewBox", "0 0 1000 64");
      const limit = data.optimum + data.slack, shown = limit >= least && limit <= most;
      const now = x(chosen.cuts[v][end]);
      svg.innerHTML = `<rect x="${x(range[0])}" y="0" width="${Math.max(3, x(range[1]) - x(range[0]))}" height="64"></rect>`
        + (shown ? `<line x1="0" x2="1000" y1="${y(limit)}" y2="${y(limit)}"></line>` : "")
        + `<path d="${values.map((e, k) => `${k ? "L" : "M"}${x(k).toFixed(1)} ${y(e).toFixed(1)}`).join("")}"></path>`
        + `<line class="now" x1="${now}" x2="${now}" y1="0" y2="64"></line>`;
      cut.querySelector("output").textContent = column.cuts[chosen.cuts[v][end]];
      cut.querySelector(".ends").textContent = `within the slack from ${column.cuts[range[0]]} to ${column.cuts[range[1]]}; ${least} to ${plural(Math.max(...values), "error")} from ${column.cuts[0]} to ${column.cuts[last]}`;
      cut.querySelector("input").setAttribute("aria-valuetext", `${column.cuts[chosen.cuts[v][end]]}, ${plural(values[chosen.cuts[v][end]], "error")}`);
    }
  }

  // ---------------------------------------------------------------- details of the chosen family
  function show() {
    const truth = truthOf(chosen), errors = errorsOf(truth), within = errors <= data.optimum + data.slack;
    $("formula").textContent = shownText(chosen);
    const held = isBest(chosen) ? chosen.family.held : null;
    $("facts").textContent = `${plural(errors, "error")} (${errors - data.optimum} above the optimum${within ? "" : ", beyond the slack"}), size ${chosen.family.size}`
      + `, one of ${chosen.family.count.toLocaleString("en")} in its family` + (held === null ? "" : `; right on ${(100 * held).toFixed(1)} % of the held-out rows`);
    curves(); differ(truth);
  }
  function differ(truth) {
    const table = $("rows"); table.replaceChildren();
    if (!other) { $("other").textContent = ""; $("difference").textContent = "Choose a formula, press Compare, then choose another."; return; }
    $("other").textContent = shownText(other);
    const theirs = truthOf(other), found = [];
    for (let r = 0; r < rows; r++) if (truth[r] !== theirs[r]) found.push(r);
    const right = found.filter((r) => truth[r] === data.labels[r]).length;
    $("difference").textContent = `${plural(errorsOf(theirs), "error")}; they differ on ${found.length} of ${rows} rows: the chosen one is right on ${right}, the other on ${found.length - right}`
      + (found.length > MOST_ROWS ? `; the first ${MOST_ROWS} are shown` : "");
    const columns = [...new Set([...chosen.family.columns, ...other.family.columns])];
    const line = (cells, tag) => { const tr = document.createElement("tr"); for (const c of cells) { const td = document.createElement(tag); td.textContent = c; tr.append(td); } table.append(tr); };
    if (!found.length) return;
    line(["row", ...columns.map((c) => data.columns[c].name), "label", "chosen", "other", "yes of all"], "th");
    for (const r of found.slice(0, MOST_ROWS)) line([data.rows[r], ...columns.map((c) => {
      const column = data.columns[c];
      return column.kind === "fixed" ? (column.ranks[r] ? "yes" : "no") : column.cuts[column.ranks[r]];
    }), data.answers[data.labels[r]], truth[r] ? "yes" : "no", theirs[r] ? "yes" : "no", `${(100 * data.yes[r] / Math.max(1, data.count)).toFixed(0)} %`], "td");
  }

  // ---------------------------------------------------------------- export
  function sqlNumber(text) { return text.includes(".") && !text.includes("e") && text.length > 15 ? `${text}e0` : text; }
  function sql() {
    const atom = (v) => {
      const column = data.columns[chosen.family.columns[v]], [low, high] = chosen.cuts[v];
      return column.kind === "fixed" ? column.sql
        : column.sql.replace("{low}", () => sqlNumber(column.cuts[low])).replace("{high}", () => sqlNumber(column.cuts[high]));
    };
    const needed = new Set(chosen.family.columns.map((c) => data.sources[data.columns[c].name]));
    const missing = data.missing.filter(([name]) => needed.has(name)).map(([, test]) => test);
    const none = missing.length ? ` WHEN ${missing.join(" OR ")} THEN NULL` : "";
    return `CASE${none} WHEN ${text(chosen.family.tree, (v) => `(${atom(v)})`, { not: "NOT ", and: " AND ", or: " OR " })} THEN ${data.end}`;
  }
  function model() {
    const truth = truthOf(chosen), count = [[0, 0], [0, 0]];
    for (let r = 0; r < rows; r++) count[truth[r]][data.labels[r]] += 1;
    const share = (answer) => count[answer][0] + count[answer][1] ? count[answer][answer] / (count[answer][0] + count[answer][1]) : 0.5;
    const needed = new Set(chosen.family.columns.map((c) => data.sources[data.columns[c].name]));
    const { words, ...kept } = data.model, { latex, words: condition, ...rule } = kept.rules[0];
    const errors = errorsOf(truth), formula = shownText(chosen), proved = errors === data.optimum;
    const [no, yes] = [share(0), share(1)], total = count[0][1] + count[1][1];
    return JSON.stringify({ ...kept, formula, errors, proved, class_shares: [[no, 1 - no], [1 - yes, yes]], default: null,
      rules: [{ ...rule, formula, size: chosen.family.size, errors, proved, precision: yes, support: count[1][0] + count[1][1],
        recall: total ? count[1][1] / total : null }],
      sources: data.model.sources.filter((s) => needed.has(s.name)) }, null, 2);
  }
  function exported(kind) {
    if (kind === "sql") return sql();
    if (kind === "model") return model();
    return `Predict ${data.answers[1]} when ${shownText(chosen)}; otherwise ${data.answers[0]}.\n${plural(errorsOf(truthOf(chosen)), "error")} on ${rows} rows.`;
  }
  function give(kind) {
    const content = exported(kind), shown = $("exported"), link = document.createElement("a");
    shown.textContent = content; shown.hidden = false;
    link.href = URL.createObjectURL(new Blob([content], { type: kind === "model" ? "application/json" : "text/plain" }));
    link.download = { model: "model.json", sql: "rule.sql", text: "rule.txt" }[kind];
    link.click(); setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // ---------------------------------------------------------------- events
  function compare() { if (!chosen) return; other = { family: chosen.family, cuts: chosen.cuts.map((c) => [...c]) }; show(); draw(); }
  $("filter").form.addEventListener("submit", (event) => event.preventDefault());
  $("list").addEventListener("scroll", draw);
  window.addEventListener("resize", draw);
  $("list").addEventListener("click", (event) => { const row = event.target.closest("[role=option]"); if (row) choose(Number(row.dataset.place)); });
  $("list").addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor($("list").clientHeight / ROW) - 1);
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: order.length - 1 };
    if (event.key in steps) { event.preventDefault(); choose(steps[event.key]); } else if (event.key === "c") compare();
  });
  for (const id of ["filter", "size", "errors", "held", "sort"]) $(id).addEventListener("input", refresh);
  $("reset").addEventListener("click", () => chosen && take(chosen.family));
  $("compare").addEventListener("click", compare);
  for (const button of document.querySelectorAll("[data-export]")) button.addEventListener("click", () => chosen && give(button.dataset.export));
  for (const button of document.querySelectorAll("[data-column]")) button.addEventListener("click", () => {
    only = only === button.dataset.column ? null : button.dataset.column;
    for (const one of document.querySelectorAll("[data-column]")) one.setAttribute("aria-pressed", String(one.dataset.column === only));
    refresh(); $("filter").scrollIntoView({ block: "nearest" });
  });
  document.body.classList.toggle("unheld", data.families.every((f) => f.held === null));
  refresh();
  if (order.length) choose(0); else $("facts").textContent = "no formula is within the slack";
})();
