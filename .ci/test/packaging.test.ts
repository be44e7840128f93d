import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repository } from '../scripts/workspaces.mjs';
import { limit, requires } from './requires.js';
import { readUnit } from './unit-file.js';

const packaging = join(repository, 'packaging');
const UNIT = 'int-collect.service';
const DROP_INS = `${UNIT}.d`;
const CONFIG = '/etc/int/int.yaml';
const STATE = '/var/lib/int';
/** The built command, behind the file that npm links. */
const bin = join(repository, 'packages', 'cli', 'bin', 'int.js');
/** The highest exposure of `systemd-analyze security`, of 10: of the unit alone, and with all drop-ins. */
const MOST_EXPOSED = { alone: 1.5, withDropIns: 2.5 } as const;

const DECODED = /"type":"stats".*"decoded":[1-9]/;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'int-packaging-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const unit = readUnit(join(packaging, UNIT));

/** The arguments behind `int` of one of the unit's commands, with another configuration. */
function argumentsOf(key: 'ExecStart' | 'ExecStartPre', config: string): string[] {
  const [line, ...more] = unit.get(key) ?? [];
  expect(more, key).toEqual([]);
  const [command, ...args] = (line ?? '').split(' ');
  expect(command, key).toBe('int');
  expect(args, key).toContain(CONFIG);
  return args.map((word) => (word === CONFIG ? config : word));
}

describe('the commands of the unit', () => {
  it('look at the configuration that comes with it, and find nothing wrong', () => {
    const args = argumentsOf('ExecStartPre', join(packaging, 'int.yaml'));
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('0.0.0.0:32766');
    expect(stdout).toContain(`${STATE}/history`);
  });

  it('end a start with a wrong configuration by the code after which the unit does not try again', () => {
    const config = join(folder, 'wrong.yaml');
    writeFileSync(config, 'version: 1\nsources: nowhere\n');
    const { status } = spawnSync(process.execPath, [bin, ...argumentsOf('ExecStartPre', config)]);
    expect(unit.get('RestartPreventExitStatus')).toEqual([String(status)]);
    expect(status).toBe(2);
  });

  it('reload it after a look at it, by the signal at which the command reads it again', () => {
    const [check, hangup] = unit.get('ExecReload') ?? [];
    expect(check).toBe(unit.get('ExecStartPre')?.[0]);
    expect(hangup).toBe('/bin/kill -HUP $MAINPID');
  });

  it('collect, and at SIGTERM write what they have, within the time that the unit gives them', async () => {
    const config = join(folder, 'int.yaml');
    const text = readFileSync(join(packaging, 'int.yaml'), 'utf8')
      .replace('0.0.0.0:32766', '127.0.0.1:0')
      .replace('127.0.0.1:9464', '127.0.0.1:0')
      .replaceAll(STATE, folder);
    writeFileSync(config, text);
    const child = spawn(process.execPath, [bin, ...argumentsOf('ExecStart', config), '--json'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // Longer than any machine takes to start and to stop it: what it has said until then is in the message.
    const late = setTimeout(() => child.kill('SIGKILL'), 120_000);
    let words = '';
    let lines = '';
    let generator: ChildProcess | null = null;
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      words += chunk;
      const [to] = /udp:\/\/127\.0\.0\.1:\d+/.exec(words) ?? [];
      if (to === undefined || generator !== null) return;
      generator = spawn(process.execPath, [bin, 'generate', '--packets', '100', '--to', to], { stdio: 'ignore' });
    });
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const hadReports = DECODED.test(lines);
      lines += chunk;
      // Once: a second signal ends it at once.
      if (!hadReports && DECODED.test(lines)) child.kill('SIGTERM');
    });
    const [code] = (await once(child, 'close')) as [number | null];
    clearTimeout(late);
    expect(code, words + lines).toBe(0);
    expect(JSON.parse(lines.trimEnd().split('\n').at(-1)!)).toMatchObject({ type: 'total' });
    expect(readdirSync(join(folder, 'history'))).not.toEqual([]);

    const { drain } = /^drain: (?<drain>\d+)s$/m.exec(text)?.groups ?? {};
    const [timeout] = /^\d+(?=s$)/.exec(unit.get('TimeoutStopSec')?.[0] ?? '') ?? [];
    expect(Number(timeout)).toBeGreaterThan(Number(drain));
  });
});

describe('systemd', () => {
  /** A copy of the unit whose command exists, with the drop-ins named. */
  function installed(name: string, dropIns: readonly string[]): string {
    const target = join(folder, name);
    cpSync(join(packaging, UNIT), join(target, UNIT));
    for (const file of dropIns) cpSync(join(packaging, DROP_INS, file), join(target, DROP_INS, file));
    const command = join(folder, 'int');
    writeFileSync(command, '#!/bin/sh\n');
    chmodSync(command, 0o755);
    const path = join(target, UNIT);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/^(Exec\w+)=int /gm, `$1=${command} `));
    return path;
  }

  const analyze = (...args: readonly string[]): { status: number | null; output: string } => {
    const { status, stdout, stderr } = spawnSync(requires('systemd-analyze', 'npm run setup:system'), args, {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C', SYSTEMD_PAGER: '' },
    });
    return { status, output: stdout + stderr };
  };

  const all = readdirSync(join(packaging, DROP_INS)).sort();
  const forms = [
    ['alone', 'alone', []],
    ['with its drop-ins', 'withDropIns', all],
  ] as const;

  it.each(forms)('understands the unit %s', (_form, name, dropIns) => {
    const path = installed(`verify-${name}`, dropIns);
    expect(analyze('verify', path)).toEqual({ status: 0, output: '' });
    // A mistake in the last file is one that it tells.
    const last = dropIns.length === 0 ? path : join(folder, `verify-${name}`, DROP_INS, dropIns.at(-1)!);
    writeFileSync(last, `${readFileSync(last, 'utf8')}\n[Service]\nProtectSytem=strict\n`);
    expect(analyze('verify', path).output).toContain('ProtectSytem');
  });

  it.each(forms)('finds the unit %s no more exposed than is said', (_form, name, dropIns) => {
    const path = installed(`security-${name}`, dropIns);
    if (!analyze('security', '--help').output.includes('--offline')) {
      limit('systemd-analyze security looks at files (--offline) from version 250 on');
    }
    const threshold = Math.round(10 * MOST_EXPOSED[name]);
    const { status, output } = analyze('security', '--offline=true', `--threshold=${threshold}`, path);
    expect(status, output).toBe(0);
    // Without one group of its protections it is above that.
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/^Protect.*\n/gm, ''));
    expect(analyze('security', '--offline=true', `--threshold=${threshold}`, path).status).not.toBe(0);
  });
});
