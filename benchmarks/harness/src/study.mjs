// @ts-check
// The command of a study: options, measuring, the report, files of results and charts, figures in its README.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { drawChart } from './charts.mjs';
import { withFigures } from './marks.mjs';
import { beginRun, REPOSITORY, readResults, writeResults } from './results.mjs';
import { aligned } from './tables.mjs';

/** @typedef {import('./charts.mjs').Chart} Chart */
/** @typedef {NonNullable<import('node:util').ParseArgsConfig['options']>} Own */

const COMMON = /** @type {const} */ ({
  short: { type: 'boolean', default: false },
  out: { type: 'string' },
  render: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
});

const COMMON_USAGE = `  --short           a small form that takes seconds; no files without --out
  --out DIR         where to put files, instead of results/ of the study; the README stays as it is
  --render          measures nothing: report, charts and README from the file of results
  --help            this text
`;

/**
 * @template {Own} Options
 * @template Plan
 * @template {object} Content
 * @typedef {object} Study
 * @property {string} name of its folder in benchmarks/studies
 * @property {string} [program] of that folder, where it is not `src/study.ts`
 * @property {string} about what it measures: the head of its help
 * @property {string} usage its own options, a line for each
 * @property {Options} options
 * @property {string} file its results, in `results/`
 * @property {number} [digits] significant ones of numbers in that file
 * @property {(values: StudyValues<Options>) => Plan} plan what the options ask for; throws RangeError if that is not possible
 * @property {(plan: Plan, say: (text: string) => void) => Content | Promise<Content>} measure
 * @property {(results: import('./results.mjs').Head & Content) => string} report as Markdown
 * @property {(results: import('./results.mjs').Head & Content) => Iterable<readonly [string, Chart]>} charts by file name
 * @property {string} [reportFile] where the report is kept, beside the results
 * @property {Readonly<Record<string, (read: (file: string) => import('./results.mjs').Head & Content) => string>>} [figures]
 *   what stands between the marks of its README, by name; `read` reads a file of `results/`. The report is called `report`
 * @property {(plan: Plan) => import('./results.mjs').Merging<Content>} [merging] where parts can be measured by themselves
 * @property {(results: import('./results.mjs').Head & Content) => string | null} [complaint] what is wrong: the exit code is 1
 */

/**
 * @template {Own} Options
 * @typedef {ReturnType<typeof parseArgs<{ options: typeof COMMON & Options }>>['values']} StudyValues
 */

/**
 * A study, for {@link runStudy} and for tests.
 *
 * @template {Own} Options
 * @template Plan
 * @template {object} Content
 * @param {Study<Options, Plan, Content>} study
 */
export const defineStudy = (study) => study;

/** @param {string} name */
const folderOf = (name) => join(REPOSITORY, 'benchmarks', 'studies', name);

/**
 * What is made of the results of a study, in its own folder: charts, the report if it keeps one, the README.
 *
 * @template {Own} Options
 * @template Plan
 * @template {object} Content
 * @param {Study<Options, Plan, Content>} study
 * @returns {Promise<{ path: string, text: string }[]>}
 */
export async function madeOfResults(study) {
  const folder = join(folderOf(study.name), 'results');
  const readme = join(folderOf(study.name), 'README.md');
  /** @type {(file: string) => import('./results.mjs').Head & Content} */
  const read = (file) => readResults(join(folder, file));
  const results = read(study.file);
  const text = withFigures(readFileSync(readme, 'utf8'), (name) => {
    if (name === 'report') return study.report(results);
    const figures = study.figures?.[name];
    if (figures === undefined) throw new Error(`${study.name} has no figures called ${name}`);
    return figures(read);
  });
  return [...(await files(study, results, folder, study.reportFile)), { path: readme, text }];
}

/**
 * @template {Own} Options
 * @template Plan
 * @template {object} Content
 * @param {Study<Options, Plan, Content>} study
 * @param {import('./results.mjs').Head & Content} results
 * @param {string} folder
 * @param {string | undefined} reportFile
 */
async function files(study, results, folder, reportFile) {
  const made = [];
  for (const [name, chart] of study.charts(results))
    made.push({ path: join(folder, name), text: await drawChart(chart) });
  if (reportFile !== undefined) {
    made.push({ path: join(folder, reportFile), text: `${study.report(results).trimEnd()}\n` });
  }
  return made;
}

/**
 * Runs a study.
 *
 * @template {Own} Options
 * @template Plan
 * @template {object} Content
 * @param {Study<Options, Plan, Content>} study
 * @param {readonly string[]} args
 * @param {(text: string) => void} [out] receives the report
 * @param {(text: string) => void} [say] is told what is being done
 * @returns {Promise<number>} the exit code
 */
export async function runStudy(study, args, out = console.log, say = console.error) {
  const usage = `Usage: npm run study -- ${study.name} [options]\n\n${study.about}\n\n${study.usage}${COMMON_USAGE}`;
  const around = beginRun(`benchmarks/studies/${study.name}/${study.program ?? 'src/study.ts'}`, args);
  /** @type {StudyValues<Options>} */
  let values;
  /** @type {Plan} */
  let plan;
  try {
    values = parseArgs({ args: [...args], options: { ...COMMON, ...study.options } }).values;
    plan = study.plan(values);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    say(`${error.message}\n\n${usage}`);
    return 2;
  }
  const common = /** @type {{ short: boolean, render: boolean, help: boolean, out?: string }} */ (values);
  if (common.help) {
    out(usage);
    return 0;
  }
  const own = join(folderOf(study.name), 'results');
  const folder = common.out ?? (common.short && !common.render ? null : own);
  const file = join(folder ?? own, study.file);
  /** @type {import('./results.mjs').Head & Content} */
  let results;
  if (common.render) results = /** @type {typeof results} */ (readResults(file));
  else {
    const content = await study.measure(plan, say);
    const how = {
      ...(study.digits !== undefined && { digits: study.digits }),
      ...(study.merging !== undefined && { merging: study.merging(plan) }),
    };
    if (folder === null) results = { ...around(), digest: '', ...content };
    else results = writeResults(file, around(), content, how);
  }
  out(aligned(study.report(results)));
  if (folder !== null) {
    mkdirSync(folder, { recursive: true });
    const made = common.out === undefined ? madeOfResults(study) : files(study, results, folder, 'report.md');
    for (const { path, text } of await made) writeFileSync(path, text);
    say(`results in ${folder}`);
  }
  const complaint = study.complaint?.(results) ?? null;
  if (complaint === null) return 0;
  say(complaint);
  return 1;
}
