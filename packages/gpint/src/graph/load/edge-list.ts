import { GpintError } from '../../errors.js';
import { GraphBuilder } from '../builder.js';
import type { Graph } from '../graph.js';

const NUMBER = /^\+?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** A weight in a file: a positive, finite decimal number; NaN for anything else. */
export function weightOf(text: string): number {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  return value > 0 && value < Number.POSITIVE_INFINITY ? value : Number.NaN;
}

/**
 * Reads a graph with one link per line: two names and optionally a weight (positive, in any unit), separated by spaces,
 * tabs, commas or semicolons. A single name is a node. A `#` at the start of a line or after a separator begins a
 * comment. Blank lines are skipped. Several links of two names count as one, with the smallest weight. A link of a node
 * with itself only adds the node.
 *
 * @throws {@link GpintError} `ERR_GPINT_TOPOLOGY`, with the line, for anything else, and for a text without nodes
 */
export function parseEdgeList(text: string): Graph {
  const builder = new GraphBuilder();
  const lines = text.split(/\r\n|\r|\n/);
  for (const [i, content] of lines.entries()) {
    const words: string[] = [];
    // JavaScript counts a byte order mark as white space, but it is no separator.
    for (const word of (i === 0 ? content.trimStart() : content).split(/[\s,;]+/)) {
      if (word.startsWith('#')) break;
      if (word !== '') words.push(word);
    }
    const [a, b, weightText] = words;
    if (a === undefined) continue;
    if (b === undefined) {
      builder.addNode(a);
      continue;
    }
    const line = i + 1;
    if (words.length > 3) {
      throw new GpintError(
        'ERR_GPINT_TOPOLOGY',
        `line ${line} has ${words.length} words: two names and a weight at most`,
        {
          line,
        },
      );
    }
    if (weightText === undefined) {
      builder.addLink(a, b);
      continue;
    }
    const weight = weightOf(weightText);
    if (Number.isNaN(weight)) {
      throw new GpintError('ERR_GPINT_TOPOLOGY', `line ${line}: "${weightText}" is not a positive weight`, { line });
    }
    builder.addLink(a, b, weight);
  }
  if (builder.nodeCount === 0) throw new GpintError('ERR_GPINT_TOPOLOGY', 'there is no node in the edge list');
  return builder.build();
}
