/** `int p4 fabric` with hosts in network namespaces: their own ping and TCP, over two switches and a slow link. */
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { makeAddon } from '../../../.ci/test/native.js';
import { limit, requires } from '../../../.ci/test/requires.js';
import { uniqueName } from '../../../.ci/test/veth-pair.js';
import { WiredNetwork } from '../../../.ci/test/wired-network.js';
import { BIN, temporaryFolder } from './run.js';
import { Started } from './started.js';

const files = temporaryFolder();
const PROGRAM = fileURLToPath(new URL('../../../p4/int.p4', import.meta.url));
const HOSTS = fileURLToPath(new URL('p4-serve-hosts.mjs', import.meta.url));

const exists = (namespace: string): boolean =>
  spawnSync('ip', ['netns', 'list'], { encoding: 'utf8', timeout: 30_000 }).stdout.includes(namespace);

test('hosts in namespaces reach each other, and are gone with the command', { timeout: 120_000 }, async () => {
  requires('cc', 'npm run setup:system');
  requires('ping', 'npm run setup:system');
  const network = WiredNetwork.make(['s']);
  const [h1, h2] = [uniqueName('h1'), uniqueName('h2')];
  onTestFinished(() => {
    for (const name of [h1, h2]) if (exists(name)) spawnSync('ip', ['netns', 'delete', name], { timeout: 30_000 });
  });
  const routes = 'IntIngress.forward_ipv4 IntIngress.forward';
  await files.write('s1.txt', `table_add ${routes} 10.0.1.0/24 => 1\ntable_add ${routes} 10.0.2.0/24 => 2\n`);
  await files.write('s2.txt', `table_add ${routes} 10.0.1.0/24 => 1\ntable_add ${routes} 10.0.2.0/24 => 2\n`);
  const fabric = await files.write(
    'fabric.yaml',
    `version: 1
switches:
  s1: { program: ${PROGRAM}, commands: s1.txt }
  s2: { program: ${PROGRAM}, commands: s2.txt }
links:
  - { ends: ['s1:2', 's2:1'], rate: 50M, delay: 5ms, queue: 256 }
hosts:
  h1: { at: 's1:1', address: 10.0.1.1/16, namespace: ${h1} }
  h2: { at: 's2:2', address: 10.0.2.1/16, namespace: ${h2} }
`,
  );
  const env = { INT_AFXDP_ADDON: join(makeAddon('addon'), 'prebuilds', `linux-${process.arch}`, 'afxdp.node') };
  // Not by `ip netns exec`: namespaces that the command makes would be seen by itself alone.
  const inside = [requires('nsenter', 'npm run setup:system'), `--net=/run/netns/${network.namespace('s')}`];
  const command = new Started([...inside, process.execPath, BIN, 'p4', 'fabric', fabric, '--json'], env);
  try {
    await command.says('2 switches, 1 link, 2 hosts: forwarding');
  } catch (error) {
    if (/not permitted|denied/i.test(command.stderr)) limit(`namespaces cannot be made there: ${command.stderr}`);
    throw error;
  }
  const at = (name: string, ...line: string[]): string[] => ['ip', 'netns', 'exec', name, ...line];
  const ping = new Started(at(h1, 'ping', '-c', '4', '-i', '0.1', '-w', '25', '10.0.2.1'));
  expect(await ping.ended(), ping.stdout).toBe(0);
  const [, least] = /= ([\d.]+)\//.exec(ping.stdout)!;
  // Twice the delay of the link.
  expect(Number(least)).toBeGreaterThan(9.9);

  const bytes = randomBytes(200_000);
  const server = new Started(
    at(h1, process.execPath, HOSTS, 'serve', '10.0.1.1', '8080', await files.write('file', bytes)),
  );
  await server.says('ready');
  const client = new Started(at(h2, process.execPath, HOSTS, 'fetch', '10.0.1.1', '8080'));
  expect(await client.ended()).toBe(0);
  expect(client.stdout.trim()).toBe(createHash('sha256').update(bytes).digest('hex'));

  expect(await command.interrupt(), command.stderr).toBe(0);
  for (const total of command.lines('total')) {
    expect(total).toMatchObject({ waiting: 0, dropped: { noPort: 0, queueFull: 0, fault: 0 } });
  }
  for (const name of [h1, h2]) expect(exists(name)).toBe(false);
});

test('what a killed run has left is removed by the next one, and nothing else', { timeout: 120_000 }, async () => {
  requires('cc', 'npm run setup:system');
  const network = WiredNetwork.make(['s']);
  const inside = [requires('nsenter', 'npm run setup:system'), `--net=/run/netns/${network.namespace('s')}`];
  const names = ['gone', 'kept', 'other', 'next'].map((name) => uniqueName(name));
  const [gone, kept, other, next] = names as [string, string, string, string];
  onTestFinished(() => {
    for (const name of names) if (exists(name)) spawnSync('ip', ['netns', 'delete', name], { timeout: 30_000 });
  });
  const env = { INT_AFXDP_ADDON: join(makeAddon('addon'), 'prebuilds', `linux-${process.arch}`, 'afxdp.node') };
  const fabricOf = (host: string, ...namespaces: string[]): Promise<string> =>
    files.write(
      `${host}.yaml`,
      `version: 1
switches:
  s1: { program: ${PROGRAM} }
hosts:
${namespaces.map((name, i) => `  ${host}${i}: { at: 's1:${i + 1}', address: 10.0.${i}.1/16, namespace: ${name} }`).join('\n')}
`,
    );
  const start = (fabric: string): Started =>
    new Started([...inside, process.execPath, BIN, 'p4', 'fabric', fabric, '--json'], env);

  const killed = start(await fabricOf('a', gone));
  try {
    await killed.says('forwarding');
  } catch (error) {
    if (/not permitted|denied/i.test(killed.stderr)) limit(`namespaces cannot be made there: ${killed.stderr}`);
    throw error;
  }
  const running = start(await fabricOf('b', kept));
  await running.says('forwarding');
  await killed.kill();
  expect(exists(gone)).toBe(true);
  // A namespace that says it is that of a process which has gone, but under another name: somebody's copy, or a trick.
  spawnSync('ip', ['netns', 'add', other], { timeout: 30_000 });
  const processes = readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  const mark = `int-p4-fabric:4194303:1:${processes}:${gone}`;
  spawnSync('ip', ['-n', other, 'link', 'set', 'lo', 'alias', mark], { timeout: 30_000 });

  const again = start(await fabricOf('c', next));
  await again.says('forwarding');
  expect(again.stderr).toContain(`removed namespace ${gone}`);
  expect(names.map(exists)).toEqual([false, true, true, true]);
  expect(await again.interrupt()).toBe(0);

  // One that is there already, and is nobody's or somebody else's, is an error.
  for (const name of [other, kept]) {
    const refused = start(await fabricOf('d', name));
    expect(await refused.ended()).not.toBe(0);
    expect(refused.stderr).toContain('File exists');
  }
  expect(names.map(exists)).toEqual([false, true, true, false]);
  expect(await running.interrupt()).toBe(0);
  expect(names.map(exists)).toEqual([false, false, true, false]);
});
