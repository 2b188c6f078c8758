// What the page uses of Observable Plot and d3-shape; the rest is left out by the bundler.
export {axisX, axisY, dot, gridX, line, link, plot, ruleX, text} from "@observablehq/plot";
export {symbol, symbolsFill} from "d3-shape";
