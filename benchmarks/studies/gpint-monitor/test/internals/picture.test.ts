import { gpint, parseGraph } from '@int/gpint';
import { describe, expect, test } from 'vitest';
import { elementsOf } from '../../../../../.ci/test/xml.js';
import type { LinkVerdict } from '../../src/monitor/evidence.js';
import { layoutOf } from '../../src/monitor/layout.js';
import { coloursOf } from '../../src/monitor/path-colours.js';
import { drawPicture, type Picture } from '../../src/monitor/picture.js';
import { SEED } from '../seed.js';

const TOPOLOGIES = [
  'watts-strogatz:40:4:0.1',
  'fat-tree:4',
  'leaf-spine:6x3',
  'grid:5x4',
  'ring:9',
  'star:7',
  'erdos-renyi:30:0.2',
] as const;

function pictureOf(topology: string, more: Partial<Picture> = {}): Picture {
  const graph = parseGraph(topology, SEED);
  const { paths } = gpint(graph, { paths: Math.ceil(graph.nodeCount / 4), seed: SEED });
  return {
    title: topology,
    description: 'A network.',
    notes: [],
    graph,
    layout: layoutOf(graph, topology, SEED),
    paths,
    collected: new Uint8Array(graph.nodeCount).fill(1),
    failedLinks: new Set(),
    failedSwitches: new Set(),
    verdicts: new Map(),
    attached: [],
    ...more,
  };
}

describe('layouts', () => {
  test.each(TOPOLOGIES)('of %s have every switch in a place of its own', (topology) => {
    const graph = parseGraph(topology, SEED);
    const layout = layoutOf(graph, topology, SEED);
    const { x, y, aspect } = layout;
    expect(aspect).toBeGreaterThan(0.5);
    const places = new Set<string>();
    for (let node = 0; node < graph.nodeCount; node++) {
      for (const value of [x[node]!, y[node]!]) {
        expect(value).toBeGreaterThanOrEqual(-1e-9);
        expect(value).toBeLessThanOrEqual(1 + 1e-9);
      }
      places.add(`${x[node]!.toFixed(3)} ${y[node]!.toFixed(3)}`);
    }
    expect(places.size).toBe(graph.nodeCount);
    expect(layoutOf(graph, topology, SEED)).toEqual(layout);
  });

  test('put the layers of a fat tree into rows, core on top', () => {
    const graph = parseGraph('fat-tree:4');
    const { y } = layoutOf(graph, 'fat-tree:4', SEED);
    for (const [node, name] of graph.names.entries()) {
      expect(y[node]).toBe(name.startsWith('core') ? 0 : name.startsWith('agg') ? 0.5 : 1);
    }
  });

  test('leave room around the switches of a graph without a plan', () => {
    const graph = parseGraph('watts-strogatz:50:4:0.1', SEED);
    const { x, y, aspect } = layoutOf(graph, '', SEED);
    let nearest = Number.POSITIVE_INFINITY;
    for (let a = 0; a < 50; a++) {
      for (let b = 0; b < a; b++) nearest = Math.min(nearest, Math.hypot((x[a]! - x[b]!) * aspect, y[a]! - y[b]!));
    }
    expect(nearest).toBeGreaterThan(0.2 * Math.sqrt(aspect / 50));
  });

  test('of networks with one or two switches are drawn, too', () => {
    for (const topology of ['grid:1x1', 'grid:2x1', 'star:1', 'erdos-renyi:2:1']) {
      const text = drawPicture(pictureOf(topology));
      expect(elementsOf(text)[0]).toBe('svg');
      expect(text).not.toContain('NaN');
    }
  });
});

describe('colours', () => {
  test('differ between paths that touch, as far as there are colours', () => {
    const { graph, paths } = pictureOf('grid:8x6');
    const colours = coloursOf(graph, paths);
    const pathOf = new Map<number, number>();
    for (let p = 0; p < paths.count; p++) for (const node of paths.path(p)) pathOf.set(node, p);
    for (let node = 0; node < graph.nodeCount; node++) {
      for (let i = graph.first[node]!; i < graph.first[node + 1]!; i++) {
        const [a, b] = [pathOf.get(node)!, pathOf.get(graph.neighbours[i]!)!];
        if (a !== b) expect(colours[a]).not.toBe(colours[b]);
      }
    }
  });
});

describe('pictures', () => {
  test.each(TOPOLOGIES)('of %s are well-formed', (topology) => {
    const text = drawPicture(pictureOf(topology));
    expect(elementsOf(text)).toContain('circle');
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  });

  test('mark what failed, what the monitor says, and what it lacks', () => {
    const { graph, paths } = pictureOf('grid:5x4');
    const onPath = (p: number): number => graph.linkBetween(paths.path(p)[0]!, paths.path(p)[1]!);
    const verdicts = new Map<number, LinkVerdict>([
      [onPath(0), 'unavailable'],
      [onPath(1), 'unavailable'],
      [onPath(2), 'lossy'],
      [onPath(3), 'congested'],
    ]);
    const unseen = [...Array(graph.linkCount).keys()].find((link) => !verdicts.has(link))!;
    const collected = new Uint8Array(20).fill(1);
    collected[19] = 0;
    const picture = pictureOf('grid:5x4', {
      verdicts,
      failedLinks: new Set([onPath(0), unseen]),
      collected,
      attached: [0],
    });
    const text = drawPicture(picture);
    elementsOf(text);
    const drawn = (kind: string): number => (text.match(new RegExp(`<line class="${kind}"`, 'g')) ?? []).length;
    // Each once in the network and once in the legend.
    for (const kind of ['dead', 'wrong', 'lossy', 'congested', 'hidden'])
      expect([kind, drawn(kind)]).toEqual([kind, 2]);
    expect(text).toContain('collected: 19 of 20 switches');
    expect(text).toContain('not collected: 1');
    expect(text).toContain('the monitor is attached here');
    expect(text).toContain('r4c5: not collected, path');
  });

  test('escape names', () => {
    const text = drawPicture(pictureOf('ring:5', { title: 'a < b & "c"', notes: ['<script>'] }));
    elementsOf(text);
    expect(text).toContain('a &lt; b &amp; &quot;c&quot;');
    expect(text).not.toContain('<script>');
  });
});
