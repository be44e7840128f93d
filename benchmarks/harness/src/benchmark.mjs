// @ts-check
// One run of a program in benchmarks/src, and its files in benchmarks/results.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { drawChart } from './charts.mjs';
import { beginRun, REPOSITORY, writeResults } from './results.mjs';

const RESULTS = join(REPOSITORY, 'benchmarks', 'results');

/** A run of a benchmark. Make it when the program begins. */
export class BenchmarkRun {
  #around;
  #isShort;

  /**
   * @param {string} program name of its file in benchmarks/src, without `.ts`
   * @param {{ short: boolean, args?: readonly string[] }} how short runs write files that Git does not see
   */
  constructor(program, { short, args }) {
    this.#around = beginRun(`benchmarks/src/${program}.ts`, args);
    this.#isShort = short;
  }

  /** @param {string} name with its ending */
  #path(name) {
    return join(RESULTS, this.#isShort ? `${name.replace(/(\.\w+)$/, '-short$1')}.tmp` : name);
  }

  /**
   * Writes the file of results, when all is measured.
   *
   * @template {object} Content
   * @param {string} name without `.json`
   * @param {Content} content
   * @param {import('./results.mjs').Merging<Content>} [merging] where parts can be measured by themselves
   * @returns {import('./results.mjs').Head & Content} what is in the file
   */
  save(name, content, merging) {
    const isMerged = merging !== undefined && !this.#isShort;
    return writeResults(this.#path(`${name}.json`), this.#around(), content, isMerged ? { merging } : {});
  }

  /**
   * @param {string} name without `.svg`
   * @param {import('./charts.mjs').Chart} chart
   */
  async saveChart(name, chart) {
    const path = this.#path(`${name}.svg`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, await drawChart(chart));
  }
}
