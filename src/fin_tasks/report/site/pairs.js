// Pairs of a comparison, from the two numbers of each that pair_columns.py kept.

const NO_WIDTH = 0xffff;

/** Two runs of a comparison, seen from the first; null where they were not compared. */
function pairOf(comparison, first, second) {
  const {members, pairs} = comparison;
  let [i, j] = [members.get(first.at), members.get(second.at)];
  if (i === undefined || j === undefined || i === j) return null;
  const turned = i > j;
  if (turned) [i, j] = [j, i];
  const at = i * members.size - (i * (i + 1)) / 2 + (j - i - 1);
  const n = cellOf(pairs.n, at);
  if (n === null) return null;
  const sign = (value) => (value === null || !turned ? value : -value);
  const difference = pairs.difference === undefined ? worthOf(comparison, i) - worthOf(comparison, j) : cellOf(pairs.difference, at);
  const [low, high] = intervalOf(comparison, at, n, difference);
  const {p, holm} = pValues(comparison);
  const [from, to] = turned ? [high, low] : [low, high];
  return {n, difference: sign(rounded(difference)), low: sign(from), high: sign(to), p: cellOf(p, at), holm: cellOf(holm, at)};
}

/** As many digits as the document has, which halves of binary numbers are not among. */
function rounded(number) {
  return number === null ? null : Number(number.toPrecision(6));
}

/** The value of a member, by which it is ranked. */
function worthOf(comparison, member) {
  comparison.worth ??= new Map(comparison.ranks.map(({run, value}) => [comparison.members.get(run.at), value]));
  return comparison.worth.get(member);
}

function intervalOf({pairs}, at, n, difference) {
  if (pairs.half === undefined) return [cellOf(pairs.low, at), cellOf(pairs.high, at)];
  pairs.halves ??= new Uint16Array(bytesOf(pairs.half));
  if (pairs.halves[at] === NO_WIDTH) return [null, null];
  const [middle, half] = [difference * n / (n + pairs.more), pairs.halves[at] * pairs.scale];
  return [middle - half, middle + half];
}

/** p-values of all pairs, and corrected for as many by Holm's method. */
function pValues(comparison) {
  const {pairs} = comparison;
  if (typeof pairs.p !== "string") return {p: pairs.p, holm: pairs.p_holm};
  const read = (text) => Array.from(new Float32Array(bytesOf(text)), rounded);
  comparison.p ??= read(pairs.p);
  comparison.holm ??= pairs.p_holm === undefined ? holmOf(comparison.p) : read(pairs.p_holm);
  return {p: comparison.p, holm: comparison.holm};
}

/** The i-th smallest of m times m - i + 1, none below one before it, none above 1; those of no pair are left out. */
function holmOf(p) {
  const order = p.map((_, at) => at).filter((at) => !Number.isNaN(p[at])).sort((a, b) => p[a] - p[b]);
  const found = p.map(() => null);
  let least = 0;
  order.forEach((at, place) => {
    least = Math.min(1, Math.max(least, p[at] * (order.length - place)));
    found[at] = least;
  });
  return found;
}

function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
}

/** Which of a pair is better for certain: 1 the first, -1 the second, 0 neither can be told. */
function winner(data, comparison, pair) {
  if (!pair || pair.difference === null || pair.holm >= data.alpha || !pair.difference) return 0;
  return Math.sign(pair.difference) * (comparison.metric.higher_is_better === false ? -1 : 1);
}
