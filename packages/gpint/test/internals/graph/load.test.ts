import { describe, expect, it } from 'vitest';
import { parseGraphml } from '../../../src/graph/load/graphml.js';
import { GpintError, parseEdgeList, parseGraph, parseGraphFile } from '../../../src/index.js';
import { linksOf } from './samples.js';

function failure(action: () => unknown): GpintError {
  try {
    action();
  } catch (error) {
    if (error instanceof GpintError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('parseEdgeList', () => {
  it('reads names and weights, whatever separates them', () => {
    const graph = parseEdgeList(
      '\uFEFF# a network\na b 2.5\r\nb\tc\t1e1\n\n  c,a, .5 # the long way\nd;a\nlonely\n#x y\n',
    );
    expect(graph.names).toEqual(['a', 'b', 'c', 'd', 'lonely']);
    expect(linksOf(graph)).toEqual([
      [0, 1],
      [1, 2],
      [0, 2],
      [0, 3],
    ]);
    expect(Array.from(graph.weights!)).toEqual([2.5, 10, 0.5, 1]);
  });

  it('has no weights where no line has one', () => {
    expect(parseEdgeList('1 2\n2 3').weights).toBeNull();
  });

  it('takes a name with a # inside', () => {
    expect(parseEdgeList('sw#1 sw#2').names).toEqual(['sw#1', 'sw#2']);
  });

  it('passes over links of a node with itself and repeated ones', () => {
    const graph = parseEdgeList('a a\na b 4\nb a 3\n');
    expect(graph.linkCount).toBe(1);
    expect(Array.from(graph.weights!)).toEqual([3]);
  });

  it('says on which line it stopped', () => {
    for (const [text, line] of [
      ['a b\nb c 0', 2],
      ['a b\nb c -1', 2],
      ['a b heavy', 1],
      ['a b 0x10', 1],
      ['a b 1e999', 1],
      ['a b 1 2', 1],
      ["a b\n\n\nb c {'weight': 1}", 4],
      ['', 0],
      ['# nothing\n', 0],
    ] as const) {
      expect(failure(() => parseEdgeList(text))).toMatchObject({ code: 'ERR_GPINT_TOPOLOGY', line });
    }
  });
});

describe('parseTopology', () => {
  it('generates what is described', () => {
    for (const [text, nodes, links] of [
      ['watts-strogatz:100:4:0.1', 100, 200],
      ['fat-tree:8', 80, 256],
      ['leaf-spine:32x8', 40, 256],
      ['erdos-renyi:20:1', 20, 190],
      ['grid:10x5', 50, 85],
      ['ring:12', 12, 12],
      ['star:6', 7, 6],
    ] as const) {
      const graph = parseGraph(text);
      expect([text, graph.nodeCount, graph.linkCount]).toEqual([text, nodes, links]);
    }
  });

  it('draws with the seed given', () => {
    const of = (seed: number | string): unknown => linksOf(parseGraph('watts-strogatz:40:4:0.3', seed));
    expect(of(1)).toEqual(linksOf(parseGraph('watts-strogatz:40:4:0.3')));
    expect(of(1)).not.toEqual(of(2));
    expect(of('2')).toEqual(of(2));
  });

  it('says what is wrong with a description', () => {
    for (const [text, message] of [
      ['', 'is none of watts-strogatz:NODES:DEGREE:PROBABILITY'],
      ['fattree:8', '"fattree:8" is none of'],
      ['constructor:8', 'is none of'],
      ['fat-tree', '"fat-tree" is not of the form fat-tree:PORTS'],
      ['fat-tree:', 'is not of the form'],
      ['fat-tree:8:8', 'is not of the form'],
      ['fat-tree:1e1', 'is not of the form'],
      ['fat-tree:-8', 'is not of the form'],
      ['grid:10', 'is not of the form grid:WIDTHxHEIGHT'],
      ['grid:10x5x2', 'is not of the form'],
      ['leaf-spine:4:2', 'is not of the form leaf-spine:LEAVESxSPINES'],
      ['fat-tree:7', 'fat-tree:7: ports must be an even integer from 2 to 256, not 7'],
      ['watts-strogatz:100:5:0.1', 'degree must be an even integer from 2 to 99, not 5'],
      ['watts-strogatz:100:4:1.5', 'probability must be a number from 0 to 1, not 1.5'],
      ['erdos-renyi:4000000:1', 'are more than'],
      [`ring:${'9'.repeat(400)}`, 'nodes must be an integer'],
    ] as const) {
      const error = failure(() => parseGraph(text));
      expect(error.code).toBe('ERR_GPINT_TOPOLOGY');
      expect(error.message).toContain(message);
    }
  });
});

describe('parseGraphFile', () => {
  it('tells GraphML from edge lists by content', () => {
    const xml = ' <graphml><graph><node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>';
    expect(linksOf(parseGraphFile(xml, 'x.txt'))).toEqual(linksOf(parseGraphml(xml)));
    expect(linksOf(parseGraphFile('a b\n', 'x.graphml'))).toEqual([[0, 1]]);
  });

  it('names the file and the line', () => {
    expect(failure(() => parseGraphFile('a b\na b c\n', 'net.txt'))).toMatchObject({
      code: 'ERR_GPINT_TOPOLOGY',
      line: 2,
      message: 'net.txt: line 2: "c" is not a positive weight',
    });
    expect(failure(() => parseGraphFile('<graphml>', 'net.xml')).message).toMatch(/^net\.xml: line \d+: /);
  });
});
