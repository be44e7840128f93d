import { GpintError } from '../../errors.js';
import { GraphBuilder } from '../builder.js';
import type { Graph } from '../graph.js';

const NUMBER = /^\+?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** A weight as files write it: a positive, finite decimal number; NaN for anything else. */
export function weightOf(text: string): number {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  return value > 0 && value < Number.POSITIVE_INFINITY ? value : Number.NaN;
}

/**
 * Reads a graph with a link a line: two names and, if there is one, a weight (positive, in any unit), separated by
 * spaces, tabs, commas or semicolons. A name alone is a node. Blank lines and what follows a `#` that begins a line or
 * follows a separator are passed over. Two names linked more than once share one link, of the smallest weight; a
 * link of a node with itself makes the node known and no link.
 *
 * @throws {@link GpintError} `ERR_GPINT_TOPOLOGY`, with the line, for anything else, and for a text without nodes
 */
export function parseEdgeList(text: string): Graph {
  const builder = new GraphBuilder();
  const lines = text.split(/\r\n|\r|\n/);
  for (const [i, content] of lines.entries()) {
    const words: string[] = [];
    // A byte order mark is white space to the language, and none of the separators.
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
