/** The files of `int control` for the fabric. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programPath } from '@int/p4';
import { HOSTS, LEAVES, SWITCHES } from './fabric.js';

export interface Addresses {
  /** Port of the P4Runtime server on 127.0.0.1. */
  readonly control: number;
  /** Port on 127.0.0.1 for telemetry reports. */
  readonly telemetry: number;
  /** Port of the dashboard. */
  readonly dashboard: number;
}

/** What is short in a demonstration: so one sees things expire. */
export interface Times {
  readonly ttl: string;
  readonly settle: string;
}

function topologyText(): string {
  const lines = ['switches:'];
  for (const leaf of LEAVES) {
    lines.push(`  ${leaf}:`, `    name: leaf${leaf}`, '    ports:');
    for (const spine of [1, 2]) lines.push(`      ${spine}: { to: 'spine${spine}:${leaf}', speed: 10M }`);
    for (const [name, host] of Object.entries(HOSTS)) {
      const isHere = name === 'collector' || host.leaf === leaf;
      if (isHere) lines.push(`      ${host.port}: { to: host ${name}, speed: 100M }`);
    }
  }
  for (const spine of [1, 2]) {
    const ports = LEAVES.map((leaf) => `${leaf}: { to: 'leaf${leaf}:${spine}', speed: 10M }`);
    lines.push(`  ${100 + spine}: { name: spine${spine}, ports: { ${ports.join(', ')} } }`);
  }
  lines.push('hosts:');
  for (const [name, { addresses }] of Object.entries(HOSTS)) {
    const level = name === 'web' ? ', level: 3' : '';
    lines.push(`  ${name}: { addresses: [${addresses.join(', ')}]${level} }`);
  }
  return `${lines.join('\n')}\n`;
}

function controlText({ control, telemetry, dashboard }: Addresses, { ttl, settle }: Times): string {
  const switches = SWITCHES.map(
    ({ name }, index) => `  ${name}: { target: '127.0.0.1:${control}', deviceId: ${index + 1} }`,
  );
  return `version: 1
sources: [{ udp: { listen: '127.0.0.1:${telemetry}' } }]
topology: topology.yaml
program: ${JSON.stringify(programPath('int'))}
switches:
${switches.join('\n')}
collector: { address: ${HOSTS.collector.addresses[0]} }
device: { units: { timestamps: us, hopLatency: us, queueOccupancy: packets } }
learn: 5s
autonomy: { avoid: act, path: act, block: act, limit: act, watch: observe }
limits: { within: 60s, all: 10, block: 4, path: 4 }
rehearse: required
settle: ${settle}
ttl: { avoid: ${ttl}, path: ${ttl}, block: ${ttl}, limit: ${ttl} }
backOff: { first: 10s }
reportOneIn: 10
journal: journal
dashboard: { listen: '127.0.0.1:${dashboard}' }
intents:
  - { id: everything, kind: watch, match: {}, reason: what is not seen cannot be acted on }
  - { id: no-hot-links, kind: keep, below: 0.8 }
  - { id: shop, kind: protect, destination: 10.0.2.1, level: 3, reason: it earns our money }
`;
}

/** Writes topology.yaml and control.yaml into a folder. @returns the path of the latter */
export function writeFiles(folder: string, addresses: Addresses, times: Times): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'topology.yaml'), topologyText());
  const path = join(folder, 'control.yaml');
  writeFileSync(path, controlText(addresses, times));
  return path;
}
