import { beforeAll, describe, expect, test } from 'vitest';
import { ndjson, run, temporaryFolder } from './run.js';

const files = temporaryFolder();

const YAML = `switches:
  1: { name: leaf-1, ports: { 1: { to: host h1 }, 9: { to: spine-1:1, speed: 10G }, 10: { name: uplink } } }
  2: { name: leaf-2 }
  3:
  4:
  5: { name: spine-1 }
  6:
  7:
hosts:
  h1: { addresses: [10.1.0.0/16], level: 2 }
`;

describe('names of a topology', () => {
  let fabric = '';
  let topology = '';

  beforeAll(async () => {
    fabric = files.path('fabric.pcap');
    topology = await files.write('topology.yaml', YAML);
    const made = await run(['generate', '--packets', '800', '--flows', '60', '--seed', '3', '-o', fabric]);
    expect(made.code).toBe(0);
  });

  const jsonOf = async (args: readonly string[]): Promise<Record<string, unknown>[]> => {
    const { stdout, code, stderr } = await run(args);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    return ndjson(stdout) as Record<string, unknown>[];
  };

  const NAMES: Readonly<Record<number, string>> = { 1: 'leaf-1', 2: 'leaf-2', 5: 'spine-1' };
  const PORTS: Readonly<Record<string, string>> = { '1:1': 'h1', '1:9': 'to spine-1', '1:10': 'uplink' };

  test('stand beside the ids in the JSON of int decode, which is the same without them', async () => {
    interface HopLine {
      readonly nodeId: number;
      readonly nodeName?: string;
      readonly l1IngressInterface: number;
      readonly l1IngressName?: string;
      readonly l1EgressInterface: number;
      readonly l1EgressName?: string;
    }
    const plain = await run(['decode', fabric, '--json']);
    const { stdout } = await run(['decode', fabric, '--json', '--topology', topology]);
    const withoutNames = stdout.replaceAll(
      /,"(?:nodeName|l1IngressName|l1EgressName)":"[^"]*"|,"pathNames":\[[^\]]*\]/g,
      '',
    );
    expect(withoutNames).toBe(plain.stdout);
    let found = 0;
    for (const line of ndjson(stdout) as { hops: HopLine[]; path: number[]; pathNames?: unknown[] }[]) {
      for (const hop of line.hops) {
        expect(hop.nodeName).toBe(NAMES[hop.nodeId]);
        expect(hop.l1IngressName).toBe(PORTS[`${hop.nodeId}:${hop.l1IngressInterface}`]);
        expect(hop.l1EgressName).toBe(PORTS[`${hop.nodeId}:${hop.l1EgressInterface}`]);
        if (hop.l1EgressName !== undefined) found++;
      }
      const names = line.path.map((id) => NAMES[id] ?? id);
      expect(line.pathNames).toEqual(names.some((name) => typeof name === 'string') ? names : undefined);
    }
    expect(found).toBeGreaterThan(10);
  });

  test('do not disturb int encode', async () => {
    const named = await run(['decode', fabric, '--raw', '--topology', topology]);
    const [plain, again] = await Promise.all([
      run(['decode', fabric, '--raw']),
      run(['encode'], { input: named.stdout }),
    ]);
    const back = await files.write('again.pcap', again.bytes);
    expect(again.stderr).toBe('');
    expect((await run(['decode', back, '--raw'])).stdout).toBe(plain.stdout);
  });

  test('stand in the text of records, events and flows', async () => {
    const decoded = (await run(['decode', fabric, '--topology', topology])).stdout;
    expect(decoded).toMatch(/path \S*leaf-1 > spine-1/);
    expect(decoded).toMatch(/^ {4}node leaf-1 .* out 9 \(to spine-1\)/m);
    expect(decoded).toMatch(/^ {4}node 3 /m);

    const rules = await files.write(
      'rules.yaml',
      'version: 1\nunits: { hopLatency: ns }\nrules:\n  - { name: slow, priority: 1, match: any, detect: { threshold: { metric: hopLatency, threshold: 1us } } }\n',
    );
    const detect = ['detect', fabric, '--rules', rules, '--topology', topology];
    const { stdout } = await run(detect);
    expect(stdout, stdout.slice(0, 400)).toMatch(/threshold hopLatency at switch leaf-1, hop/);
    const events = (await jsonOf([...detect, '--json'])).filter(({ type }) => type === 'event');
    expect(events.length).toBeGreaterThan(10);
    for (const { nodeId, nodeName } of events) expect(nodeName).toBe(NAMES[Number(nodeId)]);

    const flows = ['flows', fabric, '--topology', topology];
    const table = (await run([...flows, '--per-hop'])).stdout;
    expect(table).toMatch(/leaf-1 > \S+ > leaf-2/);
    expect(table).toMatch(/node leaf-1 /);
    const [flow] = (await jsonOf([...flows, '--json'])) as { hops: { nodeId: number; nodeName?: string }[] }[];
    expect(flow!.hops.length).toBeGreaterThan(0);
    for (const { nodeId, nodeName } of flow!.hops) expect(nodeName).toBe(NAMES[nodeId]);
  });

  test('stand in the live view, in the statistics and in the last table of int collect', async () => {
    const collect = ['collect', '--pcap', fabric, '--topology', topology];
    const stats = (await jsonOf([...collect, '--json'])).find(({ type }) => type === 'stats')!;
    const switches = stats.switches as { nodeId: number; nodeName?: string }[];
    expect(switches.length).toBe(6);
    for (const { nodeId, nodeName } of switches) expect(nodeName).toBe(NAMES[nodeId]);
    const text = await run(collect);
    expect(text.stdout).toMatch(/^ {4}leaf-1 /m);
    expect(text.stdout).toMatch(/^ {9}3 /m);
    const view = await run(collect, { terminal: { columns: 120, rows: 40 } });
    expect(view.stdout).toContain('leaf-1');
  });

  test('are tables of int query', async () => {
    const config = await files.write(
      'parquet.yaml',
      'version: 1\nsources: [{ pcap: { file: fabric.pcap } }]\ntopology: topology.yaml\nsinks: [{ parquet: { directory: names } }]\n',
    );
    expect((await run(['collect', '--config', config])).code).toBe(0);
    const sql = 'select distinct nodeId, nodeName from hops left join switches using (nodeId) order by nodeId';
    expect(await jsonOf(['query', sql, '--store', files.path('names'), '--topology', topology, '--json'])).toEqual(
      [1, 2, 3, 4, 5, 6].map((nodeId) => ({ nodeId, nodeName: NAMES[nodeId] ?? null })),
    );
    expect((await run(['query', sql, '--store', files.path('names')])).code).toBe(2);
  });

  test('are those of topology: in int.yaml, relative to it', async () => {
    const config = (path: string): string =>
      `version: 1\nsources: [{ pcap: { file: fabric.pcap } }]\ntopology: ${path}\n`;
    const path = await files.write('int.yaml', config('topology.yaml'));
    const stats = (await jsonOf(['collect', '--config', path, '--json'])).find(({ type }) => type === 'stats')!;
    expect(stats.switches).toContainEqual(expect.objectContaining({ nodeId: 1, nodeName: 'leaf-1' }));
    expect((await run(['collect', '--config', path, '--check'])).stdout).toContain('topology: names of topology.yaml');
    const missing = await files.write('other.yaml', config('nowhere.yaml'));
    const refused = await run(['collect', '--config', missing, '--check']);
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('nowhere.yaml: no such file')]);
  });

  test('come from GraphML, by switchId, by XML id, or by names that are numbers', async () => {
    const drawn = await files.write(
      'drawn.graphml',
      `<graphml><key id="k" for="node" attr.name="label"/><key id="n" for="node" attr.name="Switch_Id"/>
       <graph edgedefault="undirected">
         <node id="x"><data key="k">leaf-1</data><data key="n">1</data></node>
         <node id="2"><data key="k">leaf-2</data></node>
         <node id="y"><data key="k">s5</data></node>
         <node id="z"><data key="k">firewall</data></node>
         <edge source="x" target="y" sourceport="9" targetport="1"/><edge source="2" target="y"/>
       </graph></graphml>`,
    );
    const { stdout, stderr, code } = await run(['decode', fabric, '--json', '--topology', drawn]);
    expect(stderr).toBe(`int: ${drawn}: 1 of 4 nodes have no switch id and are left out: firewall\n`);
    expect(code).toBe(0);
    expect(stdout).toContain('"nodeId":1,"nodeName":"leaf-1"');
    expect(stdout).toContain('"nodeId":2,"nodeName":"leaf-2"');
    expect(stdout).toContain('"nodeId":5,"nodeName":"s5"');
    expect(stdout).toContain('"l1EgressInterface":9,"l1EgressName":"to s5"');
  });

  test('come from the JSON of int plan', async () => {
    const links = await files.write('links.txt', 's1 s5\ns2 s5\ns2 s6\ns1 s6\n');
    const plan = await files.write('plan.json', (await run(['plan', links, '--paths', '2', '--json'])).stdout);
    const { stdout, stderr } = await run(['decode', fabric, '--json', '--topology', plan]);
    expect(stderr).toBe('');
    expect(stdout).toContain('"nodeId":1,"nodeName":"s1"');
    const unnumbered = await files.write('unnumbered.json', '{"paths":[["a","b"]]}');
    const refused = await run(['decode', fabric, '--topology', unnumbered]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('none of its 2 nodes has a switch id');
  });

  test('of a file that is wrong are refused, each problem with its line and column', async () => {
    const wrong = await files.write(
      'wrong.yaml',
      'switches:\n  1: { name: a, ports: { 1: { to: nowhere:1 }, x: {} } }\n  2: { name: a }\n  3: { nome: b }\n',
    );
    const shape = await run(['decode', fabric, '--topology', wrong]);
    expect(shape.code).toBe(2);
    expect(shape.stderr).toBe(`${wrong}:4:8: no such key, 'nome': there are name, ports, links\n`);
    await files.write(
      'wrong.yaml',
      'switches:\n  1: { name: a, ports: { 1: { to: nowhere:1 }, x: {} } }\n  2: { name: a }\n',
    );
    const { stderr, code } = await run(['decode', fabric, '--topology', wrong]);
    expect(code).toBe(2);
    expect(stderr.split('\n')).toEqual([
      `${wrong}:2:35: "nowhere:1" is nothing that is named here: write SWITCH:PORT, or host NAME`,
      `${wrong}:2:48: "x" is no port number`,
      `${wrong}:3:14: two switches are called "a"`,
      '',
    ]);
    const xml = await files.write('wrong.graphml', '<graphml>\n<graph><node/></graph></graphml>');
    expect((await run(['decode', fabric, '--topology', xml])).stderr).toBe(`${xml}:2:1: a node without id\n`);
    expect((await run(['decode', fabric, '--topology', '-'])).code).toBe(2);
  });
});
