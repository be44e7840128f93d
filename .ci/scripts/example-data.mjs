// @ts-check
/**
 * Writes the generated files of examples/data: the capture, and the network that it comes from as GraphML and as YAML.
 * `npm run build` comes first. A folder as argument takes them instead.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = process.argv[2] ?? fileURLToPath(new URL('../../examples/data', import.meta.url));
const int = fileURLToPath(new URL('../../packages/cli/bin/int.js', import.meta.url));

/** Leaves are switches 1 to 4, spines 5 and 6; the ports of a leaf are 1 to 8 to hosts, then one to each spine. */
const LEAVES = 4;
const SPINES = 2;
const HOSTS = 8;

const spineName = (/** @type {number} */ spine) => `spine-${spine}`;
const leafName = (/** @type {number} */ leaf) => `leaf-${leaf}`;

/** @type {{ leaf: number, spine: number, leafPort: number, spinePort: number }[]} */
const links = [];
for (let leaf = 1; leaf <= LEAVES; leaf++) {
  for (let spine = 1; spine <= SPINES; spine++) links.push({ leaf, spine, leafPort: HOSTS + spine, spinePort: leaf });
}

function graphml() {
  const node = (/** @type {string} */ name, /** @type {number} */ id) =>
    `    <node id="${name}"><data key="id">${id}</data><data key="name">${name}</data></node>`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    '  <key id="id" for="node" attr.name="switchId" attr.type="int"/>',
    '  <key id="name" for="node" attr.name="label" attr.type="string"/>',
    '  <key id="from" for="edge" attr.name="sourceport" attr.type="int"/>',
    '  <key id="to" for="edge" attr.name="targetport" attr.type="int"/>',
    '  <graph edgedefault="undirected">',
    ...Array.from({ length: LEAVES }, (_, index) => node(leafName(index + 1), index + 1)),
    ...Array.from({ length: SPINES }, (_, index) => node(spineName(index + 1), LEAVES + index + 1)),
    ...links.map(
      ({ leaf, spine, leafPort, spinePort }) =>
        `    <edge source="${leafName(leaf)}" target="${spineName(spine)}"><data key="from">${leafPort}</data><data key="to">${spinePort}</data></edge>`,
    ),
    '  </graph>',
    '</graphml>',
    '',
  ].join('\n');
}

function yaml() {
  const lines = ['# The network of capture.pcap: names of switches and ports, links, hosts.', 'switches:'];
  for (let leaf = 1; leaf <= LEAVES; leaf++) {
    lines.push(`  ${leaf}:`, `    name: ${leafName(leaf)}`, '    ports:');
    for (let host = 1; host <= HOSTS; host++) lines.push(`      ${host}: { to: host rack-${leaf}, speed: 10G }`);
    for (const link of links.filter((one) => one.leaf === leaf)) {
      lines.push(`      ${link.leafPort}: { to: "${spineName(link.spine)}:${link.spinePort}", speed: 10G }`);
    }
  }
  for (let spine = 1; spine <= SPINES; spine++) {
    lines.push(`  ${LEAVES + spine}:`, `    name: ${spineName(spine)}`, '    ports:');
    for (const link of links.filter((one) => one.spine === spine)) {
      lines.push(`      ${link.spinePort}: { to: "${leafName(link.leaf)}:${link.leafPort}", speed: 10G }`);
    }
  }
  lines.push('hosts:');
  for (let leaf = 1; leaf <= LEAVES; leaf++)
    lines.push(`  rack-${leaf}: { addresses: [10.${leaf}.0.0/16], level: ${leaf} }`);
  return `${lines.join('\n')}\n`;
}

mkdirSync(folder, { recursive: true });
execFileSync(
  process.execPath,
  [
    ...[int, 'generate', '--topology', `leaf-spine:${LEAVES}x${SPINES}`, '--packets', '300', '--seed', '7'],
    ...['-o', join(folder, 'capture.pcap')],
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
);
writeFileSync(join(folder, 'topology.graphml'), graphml());
writeFileSync(join(folder, 'topology.yaml'), yaml());
