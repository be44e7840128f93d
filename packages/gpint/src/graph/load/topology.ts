import { GpintError } from '../../errors.js';
import { erdosRenyi } from '../generate/erdos-renyi.js';
import { fatTreeGraph } from '../generate/fat-tree.js';
import { grid, leafSpineGraph, ring, star } from '../generate/regular.js';
import { wattsStrogatz } from '../generate/watts-strogatz.js';
import type { Graph } from '../graph.js';
import { parseEdgeList } from './edge-list.js';
import { type GraphmlOptions, parseGraphml } from './graphml.js';

interface Family {
  /** Syntax of the description, for messages. */
  readonly form: string;
  /** Separators between the numbers after the name. */
  readonly separators: readonly string[];
  make(numbers: readonly number[], seed: number | string): Graph;
}

const FAMILIES: Readonly<Record<string, Family>> = {
  'watts-strogatz': {
    form: 'watts-strogatz:NODES:DEGREE:PROBABILITY',
    separators: [':', ':'],
    make: ([n, k, p], seed) => wattsStrogatz(n!, k!, p!, seed),
  },
  'fat-tree': { form: 'fat-tree:PORTS', separators: [], make: ([k]) => fatTreeGraph(k!) },
  'leaf-spine': { form: 'leaf-spine:LEAVESxSPINES', separators: ['x'], make: ([a, b]) => leafSpineGraph(a!, b!) },
  'erdos-renyi': {
    form: 'erdos-renyi:NODES:PROBABILITY',
    separators: [':'],
    make: ([n, p], seed) => erdosRenyi(n!, p!, seed),
  },
  grid: { form: 'grid:WIDTHxHEIGHT', separators: ['x'], make: ([w, h]) => grid(w!, h!) },
  ring: { form: 'ring:NODES', separators: [], make: ([n]) => ring(n!) },
  star: { form: 'star:LEAVES', separators: [], make: ([n]) => star(n!) },
};

const NUMBER = /^(?:\d+\.?\d*|\.\d+)$/;

/** The numbers of "100:4:0.1" with the separators given; `null` if the text is anything else. */
function numbersOf(text: string, separators: readonly string[]): number[] | null {
  const words: string[] = [];
  let rest = text;
  for (const separator of separators) {
    const at = rest.indexOf(separator);
    if (at < 0) return null;
    words.push(rest.slice(0, at));
    rest = rest.slice(at + 1);
  }
  words.push(rest);
  return words.every((word) => NUMBER.test(word)) ? words.map(Number) : null;
}

/**
 * Generates a graph from a description: watts-strogatz:100:4:0.1, fat-tree:8, leaf-spine:32x8 (32 leaves, 8 spines),
 * erdos-renyi:100:0.05, grid:10x5 (10 columns, 5 rows), ring:12, star:6 (6 leaves).
 *
 * @param seed seed of random graphs; default 1
 * @throws {@link GpintError} `ERR_GPINT_TOPOLOGY` for a wrong description
 */
export function parseGraph(text: string, seed: number | string = 1): Graph {
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const family = Object.hasOwn(FAMILIES, name) ? FAMILIES[name] : undefined;
  if (family === undefined) {
    const forms = Object.values(FAMILIES).map((each) => each.form);
    throw new GpintError('ERR_GPINT_TOPOLOGY', `"${text}" is none of ${forms.join(', ')}`);
  }
  const numbers = colon < 0 ? null : numbersOf(text.slice(colon + 1), family.separators);
  if (numbers === null) throw new GpintError('ERR_GPINT_TOPOLOGY', `"${text}" is not of the form ${family.form}`);
  try {
    return family.make(numbers, seed);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new GpintError('ERR_GPINT_TOPOLOGY', `${text}: ${cause.message}`, { cause });
  }
}

/**
 * Reads a topology file: GraphML if it begins with `<`, otherwise an edge list.
 *
 * @param name name of the file, for messages
 * @throws {@link GpintError} `ERR_GPINT_TOPOLOGY`, with name and line
 */
export function parseGraphFile(text: string, name: string, options: GraphmlOptions = {}): Graph {
  try {
    return text.trimStart().startsWith('<') ? parseGraphml(text, options) : parseEdgeList(text);
  } catch (cause) {
    if (!GpintError.is(cause)) throw cause;
    throw new GpintError(cause.code, `${name}: ${cause.message}`, { line: cause.line, cause });
  }
}
