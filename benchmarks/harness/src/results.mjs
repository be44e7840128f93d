// @ts-check
// Files of results. A program writes them, and nobody else: a digest of the content shows an edited figure.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Where and when something was measured. `null`: not known, since the file is older than this head.
 * @typedef {object} Surroundings
 * @property {string} program relative to the repository
 * @property {readonly string[] | null} arguments
 * @property {string | null} commit
 * @property {boolean | null} isTreeClean whether the sources were those of the commit; files of results do not count
 * @property {string | null} date when all was measured
 * @property {string | null} node
 * @property {string | null} v8
 * @property {string | null} kernel
 * @property {Machine | null} machine
 */

/**
 * @typedef {object} Machine
 * @property {string} cpu
 * @property {number} cpus
 * @property {number} memoryGiB
 * @property {number | null} [loadBefore] the load average of a minute when the program began: how quiet the machine was
 * @property {number | null} [loadAfter] when all was measured
 */

/**
 * What every file of results begins with.
 * @typedef {Surroundings & {
 *   parts?: Readonly<Record<string, Omit<Surroundings, 'program'> & { program: string | null, settings?: unknown }>>,
 *   digest: string,
 * }} Head `parts`: what was measured after the rest, by itself. Its program is `null` if figures were typed into the file
 *   before there were digests: no text may quote them.
 */

/**
 * How a run of some parts is put into the file of all parts.
 * @template {object} Content
 * @typedef {object} Merging
 * @property {readonly string[] | null} parts names of what this run has measured; `null`: everything
 * @property {(before: Content, now: Content) => Content} merge
 */

/** The repository's root folder. */
export const REPOSITORY = resolve(fileURLToPath(new URL('../../..', import.meta.url)));
/** Files of results, which are written one after the other by `npm run bench`: they do not make a tree unclean. */
const RESULTS = ['benchmarks/results', 'benchmarks/studies/*/results'];
/** Members of the head, in the order in which they are written. */
const HEAD = /** @type {const} */ ([
  'program',
  'arguments',
  'commit',
  'isTreeClean',
  'date',
  'node',
  'v8',
  'kernel',
  'machine',
  'parts',
  'digest',
]);

/** The machine's load when the program began. */
const loadBefore = loadavg()[0] ?? null;

/**
 * @param {readonly string[]} args
 * @returns {string | null} null without Git
 */
function git(...args) {
  try {
    return execFileSync('git', args, { cwd: REPOSITORY, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}

/**
 * What a run is. To be called when a program begins: the sources may change while it measures.
 *
 * @param {string} program relative to the repository
 * @param {readonly string[]} args
 * @returns {() => Surroundings} to be called when all is measured
 */
export function beginRun(program, args = process.argv.slice(2)) {
  const commit = git('rev-parse', 'HEAD');
  const changed = git('status', '--porcelain', '--', '.', ...RESULTS.map((folder) => `:(exclude,glob)${folder}/**`));
  return () => ({
    program,
    arguments: args,
    commit,
    isTreeClean: changed === null ? null : changed === '',
    date: new Date().toISOString(),
    node: process.version,
    v8: process.versions.v8,
    kernel: release(),
    machine: {
      cpu: cpus()[0]?.model.trim() ?? 'unknown',
      cpus: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      loadBefore,
      loadAfter: loadavg()[0] ?? null,
    },
  });
}

/**
 * The digest of a file of results: of all that is in it but the digest, spaces aside.
 *
 * @param {object} results
 * @returns {string}
 */
export function digestOf(results) {
  const { digest: _, ...rest } = /** @type {{ digest?: string }} */ (results);
  return `sha256:${createHash('sha256').update(JSON.stringify(rest)).digest('hex')}`;
}

/**
 * What was measured, without the head.
 *
 * @template {object} Content
 * @param {Head & Content} results
 * @returns {Content}
 */
export function contentOf(results) {
  const heads = /** @type {readonly string[]} */ (HEAD);
  return /** @type {Content} */ (Object.fromEntries(Object.entries(results).filter(([name]) => !heads.includes(name))));
}

/**
 * A file of results, as its program has written it.
 *
 * @template {object} [Content=Record<string, unknown>]
 * @param {string} file
 * @returns {Head & Content}
 * @throws Error if there is none, or somebody else has changed it
 */
export function readResults(file) {
  const results = /** @type {Head & Content} */ (JSON.parse(readFileSync(file, 'utf8')));
  if (results.digest !== digestOf(results)) {
    const name = relative(REPOSITORY, file).split(sep).join('/');
    throw new Error(`${name} is not as ${results.program ?? 'a program'} wrote it: only a run may change a figure`);
  }
  return results;
}

/**
 * Whether a part of a file is what a program measured.
 *
 * @param {Head} results
 * @param {string} part
 */
export const isMeasured = (results, part) => results.parts?.[part]?.program !== null;

/**
 * @param {object} results
 * @param {number | undefined} digits significant ones of numbers that are not whole: more is noise
 */
function textOf(results, digits) {
  /** @param {string} _ @param {unknown} value */
  const rounded = (_, value) =>
    digits !== undefined && typeof value === 'number' && !Number.isInteger(value)
      ? Number(value.toPrecision(digits))
      : value;
  // Lists of numbers on one line. A text has no line breaks of its own in JSON.
  return JSON.stringify(results, rounded, 2).replace(/\[\n[\d\s,.eE+-]+\]/g, (list) =>
    list.replace(/\s+/g, ' ').replace('[ ', '[').replace(' ]', ']'),
  );
}

/**
 * Writes a file of results with its head.
 *
 * @template {object} Content
 * @param {string} file
 * @param {Surroundings} around
 * @param {Content} content
 * @param {{ digits?: number, merging?: Merging<Content> }} [how] `merging`: a run of some parts replaces these in the file
 * @returns {Head & Content} what is in the file now
 * @throws Error if it is to be merged into a file that somebody else has changed
 */
export function writeResults(file, around, content, { digits, merging } = {}) {
  for (const name of HEAD) {
    if (name in content) throw new Error(`${name} is a member of the head: content must call it something else`);
  }
  /** @type {Surroundings & { parts?: Head['parts'] }} */
  let head = around;
  let whole = content;
  if (merging !== undefined && merging.parts !== null && existsSync(file)) {
    const before = /** @type {Head & Content} */ (readResults(file));
    const { settings } = /** @type {{ settings?: unknown }} */ (content);
    const own = { ...around, ...(settings !== undefined && { settings }) };
    whole = merging.merge(contentOf(before), content);
    head = { ...before, parts: { ...before.parts, ...Object.fromEntries(merging.parts.map((part) => [part, own])) } };
  }
  const ordered = Object.fromEntries(
    HEAD.filter((name) => name !== 'digest' && name in head).map((name) => [
      name,
      head[/** @type {keyof typeof head} */ (name)],
    ]),
  );
  // Numbers are rounded first: the digest is of what is in the file.
  const rest = JSON.parse(textOf({ ...ordered, ...whole }, digits));
  const { [HEAD[0]]: program, ...others } = rest;
  const results = { program, digest: digestOf(rest), ...others };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${textOf(results, undefined)}\n`);
  return readResults(file);
}

/**
 * Rows of two runs: those of the new one replace the old ones of the same name, where those stood.
 *
 * @template Row
 * @param {(row: Row) => string} nameOf
 * @param {readonly Row[]} before
 * @param {readonly Row[]} now
 * @returns {Row[]}
 */
export function mergeRows(nameOf, before, now) {
  const fresh = new Map(now.map((row) => [nameOf(row), row]));
  const kept = before.map((row) => {
    const name = nameOf(row);
    const other = fresh.get(name);
    fresh.delete(name);
    return other ?? row;
  });
  return [...kept, ...fresh.values()];
}

/**
 * Where, when and how quietly something was measured, in a line.
 *
 * @param {Surroundings} results
 * @returns {string}
 */
export function surroundingsLine({ machine, node, date }) {
  const load = [
    ...(machine?.loadBefore == null ? [] : [`${machine.loadBefore.toFixed(1)} before`]),
    ...(machine?.loadAfter == null ? [] : [`${machine.loadAfter.toFixed(1)} after`]),
  ];
  return [
    ...(machine === null ? [] : [machine.cpu, `${machine.cpus} CPUs`, `${machine.memoryGiB} GiB`]),
    ...(node === null ? [] : [`Node ${node.slice(1)}`]),
    ...(date === null ? [] : [date.slice(0, 10)]),
    ...(load.length === 0 ? [] : [`load average ${load.join(' and ')}`]),
  ].join(', ');
}
