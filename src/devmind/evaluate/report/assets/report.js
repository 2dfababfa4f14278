"use strict";
// Draws what the page's HTML leaves open: charts, sorting, the topics. All text becomes text nodes; nothing is parsed
// as HTML, because topics and hits are whatever a repository or a system under test contains.
(() => {
  const root = document.documentElement;
  const PAGE = 40; // topics drawn at once: the page opens fast, and a reader filters rather than scrolls
  const OPEN_HITS = 1; // hits that find nothing and yet show their code: the first one explains most misses
  let data = null;
  let texts = null; // a promise of the code of all hits: most of the page's data, and not needed before a topic is opened
  const charts = [];

  // Elements ---------------------------------------------------------------------------------------------------------

  const h = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "onclick" || key === "onchange" || key === "oninput" || key === "ontoggle") {
        element.addEventListener(key.slice(2), value);
      } else if (value !== undefined && value !== null && value !== false) {
        element.setAttribute(key, value === true ? "" : value);
      }
    }
    element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return element;
  };
  const $ = (selector) => document.querySelector(selector);
  const $$ = (selector) => [...document.querySelectorAll(selector)];
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const series = (at) => colour(`--s${at % 6}`);

  const number = (value, digits = 3) => {
    if (value === undefined || value === null) return "–";
    return Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(digits);
  };
  const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "±") + number(Math.abs(value));
  const tone = (value, lower) => (!value ? "even" : value > 0 !== lower ? "good" : "bad");
  const lower = (measure) => Boolean((data.about[measure] || {}).lower_is_better);
  const place = (span) => (span.start ? `${span.file}:${span.start}–${span.end}` : span.file);
  // Laying out a question of a megabyte in a narrow column takes a browser minutes.
  const LIST_CHARS = 600;
  const TEXT_CHARS = 20000;
  const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

  // Theme ------------------------------------------------------------------------------------------------------------

  const stored = (value) => {
    try { // a page opened from a file may have no storage
      if (value === undefined) return localStorage.getItem("devmind-theme");
      localStorage.setItem("devmind-theme", value);
    } catch { /* the choice lasts as long as the page */ }
    return null;
  };
  const themed = (theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
    const button = $("#theme");
    button.textContent = { light: "Light", dark: "Dark" }[theme] || "Auto";
  };
  const nextTheme = () => {
    const themes = ["auto", "light", "dark"];
    const theme = themes[(themes.indexOf(root.dataset.theme || "auto") + 1) % 3];
    themed(theme);
    stored(theme);
    redraw();
  };

  // Tables that sort -------------------------------------------------------------------------------------------------

  const sortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = h("button", { type: "button" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, heads, column));
    });
  };
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    const value = Number(text.replace(/[,−]/g, (sign) => (sign === "−" ? "-" : "")));
    return text === "" || Number.isNaN(value) ? text : value;
  };
  const sort = (table, heads, column) => {
    const falling = heads[column].getAttribute("aria-sort") !== "descending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", falling ? "descending" : "ascending");
    const missing = (value) => value === "–" || value === "";
    const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row, column), row]);
    rows.sort(([a], [b]) => {
      if (missing(a) || missing(b)) return missing(a) - missing(b); // what is not defined stays last
      const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
      return falling ? -order : order;
    });
    table.tBodies[0].append(...rows.map(([, row]) => row));
  };

  // Charts -----------------------------------------------------------------------------------------------------------

  const chart = (element, height, option) => {
    if (height) element.style.height = `${height}px`;
    let drawn = charts.find((one) => one.element === element);
    if (!drawn) {
      drawn = { element, instance: echarts.init(element, null, { renderer: "canvas" }) };
      charts.push(drawn);
    }
    drawn.instance.resize();
    const text = { color: colour("--muted"), fontFamily: getComputedStyle(document.body).fontFamily, fontSize: 12 };
    drawn.instance.setOption({
      animation: false,
      textStyle: text,
      tooltip: {
        renderMode: "richText", // draws text; the other mode would set HTML
        confine: true, backgroundColor: colour("--surface"), borderColor: colour("--line"),
        textStyle: { color: colour("--ink"), fontSize: 12 },
      },
      ...option,
    }, true);
    return drawn.instance;
  };
  const axis = (more = {}) => ({
    axisLine: { lineStyle: { color: colour("--line") } },
    axisTick: { show: false },
    axisLabel: { color: colour("--muted") },
    splitLine: { lineStyle: { color: colour("--line") } },
    nameTextStyle: { color: colour("--muted") },
    ...more,
  });
  const legend = () => data.runs.length > 1
    ? { data: data.runs.map((run) => run.system), top: 0, right: 0, icon: "circle", itemWidth: 9, itemHeight: 9,
        textStyle: { color: colour("--muted") }, type: "plain" }
    : undefined;

  // Names of systems are long: where they do not fit beside each other, each has a line of its own above the chart.
  const above = (element) => {
    if (data.runs.length < 2) return 10;
    const wide = data.runs.reduce((sum, run) => sum + 30 + 7 * run.system.length, 0);
    return 16 + 18 * (wide < element.clientWidth ? 1 : data.runs.length);
  };

  const drawGroups = () => {
    const element = $("#group-chart");
    if (!element) return;
    const grouping = $('[data-grouping][aria-pressed="true"]').dataset.grouping;
    const measure = $("#group-measure").value;
    const found = (run, value) => ((run.groups || {})[grouping] || {})[value]?.[measure] || {};
    const values = [...new Set(data.runs.flatMap((run) => Object.keys((run.groups || {})[grouping] || {})))]
      .filter((value) => data.runs.some((run) => found(run, value).mean !== undefined))
      .sort((a, b) => (found(data.runs.at(-1), a).mean ?? -1) - (found(data.runs.at(-1), b).mean ?? -1));
    const narrow = element.clientWidth < 560;
    const most = narrow ? 14 : 30;
    const gap = data.runs.length > 1 ? 0.5 / (data.runs.length - 1) : 0;
    const at = (row, run) => row + (data.runs.length > 1 ? 0.25 - run * gap : 0);
    const lines = data.runs.map((run, i) => ({
      type: "line", name: run.system, silent: true, symbol: "none",
      lineStyle: { width: 3, color: series(i), opacity: 0.45, cap: "round" }, itemStyle: { color: series(i) },
      data: values.flatMap((value, row) => {
        const one = found(run, value);
        return one.low === undefined ? [] : [[one.low, at(row, i)], [one.high, at(row, i)], ["-", "-"]];
      }),
    }));
    const dots = data.runs.map((run, i) => ({
      type: "scatter", name: run.system, symbolSize: 9, itemStyle: { color: series(i) },
      data: values.flatMap((value, row) => {
        const one = found(run, value);
        return one.mean === undefined ? [] : [{ value: [one.mean, at(row, i)], about: { value, one, run } }];
      }),
      tooltip: { formatter: ({ data: dot }) => {
        const { value, one, run: of } = dot.about;
        const range = one.low === undefined ? "no interval" : `[${number(one.low)}, ${number(one.high)}]`;
        return `${shortened(value, 60)}\n${of.system}: ${number(one.mean)} ${range}\n${one.n} topics`;
      } },
    }));
    const share = (data.about[measure] || {}).share !== false;
    chart(element, Math.max(120, 34 + above(element) + values.length * (18 + 13 * data.runs.length)), {
      legend: legend(),
      grid: { left: 8, right: 24, top: above(element), bottom: 8, containLabel: true },
      xAxis: { type: "value", min: share ? 0 : undefined, max: share ? 1 : undefined,
        ...axis({ axisLine: { show: false } }) },
      yAxis: {
        type: "value", min: -0.6, max: values.length - 0.4, interval: 1,
        ...axis({ splitLine: { show: false }, axisLine: { show: false } }),
        axisLabel: { show: false, customValues: values.map((_, row) => row),
          formatter: (row) => shortened(values[row] ?? "", most) },
        axisTick: { show: false, customValues: values.map((_, row) => row) },
      },
      series: [...lines, ...dots],
    });
    const shown = charts.find((one) => one.element === element).instance;
    shown.setOption({ yAxis: { axisLabel: { show: true, color: colour("--ink") } } });
  };

  const drawRanks = () => {
    const element = $('[data-chart="ranks"]');
    const k = Math.max(...data.runs.map((run) => run.k));
    const ranks = Array.from({ length: k }, (_, i) => String(i + 1));
    const topics = data.topics.filter((topic) => (topic.truths || []).length && !topic.by_file_only);
    const bars = data.runs.map((run, i) => {
      const counts = new Array(k + 1).fill(0);
      topics.forEach((topic) => { counts[(topic.runs[i].found_at || k + 1) - 1] += 1; });
      return {
        type: "bar", name: run.system, itemStyle: { color: series(i), borderRadius: [3, 3, 0, 0] }, barMaxWidth: 26,
        data: counts.map((count) => (topics.length ? count / topics.length : 0)),
        tooltip: { formatter: (bar) => {
          const where = bar.dataIndex === k ? "not found" : `first right hit at rank ${bar.dataIndex + 1}`;
          return `${run.system}\n${where}: ${counts[bar.dataIndex]} topics (${(100 * bar.value).toFixed(1)} %)`;
        } },
      };
    });
    chart(element, 0, {
      legend: legend(),
      grid: { left: 4, right: 8, top: above(element), bottom: 4, containLabel: true },
      xAxis: { type: "category", data: [...ranks, "none"], ...axis() },
      yAxis: { type: "value", ...axis({ axisLabel: { color: colour("--muted"), formatter: (v) => `${Math.round(100 * v)} %` } }) },
      series: bars,
    });
  };

  const drawConfidence = () => {
    const figure = $("#figure-confidence");
    const last = data.runs.length - 1;
    const known = data.topics.map((topic) => ({
      value: topic.runs[last].confidence, trap: topic.category === "trap" && !(topic.truths || []).length,
    })).filter((one) => one.value !== undefined);
    if (!known.length) {
      figure.replaceChildren(h("figcaption", {}, "Confidence"), h("p", { class: "dim" }, "The system gives none."));
      return;
    }
    const values = known.map((one) => one.value);
    const low = Math.min(0, ...values), high = Math.max(1, ...values);
    const bins = 20;
    const bin = (value) => Math.min(bins - 1, Math.floor(((value - low) / (high - low)) * bins));
    const share = (wanted) => {
      const chosen = known.filter((one) => one.trap === wanted);
      const counts = new Array(bins).fill(0);
      chosen.forEach((one) => { counts[bin(one.value)] += 1; });
      return counts.map((count) => (chosen.length ? count / chosen.length : 0));
    };
    const names = [["has an answer", false, "--good"], ["trap", true, "--bad"]]
      .filter(([, wanted]) => known.some((one) => one.trap === wanted));
    $("#figure-confidence figcaption").textContent = `Confidence of ${data.runs[last].system}`;
    chart($('[data-chart="confidence"]'), 0, {
      legend: { data: names.map(([name]) => name), top: 0, right: 0, icon: "circle", itemWidth: 9, itemHeight: 9,
        textStyle: { color: colour("--muted") } },
      grid: { left: 4, right: 8, top: 34, bottom: 4, containLabel: true },
      xAxis: { type: "category", ...axis(),
        data: Array.from({ length: bins }, (_, i) => (low + ((i + 0.5) * (high - low)) / bins).toFixed(2)) },
      yAxis: { type: "value", ...axis({ axisLabel: { color: colour("--muted"), formatter: (v) => `${Math.round(100 * v)} %` } }) },
      series: names.map(([name, wanted, tint]) => ({
        type: "bar", name, barGap: "-100%", barCategoryGap: "12%", data: share(wanted),
        itemStyle: { color: colour(tint), opacity: 0.6, borderRadius: [3, 3, 0, 0] },
        tooltip: { formatter: (bar) => `${name}, confidence about ${bar.name}: ${(100 * bar.value).toFixed(1)} %` },
      })),
    });
  };

  const drawMoved = (element) => {
    const at = Number(element.dataset.at);
    const measure = data.compared[at].measures.includes(data.primary) ? data.primary : data.compared[at].measures[0];
    const moved = data.topics
      .map((topic, index) => ({ index, value: difference(topic, at + 1, measure) }))
      .filter((one) => one.value)
      .sort((a, b) => a.value - b.value);
    if (!moved.length) {
      element.replaceWith(h("p", { class: "dim" }, `No topic differs in ${measure}.`));
      return;
    }
    const drawn = chart(element, 240, {
      grid: { left: 4, right: 8, top: 26, bottom: 8, containLabel: true },
      xAxis: { type: "category", show: false, data: moved.map((one) => one.index) },
      yAxis: { type: "value", name: `difference in ${measure}`, nameLocation: "end", ...axis(),
        nameTextStyle: { color: colour("--muted"), align: "left" } },
      series: [{
        type: "bar", barMaxWidth: 48, barCategoryGap: moved.length > 200 ? "0%" : "15%",
        data: moved.map((one) => ({
          value: one.value, topic: one.index,
          itemStyle: { color: colour({ good: "--good", bad: "--bad", even: "--even" }[tone(one.value, lower(measure))]) },
        })),
        tooltip: { formatter: (bar) => {
          const topic = data.topics[bar.data.topic];
          return `${signed(bar.value)}  ${shortened(topic.id, 40)}\n${shortened(topic.query, 70)}`;
        } },
      }],
    });
    drawn.off("click");
    drawn.on("click", (bar) => show(data.topics[bar.data.topic].id));
  };

  // A chart is drawn when it comes near the screen, and again when size or theme changed since.
  const drawers = { groups: drawGroups, ranks: drawRanks, confidence: drawConfidence, moved: drawMoved };
  const near = new IntersectionObserver((entries) => {
    entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => {
      near.unobserve(target);
      drawers[target.dataset.chart](target);
    });
  }, { rootMargin: "400px" });
  const redraw = () => $$("[data-chart]").forEach((element) => {
    near.unobserve(element);
    near.observe(element);
  });

  // Topics -----------------------------------------------------------------------------------------------------------

  const value = (topic, run, measure) => (topic.runs[run].measures || {})[measure];
  const difference = (topic, run, measure) => {
    const [before, now] = [value(topic, 0, measure), value(topic, run, measure)];
    return before === undefined || now === undefined ? undefined : now - before;
  };
  const compared = () => data.compared.length > 0;
  const last = () => data.runs.length - 1;

  const STATES = {
    all: ["all topics", () => true],
    missed: ["not found", (topic, run) => (topic.truths || []).length && run.outcome === "scored" && !run.found_at],
    late: ["found below rank 1", (_, run) => run.found_at > 1],
    partly: ["some truths missing", (topic, run) => run.found_at && missing(topic, run).length],
    failed: ["failed or missing", (_, run) => run.outcome === "failed" || run.outcome === "missing"],
    traps: ["traps", (topic) => topic.category === "trap" && !(topic.truths || []).length],
    refused: ["refused", (_, run) => Boolean(run.abstained)],
    lost: ["worse than baseline", (topic) => tone(difference(topic, last(), data.primary), lower(data.primary)) === "bad"],
    won: ["better than baseline", (topic) => tone(difference(topic, last(), data.primary), lower(data.primary)) === "good"],
  };
  const found = (run) => new Set((run.hits || []).flatMap((hit) => hit.truths || []));
  const missing = (topic, run) => {
    const have = found(run);
    return (topic.truths || []).filter((_, at) => !have.has(at));
  };

  const filters = { text: "", category: "", repo: "", state: "all", order: "file" };
  let chosen = [];
  let drawnTopics = 0;

  const choose = () => {
    const words = filters.text.toLowerCase().split(/\s+/).filter(Boolean);
    chosen = data.topics.filter((topic) => {
      const text = `${topic.id} ${topic.query} ${(topic.truths || []).map((one) => one.file).join(" ")}`.toLowerCase();
      return words.every((word) => text.includes(word))
        && (!filters.category || (topic.category || "(none)") === filters.category)
        && (!filters.repo || (topic.repo || "(none)") === filters.repo)
        && STATES[filters.state][1](topic, topic.runs[last()]);
    });
    const key = {
      worst: (topic) => value(topic, last(), data.primary) ?? 2,
      best: (topic) => -(value(topic, last(), data.primary) ?? -1),
      lost: (topic) => difference(topic, last(), data.primary) ?? 0,
      won: (topic) => -(difference(topic, last(), data.primary) ?? 0),
    }[filters.order];
    if (key) {
      const sign = lower(data.primary) ? -1 : 1;
      chosen = chosen.map((topic) => [sign * key(topic), topic]).sort((a, b) => a[0] - b[0]).map(([, topic]) => topic);
    }
  };

  const list = () => {
    choose();
    drawnTopics = 0;
    $("#list").replaceChildren();
    $(".count").textContent = `${chosen.length.toLocaleString("en")} of ${data.topics.length.toLocaleString("en")} topics`;
    more();
  };
  const more = () => {
    const next = chosen.slice(drawnTopics, drawnTopics + PAGE);
    $("#list").append(...next.map(row));
    drawnTopics += next.length;
    $(".more").hidden = drawnTopics >= chosen.length;
  };

  const row = (topic) => {
    const element = h("details", { class: "topic", "data-id": topic.id, ontoggle: () => {
      if (element.open && !element.dataset.drawn) {
        element.dataset.drawn = "1";
        element.append(body(topic));
      }
    } });
    const tags = [topic.category, topic.repo, topic.language].filter(Boolean);
    element.append(h("summary", {}, h("div", {},
      h("div", { class: "query" }, shortened(topic.query, LIST_CHARS)),
      h("div", { class: "tags" }, h("code", {}, topic.id), ...tags.map((tag) => h("span", {}, tag))),
    ), h("div", { class: "values" }, ...values(topic))));
    return element;
  };

  const values = (topic) => {
    const trap = topic.category === "trap" && !(topic.truths || []).length;
    const shown = data.runs.map((run, i) => {
      const responded = topic.runs[i];
      const dot = h("i", { class: `dot s${i % 6}` });
      const label = responded.outcome === "failed" ? (responded.failure || {}).kind || "failed"
        : responded.outcome === "missing" ? "missing"
        : trap ? (responded.abstained || !(responded.hits || []).length ? "refused" : "not refused")
        : topic.by_file_only ? (responded.found_at ? `file at ${responded.found_at}` : "file not found")
        : number(value(topic, i, data.primary));
      const bad = responded.outcome === "failed" || responded.outcome === "missing" || label === "not refused";
      return h("span", { class: bad ? "bad" : "", title: `${run.system} ${trap ? "" : data.primary}` }, dot, label);
    });
    const change = compared() ? difference(topic, last(), data.primary) : undefined;
    const delta = change === undefined ? null
      : h("span", { class: `delta ${tone(change, lower(data.primary))}` }, change ? signed(change) : "=");
    return [...shown, delta];
  };

  const body = (topic) => h("div", { class: "body" },
    topic.query.length > LIST_CHARS ? h("div", { class: "answer" }, shortened(topic.query, TEXT_CHARS)) : null,
    h("h4", {}, (topic.truths || []).length ? "Ground truth" : "No ground truth"),
    h("ul", { class: "truths" }, ...(topic.truths || []).map((truth, at) => truthRow(topic, truth, at))),
    topic.reference_answer
      ? h("details", { class: "reference" }, h("summary", {}, "Reference answer"), h("div", { class: "answer" }, shortened(topic.reference_answer, TEXT_CHARS)))
      : null,
    labels(topic),
    h("div", { class: "systems" }, ...data.runs.map((run, i) => responded(topic, run, i))),
  );
  const labels = (topic) => {
    const known = Object.entries(topic.labels || {});
    if (topic.commit) known.push(["commit", topic.commit.slice(0, 12)]);
    return known.length ? h("div", { class: "tags" }, ...known.map(([key, one]) => h("span", {}, `${key}: ${one}`))) : null;
  };
  const truthRow = (topic, truth, at) => {
    const ranks = data.runs.map((run, i) => {
      const rank = (topic.runs[i].hits || []).findIndex((hit) => (hit.truths || []).includes(at)) + 1;
      const said = rank ? `rank ${rank}` : "not found";
      return h("span", { class: rank ? "good" : "bad" }, h("i", { class: `dot s${i % 6}` }), said);
    });
    return h("li", {}, h("span", { class: "place" }, place(truth)), truth.symbol ? h("span", {}, truth.symbol) : null,
      h("span", { class: "dim" }, truth.grade), ...ranks);
  };

  const responded = (topic, run, i) => {
    const response = topic.runs[i];
    const head = h("h4", {}, h("i", { class: `dot s${i % 6}` }), run.system, " ", h("span", { class: "dim" }, facts(response)));
    const parts = [head];
    if (response.failure) {
      const { kind, message, n_tries: tries } = response.failure;
      parts.push(h("div", { class: "failed" }, `${kind} after ${tries} ${tries === 1 ? "attempt" : "attempts"}: ${message}`));
    } else if (response.outcome === "missing") {
      parts.push(h("div", { class: "failed" }, "The run holds no response to this topic."));
    } else {
      if (response.answer) parts.push(h("div", { class: "answer" }, shortened(response.answer, TEXT_CHARS)));
      if (!(response.hits || []).length) parts.push(h("p", { class: "dim" }, "No hits."));
      (response.hits || []).forEach((hit, at) => parts.push(hitRow(topic, hit, at)));
      const asides = [...(response.notes || []), ...(response.dropped || []).map((one) => `left out: ${one}`)];
      if (asides.length) parts.push(h("ul", { class: "dim" }, ...asides.map((one) => h("li", {}, one))));
    }
    return h("div", {}, ...parts);
  };
  const facts = (response) => [
    response.abstained ? "refused" : "",
    response.confidence !== undefined ? `confidence ${number(response.confidence, 2)}` : "",
    response.seconds ? `${response.seconds.toFixed(response.seconds < 1 ? 3 : 1)} s` : "",
  ].filter(Boolean).join(" · ");

  const hitRow = (topic, hit, at) => {
    const right = (hit.truths || []).length > 0;
    const note = hit.outside ? "outside its file" : hit.unmapped ? "no lines" : "";
    const head = [
      h("span", { class: "rank" }, String(at + 1)),
      h("span", { class: "place" }, place(hit) || "text without a place"),
      hit.symbol ? h("span", { class: "symbol" }, hit.symbol) : null,
      note ? h("span", { class: "bad" }, note) : null,
      h("span", { class: "score" }, hit.score === undefined ? "" : number(hit.score)),
    ];
    const shell = `hit${right ? " found" : ""}`;
    if (hit.text === undefined) return h("div", { class: shell }, h("div", { class: "head" }, ...head));
    return h("details", { class: shell, open: right || at < OPEN_HITS }, h("summary", {}, ...head), code(topic, hit));
  };
  const code = (topic, hit) => {
    const grades = new Map();
    (topic.truths || []).filter((truth) => truth.file === hit.file && truth.start).forEach((truth) => {
      for (let line = truth.start; line <= Math.min(truth.end, truth.start + 5000); line += 1) {
        if (grades.get(line) !== "strong") grades.set(line, truth.grade);
      }
    });
    const block = h("pre", {});
    texts.then((all) => block.append(...all[hit.text].split("\n").map((text, i) => {
      const line = hit.first ? hit.first + i : "";
      const grade = grades.get(line);
      const kind = grade ? (grade === "weak" ? "truth weak" : "truth") : undefined;
      return h("div", { class: kind, "data-line": String(line) }, text || " ");
    })));
    return block;
  };

  const show = (id) => {
    Object.assign(filters, { text: "", category: "", repo: "", state: "all" });
    $$("#explorer [data-filter]").forEach((input) => { input.value = filters[input.dataset.filter]; });
    list();
    const at = chosen.findIndex((topic) => topic.id === id);
    if (at < 0) return;
    while (drawnTopics <= at) more();
    const element = $("#list").children[at];
    element.open = true;
    element.scrollIntoView({ block: "start" });
  };

  const explorer = () => {
    const set = (event) => {
      filters[event.target.dataset.filter] = event.target.value;
      list();
    };
    const select = (filter, label, options) => h("select", { "data-filter": filter, "aria-label": label, onchange: set },
      ...options.map(([key, text]) => h("option", { value: key }, text)));
    const distinct = (field) => [...new Set(data.topics.map((topic) => topic[field] || "(none)"))].sort();
    const choices = (field, all) => [["", all], ...distinct(field).map((one) => [one, one])];
    const states = Object.entries(STATES).filter(([key]) => compared() || (key !== "lost" && key !== "won"));
    const orders = [["file", "order of the dataset"], ["worst", `worst ${data.primary} first`],
      ["best", `best ${data.primary} first`], ...(compared() ? [["lost", "most lost first"], ["won", "most won first"]] : [])];
    $("#explorer").append(
      h("div", { class: "filters" },
        h("input", { type: "search", placeholder: "Words of the question, an id, a file", "data-filter": "text",
          "aria-label": "Search topics", oninput: set }),
        select("state", "Outcome", states.map(([key, [text]]) => [key, text])),
        select("category", "Category", choices("category", "all categories")),
        select("repo", "Repository", choices("repo", "all repositories")),
        select("order", "Order", orders)),
      h("p", { class: "count", "aria-live": "polite" }),
      h("div", { id: "list" }),
      h("button", { type: "button", class: "more", onclick: more }, "More topics"));
    list();
  };

  // Start ------------------------------------------------------------------------------------------------------------

  const bytesOf = (text) => {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
    return bytes;
  };
  const unpacked = async (id) => {
    const bytes = bytesOf($(id).textContent);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };
  const groupTabs = () => {
    const tabs = $$("[data-grouping]");
    const press = (name) => {
      tabs.forEach((tab) => tab.setAttribute("aria-pressed", String(tab.dataset.grouping === name)));
      $$("[data-group]").forEach((block) => { block.hidden = block.dataset.group !== name; });
      $$("[data-group] > h3").forEach((title) => { title.hidden = true; });
    };
    tabs.forEach((tab) => tab.addEventListener("click", () => { press(tab.dataset.grouping); drawGroups(); }));
    $("#group-measure")?.addEventListener("change", drawGroups);
    if (tabs.length) press(tabs[0].dataset.grouping);
  };
  const whenSized = () => {
    let waiting = 0;
    addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(redraw, 120);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  };

  const start = async () => {
    themed(stored());
    $("#theme").addEventListener("click", nextTheme);
    $$("table.sortable").forEach(sortable);
    try {
      data = await unpacked("#data");
    } catch (error) {
      $("#explorer").append(h("p", { class: "failed" }, `This browser cannot read the page's data (${error.message}); a newer one can.`));
      return;
    }
    data.compared ||= [];
    root.classList.add("scripts");
    root.classList.toggle("compared", compared());
    groupTabs();
    explorer();
    redraw();
    $$("[data-topic]").forEach((link) => link.addEventListener("click", (event) => {
      event.preventDefault();
      show(link.dataset.topic);
    }));
    whenSized();
    texts = new Promise((resolve) => { setTimeout(resolve, 0); }).then(() => unpacked("#texts"));
    root.dataset.ready = String(Math.round(performance.now()));
  };
  start();
})();
