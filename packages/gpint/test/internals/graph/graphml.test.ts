import { describe, expect, it } from 'vitest';
import { parseGraphml, parseGraphmlNetwork } from '../../../src/graph/load/graphml.js';
import { GpintError } from '../../../src/index.js';
import { linksOf } from './samples.js';

/** As the Internet Topology Zoo writes its files; the network is made up. */
const ZOO = `<?xml version="1.0" encoding="utf-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key attr.name="LinkLabel" attr.type="string" for="edge" id="d36" />
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d35" />
  <key attr.name="label" attr.type="string" for="node" id="d33" />
  <key attr.name="Longitude" attr.type="double" for="node" id="d32" />
  <key attr.name="Latitude" attr.type="double" for="node" id="d30" />
  <key attr.name="Network" attr.type="string" for="graph" id="d3" />
  <graph edgedefault="undirected">
    <data key="d3">Example</data>
    <node id="0">
      <data key="d33">Paris &amp; North</data>
      <data key="d32">2.3522</data>
      <data key="d30">48.8566</data>
    </node>
    <node id="1">
      <data key="d33">Vienna</data>
      <data key="d32">16.3738</data>
      <data key="d30">48.2082</data>
    </node>
    <node id="2">
      <data key="d33">None</data>
    </node>
    <node id="3">
      <data key="d33">None</data>
      <data key="d32">16.3738</data>
      <data key="d30">48.2082</data>
    </node>
    <edge source="0" target="1">
      <data key="d36">10 Gbps</data>
      <data key="d35">10000000000.0</data>
    </edge>
    <edge source="1" target="3"><data key="d36">metro</data></edge>
    <edge source="2" target="0"/>
    <edge source="1" target="0"/>
  </graph>
</graphml>`;

function wrapped(content: string): string {
  return `<graphml><graph>${content}</graph></graphml>`;
}

function failure(text: string, options: Parameters<typeof parseGraphml>[1] = {}): GpintError {
  try {
    parseGraphml(text, options);
  } catch (error) {
    if (error instanceof GpintError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('parseGraphml', () => {
  it('reads the form of the Internet Topology Zoo, and tells nodes of one label apart by their id', () => {
    const graph = parseGraphml(ZOO);
    expect(graph.names).toEqual(['Paris & North', 'Vienna', 'None (2)', 'None (3)']);
    expect(linksOf(graph)).toEqual([
      [0, 1],
      [1, 3],
      [0, 2],
    ]);
    expect(graph.weights).toBeNull();
  });

  it('makes latencies of places, and the mean of them where a place is not known', () => {
    const [far, near, unknown] = parseGraphml(ZOO, { weights: 'distance' }).weights!;
    // 1034 km at 204 km a millisecond.
    expect(far).toBeGreaterThan(5000);
    expect(far).toBeLessThan(5120);
    expect(near).toBe(1);
    expect(unknown).toBeCloseTo((2 * far! + near!) / 3, 6);
  });

  it('reads weights from the first of the keys that are known for them, unless they are not wanted', () => {
    const text = `<graphml>
      <key id="w" for="edge" attr.name="Delay" attr.type="double"/><key id="c" for="edge" attr.name="cost"/>
      <graph><node id="a"/><node id="b"/><node id="c"/>
        <edge source="a" target="b"><data key="c">9</data><data key="w"> 2.5 </data></edge>
        <edge source="c" target="b"><data key="c">8</data></edge></graph></graphml>`;
    expect(Array.from(parseGraphml(text).weights!)).toEqual([2.5, 1]);
    expect(parseGraphml(text, { weights: 'none' }).weights).toBeNull();
  });

  it('calls nodes by their id where they have no label, and never two the same', () => {
    const text = `<graphml><key id="l" for="node" attr.name="label"/><graph>
      <node id="x"><data key="l">a (2)</data></node><node id="1"><data key="l">a</data></node>
      <node id="2"><data key="l">a</data></node><node id="a"/><node id="y"><data key="l"> </data></node>
    </graph></graphml>`;
    expect(parseGraphml(text).names).toEqual(['a (2)', 'a (1)', 'a (2) (2)', 'a', 'y']);
  });

  it('reads prefixes, nested graphs, ports, comments, character data and keys that come last', () => {
    const text = `<?xml version="1.0"?><!DOCTYPE g:graphml><g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns">
      <!-- <node id="no"/> --><g:graph edgedefault="directed">
        <g:node id="a"><g:port name="p"/><g:graph><g:node id="b"><g:data key="l"><![CDATA[<b>]]></g:data></g:node></g:graph></g:node>
        <g:edge source="b" target="a" sourceport="p"/>
      </g:graph><g:key id="l" attr.name="label" for="all"/></g:graphml>`;
    const graph = parseGraphml(text);
    expect(graph.names).toEqual(['a', '<b>']);
    expect(linksOf(graph)).toEqual([[0, 1]]);
  });

  it('does not expand entities: their declaration is refused', () => {
    const bomb = `<?xml version="1.0"?>
      <!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
      <graphml><graph><node id="&b;"/></graph></graphml>`;
    expect(failure(bomb)).toMatchObject({ code: 'ERR_GPINT_TOPOLOGY', line: 2 });
    expect(failure(wrapped('<node id="&b;"/>')).message).toContain('not well-formed');
  });

  it('refuses more namespaces than any file needs', () => {
    const declared = (count: number): string =>
      wrapped(`<node id="a"/>${Array.from({ length: count }, (_, i) => `<x xmlns:p${i}="u"/>`).join('')}`);
    expect(parseGraphml(declared(1000)).names).toEqual(['a']);
    expect(failure(declared(1001)).message).toBe('there are more than 1000 namespace declarations');
  });

  it('says on which line it stopped', () => {
    const node = '<node id="a"/>\n<node id="b"/>\n';
    for (const [text, line] of [
      ['', 0],
      ['a b', 0],
      ['<gexf/>', 1],
      ['<graphml>\n<graph>', 2],
      // The line of the last opening tag.
      [wrapped('\n<node id="a">\n</graph>'), 2],
      [wrapped(`${node}<edge source="a"/>`), 3],
      [wrapped(`${node}<edge target="a"/>`), 3],
      [wrapped(`${node}<edge source="a" target="c"/>`), 3],
      [wrapped(`${node}<node id="b"/>`), 3],
      [wrapped('\n<node/>'), 2],
      [wrapped('\n\n<node id="a"><data key="k">1</data></node>'), 3],
      [wrapped(`${node}<hyperedge/>`), 3],
      [`<graphml>\n<key/></graphml>`, 2],
      ['<graphml/>', 0],
    ] as const) {
      expect([text, failure(text)]).toMatchObject([text, { code: 'ERR_GPINT_TOPOLOGY', line }]);
    }
  });

  it('refuses weights that are not positive, and distances without places', () => {
    const weighted = (value: string): string =>
      `<graphml><key id="w" for="edge" attr.name="weight"/><graph><node id="a"/><node id="b"/>
      <edge source="a" target="b"><data key="w">${value}</data></edge></graph></graphml>`;
    for (const value of ['0', '-1', 'NaN', 'Infinity', 'heavy']) {
      expect(failure(weighted(value))).toMatchObject({ code: 'ERR_GPINT_TOPOLOGY', line: 2 });
    }
    const links = wrapped('<node id="a"/><node id="b"/><edge source="a" target="b"/>');
    expect(failure(links, { weights: 'distance' }).message).toContain('latitude');
  });

  it('reads a file that nests very deep', () => {
    const depth = 10_000;
    const text = wrapped(`${'<desc>'.repeat(depth)}<node id="a"/>${'</desc>'.repeat(depth)}`);
    expect(parseGraphml(text).names).toEqual(['a']);
  });
});

describe('parseGraphmlNetwork', () => {
  it('has the names of the graph, ids where the file has them, and every link', () => {
    const { nodes, links } = parseGraphmlNetwork(ZOO);
    expect(nodes.map(({ name }) => name)).toEqual(parseGraphml(ZOO).names);
    expect(nodes.map(({ id }) => id)).toEqual(nodes.map((_, index) => index));
    expect(links.length).toBeGreaterThanOrEqual(parseGraphml(ZOO).linkCount);
  });

  it('takes ids from keys before XML ids, and ports that are numbers', () => {
    const { nodes, links } = parseGraphmlNetwork(
      `<graphml><key id="a" for="node" attr.name="switch-id"/><key id="b" for="node" attr.name="id"/><graph>
         <node id="1"><data key="a">4294967295</data><data key="b">7</data></node>
         <node id="2"><data key="b">7</data></node><node id="3"><data key="a">4294967296</data></node>
         <node id="n4"/><node id="05"/>
         <edge source="1" target="2" sourceport="3" targetport="eth0"/><edge source="1" target="2"/>
       </graph></graphml>`,
    );
    expect(nodes.map(({ id }) => id)).toEqual([0xffffffff, 7, 3, null, null]);
    expect(links).toEqual([
      { source: 0, target: 1, sourcePort: 3, targetPort: null },
      { source: 0, target: 1, sourcePort: null, targetPort: null },
    ]);
    expect(() => parseGraphmlNetwork('<graphml><graph><node/></graph></graphml>')).toThrow(GpintError);
  });
});
