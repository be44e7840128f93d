import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { parseGraphml } from '../../../src/graph/load/graphml.js';
import { GpintError, Graph, parseEdgeList, parseGraph, parseGraphFile } from '../../../src/index.js';
import { SEED } from '../../seed.js';

/** Either a graph that keeps its promises, or an error of the one kind. */
function expectGraphOrError(load: () => Graph): void {
  let graph: Graph;
  try {
    graph = load();
  } catch (error) {
    if (!(error instanceof GpintError)) throw error;
    expect(error.code).toBe('ERR_GPINT_TOPOLOGY');
    return;
  }
  expect(graph).toBeInstanceOf(Graph);
  expect(new Set(graph.names).size).toBe(graph.nodeCount);
  let sound = true;
  for (let v = 0; v < graph.nodeCount; v++) {
    for (let i = graph.first[v]!; i < graph.first[v + 1]!; i++) {
      sound &&= graph.positionOf(graph.neighbours[i]!, v) >= 0 && graph.cost(graph.links[i]!) > 0;
    }
  }
  expect(sound).toBe(true);
}

const SAMPLE = `<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key attr.name="label" for="node" id="l"/><key attr.name="weight" for="edge" id="w"/>
<key attr.name="Latitude" for="node" id="y"/><key attr.name="Longitude" for="node" id="x"/>
<graph edgedefault="undirected"><node id="0"><data key="l">A</data><data key="x">1</data><data key="y">2</data></node>
<node id="1"><data key="x">3</data><data key="y">4</data></node><edge source="0" target="1"><data key="w">3</data></edge>
<edge source="1" target="0"/></graph></graphml>`;

/** A text with some stretches of it cut out, doubled, or replaced. */
function mutated(text: string): fc.Arbitrary<string> {
  const piece = fc.oneof(
    fc.string({ maxLength: 6 }),
    fc.constantFrom(
      '<',
      '>',
      '"',
      '&',
      '&#0;',
      '&#x110000;',
      '<!--',
      '<![CDATA[',
      '<!DOCTYPE',
      '<?',
      ']]>',
      '\0',
      '\uD800',
    ),
    fc.nat({ max: text.length }).chain((at) => fc.nat({ max: 40 }).map((length) => text.slice(at, at + length))),
  );
  const change = fc.tuple(fc.nat({ max: text.length }), fc.nat({ max: 20 }), piece);
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => {
    let result = text;
    for (const [at, length, insert] of changes) result = result.slice(0, at) + insert + result.slice(at + length);
    return result;
  });
}

const weights = fc.constantFrom('key', 'distance', 'none');

describe('loaders', () => {
  it('read any text or refuse it', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.string().map((rest) => `<${rest}`),
    );
    fc.assert(
      fc.property(text, weights, (content, choice) => {
        expectGraphOrError(() => parseEdgeList(content));
        expectGraphOrError(() => parseGraph(content));
        expectGraphOrError(() => parseGraphFile(content, 'file', { weights: choice }));
        expectGraphOrError(() => parseGraphml(content, { weights: choice }));
      }),
      { seed: SEED, numRuns: runs(600) },
    );
  });

  it('read GraphML with any damage or refuse it', () => {
    fc.assert(
      fc.property(mutated(SAMPLE), weights, (content, choice) => {
        expectGraphOrError(() => parseGraphml(content, { weights: choice }));
      }),
      { seed: SEED, numRuns: runs(2000) },
    );
  });

  it('read edge lists of any words or refuse them', () => {
    const word = fc.oneof(
      fc.constantFrom('a', 'b', 'c', '#', '1', '-1', '1e9', '__proto__', ''),
      fc.string({ maxLength: 3 }),
    );
    const line = fc
      .array(word, { maxLength: 5 })
      .chain((words) => fc.constantFrom(' ', ',', '\t').map((s) => words.join(s)));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), fc.constantFrom('\n', '\r\n', '\r'), (lines, end) => {
        expectGraphOrError(() => parseEdgeList(lines.join(end)));
      }),
      { seed: SEED, numRuns: runs(600) },
    );
  });

  it('generate what is described or refuse it', () => {
    const name = fc.constantFrom(
      'watts-strogatz',
      'fat-tree',
      'leaf-spine',
      'erdos-renyi',
      'grid',
      'ring',
      'star',
      'toString',
    );
    const number = fc.oneof(
      fc.integer({ min: -2, max: 40 }).map(String),
      fc.constantFrom('0.1', '1.', '.5', '', '1e9', 'NaN'),
    );
    const numbers = fc
      .array(number, { maxLength: 4 })
      .chain((all) => fc.constantFrom(':', 'x').map((s) => all.join(s)));
    fc.assert(
      fc.property(name, numbers, fc.string(), (family, rest, seed) => {
        expectGraphOrError(() => parseGraph(`${family}:${rest}`, seed));
      }),
      { seed: SEED, numRuns: runs(2000) },
    );
  });

  it('do work that grows with the length of a text, not with its square', () => {
    // Each is a megabyte of what makes careless readers go over it again and again.
    const size = 100_000;
    for (const content of [
      '<'.repeat(size),
      `<graphml>${'<a '.repeat(size)}`,
      `<graphml>${'<a>'.repeat(size)}`,
      `<graphml>${'&'.repeat(size)}</graphml>`,
      `<graphml ${'a="" '.repeat(size)}/>`,
      `<graphml>${'<!--'.repeat(size)}`,
      `<graphml ${' '.repeat(size * 10)}`,
      `<!DOCTYPE graphml [${'<!ELEMENT a (b)>'.repeat(size / 10)}`,
      `<?xml ${'?'.repeat(size)}`,
      `<graphml>${Array.from({ length: size / 10 }, (_, i) => `<a xmlns:p${i}="u">`).join('')}`,
    ]) {
      expectGraphOrError(() => parseGraphml(content));
    }
    expectGraphOrError(() => parseEdgeList(' '.repeat(10 * size)));
    expectGraphOrError(() => parseEdgeList('a '.repeat(10 * size)));
    expectGraphOrError(() => parseGraph(`grid:${'9'.repeat(size)}x9`));
  });
});
