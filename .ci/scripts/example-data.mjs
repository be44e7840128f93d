// @ts-check
/**
 * Writes the generated files of examples/data: the capture, the network that it comes from as GraphML and as YAML, and packets for
 * the switches of fabric.yaml.
 * `npm run build` comes first. A folder as argument takes them instead.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PcapWriter } from '@int/pcap';

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

/** The sum of 16-bit words as IPv4 has it. */
function checksum(/** @type {Buffer} */ header) {
  let sum = 0;
  for (let at = 0; at < header.length; at += 2) sum += header.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

/** A packet of a host of 10.0.1.0/24 to one of 10.0.2.0/24, in an Ethernet frame. */
function packet(/** @type {number} */ flow, /** @type {number} */ number) {
  const frame = Buffer.alloc(14 + 20 + 8 + 64);
  frame.write('0200000000030200000000010800', 'hex');
  const ip = frame.subarray(14, 34);
  ip.set([0x45, 0, 0, 20 + 8 + 64, number >> 8, number & 255, 0, 0, 64, 17, 0, 0, 10, 0, 1, 1 + flow, 10, 0, 2, 1]);
  ip.writeUInt16BE(checksum(ip), 10);
  // No checksum of UDP: IPv4 does without.
  frame.writeUInt16BE(40_000 + flow, 34);
  frame.writeUInt16BE(9000, 36);
  frame.writeUInt16BE(8 + 64, 38);
  frame.fill(number & 255, 42);
  return frame;
}

/** 200 packets of 4 flows, one each 5 ms. */
function packets() {
  const writer = new PcapWriter();
  const records = Array.from({ length: 200 }, (_, number) => {
    const timeNs = 1_700_000_000_000_000_000n + BigInt(number) * 5_000_000n;
    return writer.record({ data: packet(number % 4, number), timeNs });
  });
  return Buffer.concat([writer.header(), ...records]);
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
writeFileSync(join(folder, 'packets.pcap'), packets());
