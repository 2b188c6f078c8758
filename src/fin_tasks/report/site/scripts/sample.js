// One question: what was asked, the right answer, and what the runs answered, side by side.

async function showSample(host, id, lists, isCurrent) {
  const [first] = lists;
  const chunk = Math.floor(first.indexById.get(id) / report.chunk);
  const questions = await loadData(`asked-${first.files[chunk]}`);
  const answers = await Promise.all(lists.map((list) => readAnswer(list, id)));
  if (!isCurrent()) return;
  const question = questions[first.indexById.get(id) % report.chunk];
  const responses = lists.map((list, index) =>
    responseOf(list, list.indexById.get(id), answers[index], lists.length > 1),
  );
  const columns = el("div", { class: "columns" }, responses);
  const article = { class: "sample", "aria-label": `Sample ${question.id}` };
  host.append(el("article", article, questionOf(question), linkToQuestion(first.run, id), columns));
}

// A question that is right or wrong has a place among all questions.
function linkToQuestion(run, id) {
  if (!report.questions || isPointsRun(run)) return null;
  const question = `${taskOf(run).benchmark}:${id}`;
  const href = link({ view: "questions", question, look: "all", find: "" });
  return el("p", {}, el("a", { href }, "All responses to this question"));
}

async function readAnswer(list, id) {
  const index = list.indexById.get(id);
  if (index === undefined) return null;
  const rows = await loadData(`rows-${list.run.id}-${Math.floor(index / report.chunk)}`);
  return rows[index % report.chunk];
}

function questionOf({ id, system, prompt, truth, choices: options, picture }) {
  const plain = choices.plain ? "Show formulas and tables" : "Show as plain text";
  const href = link({ plain: choices.plain ? "" : "1" });
  const missing = "The results file does not hold the question's text.";
  return [
    el("h3", { id: "sample-title" }, `Question ${id}`),
    el("p", {}, el("a", { href }, plain)),
    pictureOf(id, picture),
    system && more("Instructions to the model", textBlock(system)),
    prompt ? textBlock(prompt, { role: "group", "aria-label": "Question" }) : quiet(missing),
    options && el("p", {}, "Choices: ", options),
    truth && el("p", {}, "Right answer: ", strong(truth)),
  ];
}

function pictureOf(id, picture) {
  if (picture === null) return null;
  if (!picture) return quiet("The picture was not found on the machine that made this report.");
  const href = `page/pictures/${picture}`;
  const alt = `The picture that question ${id} is about`;
  return el("a", { href }, el("img", { src: href, alt }));
}

function responseOf(list, index, answer, areSeveral) {
  const { label } = list.run;
  const title = el("h3", {}, areSeveral ? `Response of ${label}` : "Response");
  if (!answer) {
    const text = "This run was not asked the question.";
    return el("section", { "aria-label": label }, title, el("p", {}, text));
  }
  const texts = answer.said.map((text) => textBlock(text || "(an empty response)"));
  const scorings = Object.entries(list.by).map(([scoring, scores]) =>
    scoringOf(list.run, scoring, scores, index, answer.read[scoring] || []),
  );
  const pleas = (answer.pleas || []).map((text) =>
    el("p", {}, "The response talks to the judge: ", el("q", {}, text)),
  );
  const authors = authorsScore(list, index, answer.authors ?? null);
  return el("section", { "aria-label": label }, title, texts, pleas, authors, scorings);
}

// What the authors of a benchmark say of a recorded response.
function authorsScore(list, index, score) {
  if (isMissing(score)) return null;
  const { kind, text } = outcomeOf(score, false);
  const otherwise = Object.keys(list.by).filter((scoring) =>
    differsFromAuthors(score, list.by[scoring].value[index]),
  );
  const names = otherwise.map((scoring) => SCORINGS[scoring] || scoring);
  const differs = names.length > 0 && `, unlike scored here ${names.join(" and ")}`;
  return el("p", {}, "The authors' own score: ", el("span", { class: kind }, text), differs);
}

function scoringOf(run, scoring, scores, index, readings) {
  const isPoints = isPointsRun(run);
  const { kind, text } = outcomeOf(scores.value[index], isPoints);
  const answer = scores.answer[index];
  const reason = scores.reason[index];
  const read = answer === null ? "No answer was read." : ["Answer read: ", strong(answer)];
  const details = readings.map((text) => el("div", { class: "text", tabindex: 0 }, text));
  const title = `Scored ${scoringName(scoring, [taskOf(run).benchmark])}: `;
  return [
    el("h3", {}, title, el("span", { class: kind }, text)),
    !isPoints && el("p", {}, read),
    reason && el("p", {}, `Reason: ${reason}`),
    scores.cut_off[index] && el("p", {}, "The response was cut off."),
    more("More about this scoring", details),
  ];
}
