/** Where the switches of a picture are: by the plan of their topology where it is known, else by forces. */
import type { Graph } from '@int/gpint';
import { Random } from '@int/random';
import { UndirectedGraph } from 'graphology';
import forceAtlas2 from 'graphology-layout-forceatlas2';
import { spread } from './spread.js';

/** Positions of the nodes from 0 to 1 in both directions, y downwards. */
export interface Layout {
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** Width of what is drawn, divided by its height. */
  readonly aspect: number;
  /** Whether nodes stand side by side in rows. */
  readonly inRows: boolean;
}

const blank = (graph: Graph): { x: Float64Array; y: Float64Array } => ({
  x: new Float64Array(graph.nodeCount),
  y: new Float64Array(graph.nodeCount),
});

/** Rows from top to bottom; the nodes of a row in even distances. Nodes in no row: one more at the bottom. */
function layered(graph: Graph, rowOf: (name: string) => number, rowCount: number): Layout {
  const rows: number[][] = Array.from({ length: rowCount }, () => []);
  for (const [node, name] of graph.names.entries()) rows[rowOf(name)]!.push(node);
  const { x, y } = blank(graph);
  const widest = Math.max(...rows.map((row) => row.length));
  for (const [r, row] of rows.entries()) {
    for (const [i, node] of row.entries()) {
      x[node] = (i + 0.5) / row.length;
      y[node] = rowCount === 1 ? 0.5 : r / (rowCount - 1);
    }
  }
  return { x, y, aspect: Math.min(2.4, Math.max(1.9, widest / 8)), inRows: true };
}

/** Nodes `from` to the last one on a circle, in their order, from the top clockwise. */
function circle(graph: Graph, from: number): Layout {
  const { x, y } = blank(graph);
  const count = graph.nodeCount - from;
  for (let node = 0; node < graph.nodeCount; node++) {
    const angle = (2 * Math.PI * (node - from)) / count;
    const radius = node < from ? 0 : 0.5;
    x[node] = 0.5 + radius * Math.sin(angle);
    y[node] = 0.5 - radius * Math.cos(angle);
  }
  return { x, y, aspect: 1, inRows: false };
}

function grid(graph: Graph, width: number, height: number): Layout {
  const { x, y } = blank(graph);
  for (let node = 0; node < graph.nodeCount; node++) {
    x[node] = width === 1 ? 0.5 : (node % width) / (width - 1);
    y[node] = height === 1 ? 0.5 : Math.floor(node / width) / (height - 1);
  }
  return { x, y, aspect: Math.min(3, Math.max(0.8, width / height)), inRows: true };
}

/** Rounds of ForceAtlas2: fewer for large graphs, where a round is dear. */
const roundsFor = (nodes: number): number => Math.min(1200, Math.max(60, Math.round(120_000 / nodes)));

/**
 * Forces: links pull, nodes push (M. Jacomy et al., PLoS ONE 9(6), 2014). The same picture for the same graph and seed:
 * nodes start on a circle in their order, moved a little at random.
 */
function byForces(graph: Graph, seed: number): Layout {
  const random = new Random(seed).derive('layout');
  const drawn = new UndirectedGraph();
  const start = circle(graph, 0);
  for (let node = 0; node < graph.nodeCount; node++) {
    drawn.addNode(node, {
      x: 100 * start.x[node]! + random.uniform(),
      y: 100 * start.y[node]! + random.uniform(),
    });
  }
  for (let node = 0; node < graph.nodeCount; node++) {
    for (let i = graph.first[node]!; i < graph.first[node + 1]!; i++) {
      if (graph.neighbours[i]! > node) drawn.addUndirectedEdge(node, graph.neighbours[i]!);
    }
  }
  const positions = forceAtlas2(drawn, {
    iterations: roundsFor(graph.nodeCount),
    settings: {
      ...forceAtlas2.inferSettings(drawn),
      adjustSizes: false,
      barnesHutOptimize: graph.nodeCount > 500,
      gravity: 0.6,
      linLogMode: false,
      scalingRatio: 12,
      strongGravityMode: false,
    },
  });
  const { x, y } = blank(graph);
  for (let node = 0; node < graph.nodeCount; node++) {
    x[node] = positions[String(node)]!.x;
    y[node] = positions[String(node)]!.y;
  }
  return fitted(graph, x, y);
}

/** Turns the longest extent level, makes room, and scales to 0 to 1. */
function fitted(graph: Graph, x: Float64Array, y: Float64Array): Layout {
  const mean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [mx, my] = [mean(x), mean(y)];
  let [xx, xy, yy] = [0, 0, 0];
  for (let i = 0; i < x.length; i++) {
    const [dx, dy] = [x[i]! - mx, y[i]! - my];
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  const angle = 0.5 * Math.atan2(2 * xy, xx - yy);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const turnedX = x.map((value, i) => (value - mx) * cos + (y[i]! - my) * sin);
  const turnedY = y.map((value, i) => (value - my) * cos - (x[i]! - mx) * sin);
  const [width, height] = [unit(turnedX), unit(turnedY)];
  const aspect = Math.min(1.8, Math.max(1.25, height === 0 ? 1.8 : width / height));
  for (let i = 0; i < turnedX.length; i++) turnedX[i] = turnedX[i]! * aspect;
  spread(graph, turnedX, turnedY, aspect);
  unit(turnedX);
  unit(turnedY);
  return { x: turnedX, y: turnedY, aspect, inRows: false };
}

/** Scales values to 0 to 1, in place. Returns what their extent was. */
function unit(values: Float64Array): number {
  const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const extent = high - low;
  for (let i = 0; i < values.length; i++) values[i] = extent === 0 ? 0.5 : (values[i]! - low) / extent;
  return extent;
}

const FAT_TREE_ROWS = ['core', 'agg', 'edge'] as const;
const LEAF_SPINE_ROWS = ['spine', 'leaf'] as const;

const rowByPrefix =
  (prefixes: readonly string[]) =>
  (name: string): number =>
    Math.max(
      0,
      prefixes.findIndex((prefix) => name.startsWith(prefix)),
    );

/**
 * Places the nodes of a graph.
 *
 * @param topology what the graph was generated from, such as `fat-tree:4`; anything else: a name that says nothing
 */
export function layoutOf(graph: Graph, topology: string, seed: number): Layout {
  const [kind, size = ''] = topology.split(':');
  switch (kind) {
    case 'fat-tree':
      return layered(graph, rowByPrefix(FAT_TREE_ROWS), FAT_TREE_ROWS.length);
    case 'leaf-spine':
      return layered(graph, rowByPrefix(LEAF_SPINE_ROWS), LEAF_SPINE_ROWS.length);
    case 'grid': {
      const [width = 1, height = 1] = size.split('x').map(Number);
      return grid(graph, width, height);
    }
    case 'ring':
      return circle(graph, 0);
    case 'star':
      return circle(graph, 1);
    default:
      return byForces(graph, seed);
  }
}
