/** The graph of `int plan`, and the names of its links on the command line. */
import { GpintError, Graph, type GraphmlOptions, parseGraph, parseGraphFile } from '@int/gpint';
import { readText } from '../input/text-file.js';
import { CliError, EXIT, type Io } from '../io.js';

const TOPOLOGY = { name: 'topology', mostBytes: 1 << 28 } as const;

/**
 * The form of generators. For a file of such a name write `./NAME`. A single letter before the colon is a Windows
 * drive.
 */
const GENERATOR = /^[a-z][a-z-]+:/;

export type Weights = NonNullable<GraphmlOptions['weights']>;

/** The source of a graph: a generator, or the text of a file. */
export type TopologySource = { readonly generator: string } | { readonly name: string; readonly text: string };

/**
 * Reads a file, or standard input for `-`, unless the text names a generator (`fat-tree:8`).
 *
 * @throws CliError if it cannot be opened or read, or is too large
 */
export async function readTopology(text: string, io: Io): Promise<TopologySource> {
  if (GENERATOR.test(text)) return { generator: text };
  return { name: text === '-' ? 'standard input' : text, text: await readText(text, TOPOLOGY, io) };
}

/**
 * Makes the graph.
 *
 * @param seed seed of random generators
 * @throws CliError if the generator does not exist (2), or the text is not a topology (1)
 */
export function graphOf(source: TopologySource, seed: number | string, weights: Weights): Graph {
  const isGenerator = 'generator' in source;
  let graph: Graph;
  try {
    graph = isGenerator ? parseGraph(source.generator, seed) : parseGraphFile(source.text, source.name, { weights });
  } catch (error) {
    if (!GpintError.is(error)) throw error;
    throw new CliError(error.message, isGenerator ? EXIT.USAGE : EXIT.INPUT, error);
  }
  return weights === 'none' ? withoutWeights(graph) : graph;
}

/** A copy of the graph with equal costs of all links. */
export function withoutWeights(graph: Graph): Graph {
  if (graph.weights === null) return graph;
  const { names, first, neighbours, links } = graph;
  return new Graph({ names, first, neighbours, links, weights: null });
}

/** The nodes with these names. @throws CliError for an unknown name */
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
 * Reads `A-B` as a link, or `A` as a switch. Names may contain hyphens; the graph's names decide where to split.
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
