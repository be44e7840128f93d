/** Where the graph of `int plan` comes from, and how links of it are named on the command line. */
import { GpintError, Graph, type GraphmlOptions, parseTopology, parseTopologyFile } from '@int/gpint';
import { openInput } from '../input/capture-frames.js';
import { CliError, EXIT, type Io, openFailure } from '../io.js';

/** Bytes of a topology file; a larger one is something else. */
const MAX_BYTES = 1 << 29;

/** What generators look like. A file of such a name is `./NAME`; one letter before the colon is a drive of Windows. */
const GENERATOR = /^[a-z][a-z-]+:/;

/** Which weights the links get. */
export type Weights = NonNullable<GraphmlOptions['weights']>;

async function readText(path: string, io: Io): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of (await openInput(path, io)) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > MAX_BYTES) throw new CliError(`${path}: more than ${MAX_BYTES} bytes: no topology`, EXIT.INPUT);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    // A stream that is closed in the middle fails, too.
    if (!io.signal.aborted) throw new CliError(`cannot read ${path}: ${openFailure(error)}`, EXIT.OPEN, error);
  }
  if (io.signal.aborted) throw new CliError('interrupted before the topology was read', EXIT.OK);
  return Buffer.concat(chunks).toString();
}

/**
 * Generates a topology (`fat-tree:8`), or reads one from a file, `-` being standard input.
 *
 * @param seed of generators that are random
 * @throws CliError if it cannot be opened (3), if what is in it is no topology (1), or if it names no generator (2)
 */
export async function openTopology(text: string, seed: number | string, weights: Weights, io: Io): Promise<Graph> {
  const isGenerator = GENERATOR.test(text);
  let graph: Graph;
  try {
    graph = isGenerator
      ? parseTopology(text, seed)
      : parseTopologyFile(await readText(text, io), text === '-' ? 'standard input' : text, { weights });
  } catch (error) {
    if (!GpintError.is(error)) throw error;
    throw new CliError(error.message, isGenerator ? EXIT.USAGE : EXIT.INPUT, error);
  }
  return weights === 'none' ? withoutWeights(graph) : graph;
}

/** The same graph, every link costing the same. */
export function withoutWeights(graph: Graph): Graph {
  if (graph.weights === null) return graph;
  const { names, first, neighbours, links } = graph;
  return new Graph({ names, first, neighbours, links, weights: null });
}

/** The nodes with these names. @throws CliError for one that is none */
export function nodesOf(graph: Graph, names: readonly string[], option: string): number[] {
  return names.map((name) => {
    try {
      return graph.nodeOf(name);
    } catch (error) {
      if (!GpintError.is(error)) throw error;
      throw new CliError(`${option}: the topology has no switch "${name}"`, EXIT.USAGE, error);
    }
  });
}

/**
 * Reads `A-B` as a link, or `A` as a switch. Names may have hyphens in them: what counts is where the graph has names.
 *
 * @throws CliError if it is neither
 */
export function failureOf(graph: Graph, text: string): { link: readonly [number, number] } | { node: number } {
  const node = graph.names.indexOf(text);
  if (node >= 0) return { node };
  for (let at = text.indexOf('-'); at >= 0; at = text.indexOf('-', at + 1)) {
    const a = graph.names.indexOf(text.slice(0, at));
    const b = a < 0 ? -1 : graph.names.indexOf(text.slice(at + 1));
    if (b >= 0 && graph.positionOf(a, b) >= 0) return { link: [a, b] };
  }
  throw new CliError(`--fail: "${text}" is neither a switch nor a link A-B of the topology`, EXIT.USAGE);
}
