// Published questions against variants of them with other numbers.

const GAP_TEXT =
  "Each published question is asked again with other numbers. The gap is the score on published " +
  "questions minus the score on their variants. A model that computes has no gap. Recalled is the " +
  "share of variants that got the published answer. Spread is the deviation among the variants " +
  "of a question.";

function showMemorization(main) {
  main.append(el("h2", {}, "Memorization"), quiet(GAP_TEXT));
  const tasks = tasksShown().filter((task) => task.scoring === choices.scoring);
  const shown = tasks.flatMap(gapTable);
  main.append(...(shown.length ? shown : [el("p", {}, "Here no model was asked variants.")]));
}

function gapTable(task) {
  const gaps = report.gaps.filter((gap) => gap.task === task.id && !gap.group);
  if (!gaps.length) return [];
  const metric = headlineOf(task);
  const extremes = gaps.flatMap(({ gap, low, high }) => [gap, low, high].map(Math.abs));
  const maximum = Math.max(...extremes);
  const column = (title, field) => {
    return { title, key: (gap) => gap[field], content: (gap) => valueText(gap[field], metric) };
  };
  const gapOf = (gap) => [
    differenceOf({ metric, pair: { ...gap, difference: gap.gap } }, maximum),
    small(pText(gap.p)),
  ];
  const otherOf = ({ difference }) =>
    difference && [
      `${pointsText(difference.value, metric)} against ${difference.against}`,
      small(pText(difference.p_holm)),
    ];
  const columns = [
    { title: "Model", key: (gap) => gap.model, content: (gap) => gap.model },
    column("Published", "published"),
    column("Variants", "variants"),
    { title: "Gap", key: (gap) => gap.gap, content: gapOf },
    column("Recalled", "recalled"),
    column("Spread", "spread"),
    { title: "Gap compared", content: otherOf, visible: gaps.length > 1 },
    { title: "Questions", key: (gap) => gap.n, content: (gap) => gap.n },
  ];
  return [el("h3", {}, task.name), ...table(`Memorization: ${task.name}`, columns, gaps)];
}
