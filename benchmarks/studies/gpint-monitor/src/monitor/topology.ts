/** The graph of the options. */
import { readFileSync } from 'node:fs';
import { type Graph, parseGraph, parseGraphFile, requireConnected } from '@int/gpint';

/** What generators look like; a file of such a name is `./NAME`. */
const GENERATOR = /^[a-z][a-z-]+:/;

/**
 * Generates a topology, or reads one from a file.
 *
 * @throws GpintError if it is none, or in several pieces; the file system's error if it cannot be read
 */
export function topologyOf(text: string, seed: number): Graph {
  const graph = GENERATOR.test(text) ? parseGraph(text, seed) : parseGraphFile(readFileSync(text, 'utf8'), text);
  requireConnected(graph);
  return graph;
}
