// For `make lint-page`, which checks the scripts of the page joined, as the page has them.

const js = require("@eslint/js");
const globals = require("globals");

module.exports = [
  js.configs.recommended,
  { languageOptions: { sourceType: "script", globals: globals.browser } },
];
