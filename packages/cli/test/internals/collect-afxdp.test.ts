import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InvalidArgumentError } from 'commander';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { freeUdpPort } from '../../../../.ci/test/ports.mjs';
import { inTime } from '../../../../.ci/test/until.js';
import { interfaceQueues } from '../../src/input/interface-queues.js';
import { reportFrame } from '../captures.js';
import { payload, send } from '../datagrams.js';
import { ndjson, run, temporaryFolder } from '../run.js';

const files = temporaryFolder();
const RULES = 'version: 1\nrules:\n  - { name: all, priority: 1, match: any, detect: { noop: {} } }\n';
/** With this, AF_XDP can be used nowhere. */
const NO_ADDON = { INT_AFXDP_ADDON: '/nowhere/afxdp.node' };

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('an interface and its queues', () => {
  test.each([
    ['eth0', 'eth0', 'all'],
    ['eth0:all', 'eth0', 'all'],
    ['eth0:0', 'eth0', [0]],
    ['enp3s0f1np1:0-3', 'enp3s0f1np1', [0, 1, 2, 3]],
    ['eth0.100:7,1-2,2', 'eth0.100', [1, 2, 7]],
  ])('are read from %s', (text, name, queues) => {
    expect(interfaceQueues(text)).toEqual({ interface: name, queues });
  });

  test.each(['', ':0', 'eth0:', 'eth0:3-1', 'eth0:-1', 'eth0:x', 'eth0:4096', 'a/b', 'eth0:0:1', 'sixteenbytesname'])(
    'are not read from "%s"',
    (text) => {
      expect(() => interfaceQueues(text)).toThrow(InvalidArgumentError);
    },
  );
});

describe('int collect --afxdp', () => {
  test.each([
    [['--afxdp', 'eth0:x'], /queues behind the colon/],
    [['--afxdp', 'eth0', '--listen', 'udp://127.0.0.1:0'], /cannot be used with/],
    [['--afxdp', 'eth0', '--afxdp-mode', 'fast'], /auto, driver, generic/],
    [['--listen', 'udp://127.0.0.1:0', '--afxdp-mode', 'driver'], /--afxdp-mode goes with --afxdp/],
    [['--afxdp', 'eth0', '--prefilter'], /--prefilter goes with --afxdp IFACE and --rules FILE/],
    [['--listen', 'udp://127.0.0.1:0', '--prefilter', '--rules', 'x.yaml'], /--prefilter goes with --afxdp/],
    [['--afxdp', 'eth0', '--prefilter', '--rules', 'x.yaml', '--profile', 'intmon'], /leave out --profile/],
  ])('refuses %j', async (args, reason) => {
    const { code, stdout, stderr } = await run(['collect', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(reason);
  });

  test.each([
    ['', []],
    ['with a pre-filter ', ['--prefilter']],
  ])('%swithout the addon says in one line what is missing, and receives by UDP', async (_which, more) => {
    for (const [name, value] of Object.entries(NO_ADDON)) vi.stubEnv(name, value);
    // The addon is loaded once for a process: what the command loads has not seen it yet.
    vi.resetModules();
    const port = await freeUdpPort();
    const rules = await files.write('all.yaml', RULES);
    const args = ['collect', '--afxdp', 'lo', '--report-port', String(port), '--rules', rules, '--json', ...more];
    let sent: Promise<void> | null = null;
    const { code, stdout, stderr } = await run(args, {
      interruptWhen: ({ stdout: text, stderr: words }) => {
        if (words.includes('listening on')) sent ??= send(port, [payload(reportFrame()), payload(reportFrame())]);
        return text.split('"type":"event"').length > 2;
      },
    });
    await sent;
    expect(code).toBe(0);
    const [first, second, ...rest] = stderr.trimEnd().split('\n');
    expect(rest).toEqual([]);
    const reason =
      process.platform === 'linux' ? 'the addon /nowhere/afxdp.node does not exist' : 'AF_XDP is a part of Linux';
    expect(first).toContain(`int: no AF_XDP on lo: ${reason}`);
    expect(first!.endsWith(` Receiving by UDP on port ${port}.`)).toBe(true);
    expect(second).toMatch(new RegExp(`^int: listening on udp://0\\.0\\.0\\.0:${port}, receive buffer`));
    expect(ndjson(stdout).at(-1)).toMatchObject({ type: 'total', received: 2, decoded: 2 });
    expect(ndjson(stdout).at(-1)).not.toHaveProperty('filtered');
    expect(ndjson(stdout).filter(({ type }) => type === 'event')).toHaveLength(2);
  });

  test('where the package is not installed says how to install it, and receives by UDP', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'int-alone-'));
    try {
      // The built command with all that it depends on but the optional package.
      const here = fileURLToPath(new URL('../..', import.meta.url));
      const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
      for (const name of ['bin', 'dist', 'package.json'])
        cpSync(join(here, name), join(folder, name), { recursive: true });
      mkdirSync(join(folder, 'node_modules', '@int'), { recursive: true });
      for (const name of ['commander', '@duckdb']) {
        // Beside the package, if another version has the common place.
        const own = join(here, 'node_modules', name);
        symlinkSync(existsSync(own) ? own : join(modules, name), join(folder, 'node_modules', name));
      }
      for (const name of readdirSync(join(modules, '@int'))) {
        if (name !== 'afxdp') symlinkSync(join(modules, '@int', name), join(folder, 'node_modules', '@int', name));
      }
      const port = await freeUdpPort();
      const args = ['collect', '--afxdp', 'lo', '--report-port', String(port)];
      const child = spawn(process.execPath, [join(folder, 'bin', 'int.js'), ...args]);
      let words = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        words += text;
        if (words.includes('listening on')) child.kill('SIGINT');
      });
      const [code] = (await inTime('the end of int collect', once(child, 'close'), {
        found: () => words,
        inVain: () => child.kill('SIGKILL'),
      })) as [number];
      expect(words).toMatch(
        /^int: no AF_XDP on lo: the package @int\/afxdp is not installed\. Install it with `npm install @int\/afxdp`\. Receiving by UDP on port \d+\.\nint: listening on udp:\/\/0\.0\.0\.0:\d+, .*\n$/,
      );
      expect(code).toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
