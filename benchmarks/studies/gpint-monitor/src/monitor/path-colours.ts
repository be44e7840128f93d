/** Which colour each path of a picture gets. */
import type { Graph, Paths } from '@int/gpint';

/** Colours of paths, for light and for dark surroundings. */
export const PATH_COLOURS: readonly (readonly [light: string, dark: string])[] = [
  ['#0b6bcb', '#6cb6ff'],
  ['#c2410c', '#ff9b5e'],
  ['#15803d', '#57d08a'],
  ['#9333a8', '#dd9bf0'],
  ['#a16207', '#e3c04f'],
  ['#0e7490', '#4fd1e0'],
  ['#be185d', '#ff8fbd'],
  ['#4f46b8', '#a9a4ff'],
  ['#5b7a0a', '#b5d64a'],
  ['#7c4a2d', '#d9a88a'],
];

/**
 * A colour for each path, such that paths that touch (share a switch, or have neighbouring ones) differ as far as there
 * are colours; among those free, the one used least.
 */
export function coloursOf(graph: Graph, paths: Paths): Uint8Array {
  const pathsAt: number[][] = Array.from({ length: graph.nodeCount }, () => []);
  for (let p = 0; p < paths.count; p++) {
    for (const node of paths.path(p)) if (pathsAt[node]!.at(-1) !== p) pathsAt[node]!.push(p);
  }
  const colour = new Uint8Array(paths.count);
  const used = new Uint32Array(PATH_COLOURS.length);
  for (let p = 0; p < paths.count; p++) {
    const near = new Float64Array(PATH_COLOURS.length);
    const meets = (other: number): void => {
      if (other < p) near[colour[other]!] = near[colour[other]!]! + 1;
    };
    for (const node of paths.path(p)) {
      for (const other of pathsAt[node]!) meets(other);
      for (let i = graph.first[node]!; i < graph.first[node + 1]!; i++) {
        for (const other of pathsAt[graph.neighbours[i]!]!) meets(other);
      }
    }
    let best = 0;
    for (let c = 1; c < near.length; c++) {
      if (near[c]! < near[best]! || (near[c] === near[best] && used[c]! < used[best]!)) best = c;
    }
    colour[p] = best;
    used[best] = used[best]! + 1;
  }
  return colour;
}
